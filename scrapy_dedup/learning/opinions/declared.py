"""What a site declares of its URLs: opinions on its parameters, which never prove.

Two kinds. ``No-Vary-Search`` headers and the ``Clean-param`` lines of a robots.txt are about parameters
and name them. rel=canonical and redirects are about single URLs, and merge too much on many sites
(every page of a list is canonically its first one): they are opinions on the parameters that they leave out or repeat.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from ...observation import Observation
from ...rules.exchange import CLEAN_PARAM, CleanParam, clean_params, search_variance
from ...rules.model import query_key
from ...rules.predicates import normal_key
from ...urls import GroupsLike, normal_form, normal_parts, site_of_url
from ..methods.entropy import Relevance
from .belief import Opinion, Source, opinions_of_pairs

NO_VARY_SEARCH = "no-vary-search"
MAX_CLEAN_PARAMS = 1_000
"""Clean-param lines of a site that are read."""
MAX_PAIRS = 2_000
"""Pairs of a URL and its declared one that are looked at for what they say of parameters."""


@dataclass(frozen=True, slots=True)
class Declarations:
    """What a site declares; URLs are in normal form."""

    headers: Mapping[str, str] = field(default_factory=dict)
    """The No-Vary-Search header of each URL."""
    clean_params: tuple[tuple[str, CleanParam], ...] = ()
    """(host, rule) of the robots.txt files of the site's hosts, "" for any host."""
    canonical: tuple[tuple[str, str], ...] = ()
    """(URL, canonical URL) of the same site; a page that is its own canonical one says what is kept."""
    redirects: tuple[tuple[str, str], ...] = ()
    """(URL, where it leads) of the same site."""

    def __bool__(self) -> bool:
        """Whether anything is declared."""
        return bool(self.headers or self.clean_params or self.canonical or self.redirects)

    @classmethod
    def of(
        cls,
        observations: Iterable[Observation],
        robots: Sequence[str] = (),
        site_groups: GroupsLike = None,
    ) -> "Declarations":
        """Return what the observations of one site declare, and the lines of a *robots*.txt of all its hosts.

        Among the observations are the robots.txt files that were recorded.
        """
        headers: dict[str, str] = {}
        canonical: dict[str, str] = {}
        redirects: dict[str, str] = {}
        stated = [("", rule) for rule in clean_params(robots)]
        for seen in observations:
            if seen.headers and CLEAN_PARAM in seen.headers:
                host = _host(normal_form(seen.url))
                stated += [(host, rule) for rule in clean_params(seen.headers[CLEAN_PARAM].splitlines())]
                continue
            header = (seen.headers or {}).get(NO_VARY_SEARCH)
            if not (header or seen.canonical or seen.redirect):
                continue
            url = normal_form(seen.url)
            if header:
                headers[url] = header
            for target, pairs in ((seen.canonical, canonical), (seen.redirect, redirects)):
                if target and site_of_url(target, groups=site_groups) == site_of_url(url, groups=site_groups) != "":
                    pairs[url] = normal_form(target)
        return cls(headers, tuple(stated[:MAX_CLEAN_PARAMS]), tuple(canonical.items()), tuple(redirects.items()))


def linked_opinions(declarations: Declarations, site_groups: GroupsLike = None) -> dict[str, tuple[Opinion, ...]]:
    """Return what the declared URLs of some single URLs say of the query parameters of the site."""
    pairs = [
        (url, target, source)
        for source, of_source in (
            (Source.CANONICAL, declarations.canonical),
            (Source.REDIRECT, declarations.redirects),
        )
        for url, target in of_source[:: len(of_source) // MAX_PAIRS + 1]
    ]
    return opinions_of_pairs(pairs, site_groups=site_groups)


def stated_opinions(declarations: Declarations, key: str, urls: Sequence[str]) -> tuple[Opinion, ...]:
    """Return what headers and Clean-param lines say of a parameter, where they are about most of some URLs.

    *urls* are in normal form.
    """
    headers = [_named(declarations.headers[url]) for url in urls if url in declarations.headers]
    named = [header for header in headers if header is not None]
    rules = [(host, rule) for host, rule in declarations.clean_params if key in _keys(rule.names)]
    saying = (
        (Source.NO_VARY_SEARCH, Relevance.IGNORE, sum((key in one.keys) != one.all_but for one in named)),
        (Source.NO_VARY_SEARCH, Relevance.ACCEPT, sum(key in one.keys and one.all_but for one in named)),
        (
            Source.CLEAN_PARAM,
            Relevance.IGNORE,
            sum(_are_covered(rules, _host(url), normal_parts(url)[1]) for url in urls) if rules else 0,
        ),
    )
    return tuple([Opinion(source, relevance) for source, relevance, count in saying if 2 * count > len(urls)])


def _host(url: str) -> str:
    """Return the host of a URL with its port."""
    return url.partition("://")[2].partition("/")[0].lower()


def _are_covered(rules: Sequence[tuple[str, CleanParam]], host: str, path: str) -> bool:
    """Return whether one of some rules is about a path of a host."""
    return any(of in ("", host) and rule.covers(path) for of, rule in rules)


@dataclass(frozen=True, slots=True)
class _Named:
    """What a header leaves out: the parameters of ``keys``, or all but these."""

    keys: frozenset[str]
    all_but: bool


def _named(header: str) -> _Named | None:
    try:
        said = search_variance(header)
    except ValueError:
        return None  # the draft: it is as if there was none
    return _Named(_keys(said.vary if said.no_vary is None else said.no_vary, decoded=True), said.no_vary is None)


def _keys(names: Iterable[str], *, decoded: bool = False) -> frozenset[str]:
    found = set()
    for name in names:
        with suppress(ValueError):
            found.add(normal_key(query_key(name, decoded=decoded)))
    return frozenset(found)
