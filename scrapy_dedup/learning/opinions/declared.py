"""Rules that a site declares itself: evidence that proposes and never proves.

Two kinds. ``No-Vary-Search`` headers and the ``Clean-param`` lines of a robots.txt are about parameters
and name them: they propose rules. rel=canonical and redirects are about single URLs, and merge too much on many sites
(every page of a list is canonically its first one): they are opinions on the parameters that they leave out or repeat.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from ...observation import Observation
from ...rules import Absent, Ignore, Literal, OneOf, Predicate
from ...rules.exchange import CLEAN_PARAM, CleanParam, clean_params, search_variance
from ...rules.exchange.values import Inexpressible, query_key
from ...rules.normal_texts import normal_key
from ...urls import DeepSplit, GroupsLike, class_of, normal_form, normal_parts, site_of_url, values_of
from ...urls.deep_tokens import whole_key
from ..data.judgement import SiteUrls
from ..data.url_table import REPEAT, Table, encode
from ..decision.witness_counts import pages_for
from ..evidence.arrays import ABSENT, Flags
from ..evidence.shares import MIN_STATED
from ..evidence.value_kinds import are_named, is_token
from ..methods.entropy import Relevance
from ..proposals.dropping import seen_values, widened
from ..proposals.proposal import Match, Proposal
from .belief import Opinion, Source, opinions_of_pairs

NO_VARY_SEARCH = "no-vary-search"
MIN_SHARE = 0.95
"""Share of the URLs with a key which must be covered by a header."""
MAX_CLEAN_PARAMS = 1_000
"""Clean-param lines of a site that are read."""
MAX_PAIRS = 2_000
"""Pairs of a URL and its declared one that are looked at for what they say of parameters."""
_SCOPES = ("path.", "host.", "ext")
MAX_URLS = 100_000
"""URLs that are looked at for what declarations say; of more, every n-th is."""


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


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit], declarations: Declarations) -> list[Proposal]:
    """Return what the declarations say and enough groups of equal pages speak for; not validated.

    Empty where no two URLs of the sample lead to one page. O(n) in the URLs, times the parameters that
    are named.
    """
    if not declarations or len(set(sample.content)) == len(sample.content):
        return []
    found = _stated(sample, deep, declarations)
    pages = pages_for(found, sample, deep) if found else {}
    return [proposal for proposal in found if pages[proposal] >= MIN_STATED]


def _stated(sample: SiteUrls, deep: Mapping[str, DeepSplit], declarations: Declarations) -> list[Proposal]:
    """Return what headers and Clean-param lines say of the URLs of a sample."""
    if not (declarations.headers or declarations.clean_params):
        return []
    table = _table(sample.urls, sample, deep)
    by_header = {header: _named(header) for header in set(declarations.headers.values())}
    headers = [by_header.get(declarations.headers.get(url, "")) for url in table.urls]
    places = [(_host(url), normal_parts(url)[1]) for url in table.urls] if declarations.clean_params else []
    lines = [(host, rule, _keys(rule.names)) for host, rule in declarations.clean_params]
    found: list[Proposal] = []
    for key, codes in table.columns.items():
        if not key.startswith("q."):
            continue
        name = _whole(key, deep)
        present = codes != ABSENT
        rows = np.flatnonzero(present)
        about = [(host, rule) for host, rule, keys in lines if name in keys]
        # A header may be missing on a response; a line says itself where it holds, and nowhere else.
        for says, share in (
            (
                [
                    named is not None and (name in named.keys) != named.all_but
                    for named in (headers[row] for row in rows)
                ],
                MIN_SHARE,
            ),
            ([_are_covered(about, *places[row]) for row in rows] if about else [], 1.0),
        ):
            if any(says):
                covered = np.zeros(len(table), dtype=np.bool_)
                covered[rows] = says
                match = _where(table, present, covered, share)
                if match is not None:
                    # Whatever the value, says the site; the shape keeps out what is of another kind.
                    shape = class_of(seen_values(table, np.flatnonzero(covered), key))
                    found.append(Proposal(match, key, Ignore(only=widened(shape))))
    return list(dict.fromkeys(found))


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
        with suppress(Inexpressible):
            found.add(normal_key(query_key(name, decoded=decoded)))
    return frozenset(found)


def _whole(key: str, deep: Mapping[str, DeepSplit]) -> str:
    """Return the parameter's key of a deep token's."""
    base = whole_key(key)
    return base if base in deep else key


def _table(urls: Sequence[str], sample: SiteUrls, deep: Mapping[str, DeepSplit]) -> Table:
    some = urls[:: len(urls) // MAX_URLS + 1]
    return encode(some, (values_of(url, groups=sample.site_groups, deep=deep) for url in some), [0] * len(some))


def _where(table: Table, present: Flags, covered: Flags, share: float = MIN_SHARE) -> Match | None:
    """Return the match of the URLs that are *covered*, of those where a key is *present*: at least a *share* of them.

    None where there is no one key whose values tell them apart from the others.
    """
    total = int(np.count_nonzero(covered))
    if total >= share * np.count_nonzero(present):
        return ()
    for key, codes in table.columns.items():
        if not key.startswith(_SCOPES):
            continue
        among = np.bincount(codes[present], minlength=len(table.vocabulary))
        those = np.bincount(codes[covered], minlength=len(table.vocabulary))
        good = np.flatnonzero((those > 0) & (those >= share * among))
        if len(good) and are_named(len(good), total) and those[good].sum() >= MIN_SHARE * total:
            predicate = _among([table.value(code) for code in good.tolist()])
            if predicate is not None:
                return ((key, predicate),)
    return None


def _among(values: Sequence[str | None]) -> Predicate | None:
    """Return the predicate that asks for one of some values, None where a rule must not name them."""
    texts = [value for value in values if value is not None]
    if any(REPEAT in text or is_token(text) for text in texts):
        return None
    absent = len(texts) < len(values)
    if not texts:
        return Absent()
    return Literal(texts[0], absent) if len(texts) == 1 else OneOf(texts, absent)
