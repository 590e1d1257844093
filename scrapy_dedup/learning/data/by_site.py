"""Observations, site by site: sites whose URLs are nested in those of others come first, so that their rules are known there.

Source: url-parameter-relevance, the passage on query parameters that are URLs.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from urllib.parse import unquote

from ...observation import Observation
from ...pages.sketch import Sketch
from ...store.schema import signed_hash
from ...urls import GroupsLike, normal_form, site_of_url

_inner = re.compile(r"=(https?(?::|%3a)(?:/|%2f){2}(?:(?!%2f|%3f)[^/?&;#])*)", re.IGNORECASE).findall
"""Finds the beginnings, with the host, of values that are URLs."""


def inner_sites(urls: Iterable[str], site: str, site_groups: GroupsLike = None) -> frozenset[str]:
    """Return the sites, other than *site*, of the URLs that parameters of *urls* have as values.

    >>> sorted(inner_sites(["http://a.com/?url=http%3A%2F%2Fb.com%2F", "http://a.com/?id=1"], "a.com"))
    ['b.com']
    """
    # Of a URL itself "http" is the beginning: most URLs need no further look.
    beginnings = {found for url in urls if url.find("http", 8) > 0 for found in _inner(url)}
    return frozenset(site_of_url(unquote(found), groups=site_groups) for found in beginnings) - {site, ""}


def innermost_first(nested: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Return the sites, each after those whose URLs are nested in its own; of a circle, as the names have it.

    >>> innermost_first({"a.com": {"c.com", "z.com"}, "b.com": set(), "c.com": {"a.com", "b.com"}})
    ['b.com', 'c.com', 'a.com']
    """
    order: dict[str, None] = {}
    seen: set[str] = set()
    for site in sorted(nested):
        # Depth first, without recursion: chains of sites may be long.
        stack = [(site, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order[name] = None
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(other, False) for other in sorted(nested[name], reverse=True) if other in nested]
    return list(order)


def learned_again(nested: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Return the sites that are learned twice: in the order of *nested* they come before one whose URLs are nested in theirs.

    >>> learned_again({"b.com": {"a.com"}, "a.com": {"b.com"}, "c.com": {"a.com"}})
    ['b.com']
    """
    number = {site: place for place, site in enumerate(nested)}
    late = {site for site, inner in nested.items() if any(number.get(other, -1) > number[site] for other in inner)}
    return [site for site in innermost_first(nested) if site in late]


def rounds_of(order: Sequence[str], nested: Mapping[str, AbstractSet[str]]) -> list[list[str]]:
    """Return the sites of *order* in rounds: those of a round have no URLs of each other nested in their own.

    Learned round by round, they are given the same rules of others as one by one.

    >>> rounds_of(["b.com", "c.com", "a.com"], {"a.com": {"b.com"}, "b.com": set(), "c.com": set()})
    [['b.com', 'c.com'], ['a.com']]
    """
    around: dict[str, set[str]] = {site: set() for site in order}
    for site in order:
        for other in nested[site] & around.keys():
            around[site].add(other)
            around[other].add(site)
    number: dict[str, int] = {}
    rounds: list[list[str]] = []
    for site in order:
        number[site] = 1 + max((number.get(other, -1) for other in around[site]), default=-1)
        if number[site] == len(rounds):
            rounds.append([])
        rounds[number[site]].append(site)
    return rounds


MAX_SKETCHES = 200
"""Pages per site that are looked at for those that are nearly alike."""


def observations_by_site(
    observations: Iterable[Observation], site_groups: Mapping[str, Sequence[str]] | None
) -> tuple[dict[str, list[Observation]], dict[str, dict[str, Sketch]]]:
    """Return the observations of each site, and of some pages of each the sketch by a URL in normal form.

    Sketches are by far the largest part of observations without versions: of these, those of the first pages are kept.
    """
    by_site: dict[str, list[Observation]] = {}
    sketches: dict[str, dict[str, Sketch]] = {}
    known: dict[str, set[str]] = {}
    for observation in observations:
        site = site_of_url(observation.url, groups=site_groups)
        if not site:
            continue
        if observation.sketch is not None:
            pages, bags = sketches.setdefault(site, {}), known.setdefault(site, set())
            if len(pages) < MAX_SKETCHES and observation.sketch.bag not in bags:
                bags.add(observation.sketch.bag)
                pages[normal_form(observation.url)] = observation.sketch
            if observation.version is None:
                observation = replace(observation, sketch=None)
        by_site.setdefault(site, []).append(observation)
    for seen in by_site.values():  # as a store yields them, in whatever order the responses came
        seen.sort(key=lambda each: (signed_hash(each.url), each.url, each.time or 0.0))
    return by_site, sketches
