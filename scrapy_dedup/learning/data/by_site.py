"""Observations, site by site: sites whose URLs are nested in those of others come first, so that their rules are known there.

Source: url-parameter-relevance, the passage on query parameters that are URLs.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from urllib.parse import unquote

from ...content.sketch import Sketch
from ...observation import Observation
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


Progress = Callable[[str, int, int], None]
"""Takes the current activity, the number of steps done, and of all steps."""

MAX_SKETCHES = 200
"""Pages per site that are looked at for those that are nearly alike."""


def observations_by_site(
    observations: Iterable[Observation],
    site_groups: Mapping[str, Sequence[str]] | None,
    progress: Progress | None,
) -> tuple[dict[str, list[Observation]], dict[str, dict[str, Sketch]]]:
    """Return the observations of each site, and of some pages of each the sketch by a URL in normal form.

    Sketches are by far the largest part of observations: those of the first pages are kept.
    """
    by_site: dict[str, list[Observation]] = {}
    sketches: dict[str, dict[str, Sketch]] = {}
    known: dict[str, set[str]] = {}
    for number, observation in enumerate(observations):
        if progress and number % 1000 == 0:
            progress("reading observations", number, 0)
        site = site_of_url(observation.url, groups=site_groups)
        if not site:
            continue
        if observation.sketch is not None:
            pages, bags = sketches.setdefault(site, {}), known.setdefault(site, set())
            if len(pages) < MAX_SKETCHES and observation.sketch.bag not in bags:
                bags.add(observation.sketch.bag)
                pages[normal_form(observation.url)] = observation.sketch
            observation = replace(observation, sketch=None)
        by_site.setdefault(site, []).append(observation)
    for seen in by_site.values():  # as a store yields them, in whatever order the responses came
        seen.sort(key=lambda each: (signed_hash(each.url), each.url, each.time or 0.0))
    return by_site, sketches
