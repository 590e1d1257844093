"""Pairs of a URL and the page that it is said to be, as the rules of the site know them, by the kind of alias."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from ...rules import Rule
from ...rules.alias_kinds import AliasKinds, is_less
from ...rules.model import DECLARATIONS, FRAGMENT
from ...store.rows import SightingRow
from ...urls import normal_form, values_of
from ...urls.namings import Naming

KeyOf = Callable[[str], str]
Views = Mapping[str, str | None]

_CACHED = 8192


@dataclass(frozen=True, slots=True)
class Pair:
    """A sighting with both URLs as the site's rules know them."""

    row: SightingRow
    page: str
    """Canonical key of the page."""
    link: str
    """Canonical key of the URL."""
    values: Views = field(compare=False)
    """The view of what the kind's match is on: of the URL, or of the page that declares it."""


def paired(sightings: Iterable[SightingRow], key_of: KeyOf) -> Iterator[Pair]:
    """Yield the sightings as pairs, but those that the rules know already."""
    key_of, view = lru_cache(_CACHED)(key_of), lru_cache(_CACHED)(values_of)  # a menu's links stand on each page
    for row in sightings:
        page, link = key_of(row.page), key_of(row.link)
        if page == link:
            continue
        values = view(page if row.key in DECLARATIONS else link)
        if row.key != FRAGMENT or not is_less(values, page):
            yield Pair(row, page, link, values)


def pooled(sightings: Iterable[SightingRow], key_of: KeyOf) -> list[list[Pair]]:
    """Return the sightings of each kind at its widest: one key, one name, one set of keys of the URL."""
    pools: defaultdict[tuple[object, ...], list[Pair]] = defaultdict(list)
    for pair in paired(sightings, key_of):
        row, values = pair.row, pair.values
        if row.key in DECLARATIONS:
            pools[row.key,].append(pair)
            continue
        keys = tuple(sorted(key for key in values if not key.startswith(("host.", "scheme"))))
        pools[row.key, row.lead, row.prefix, keys, values.get("path.len")].append(pair)
    return [pools[kind] for kind in sorted(pools, key=repr)]


def kind_of(pair: Pair, kinds: AliasKinds) -> Rule | None:
    """Return the kind by which the URL of *pair* is its page; None if it is of none."""
    row = pair.row
    if row.key in DECLARATIONS:
        return kinds.declared(row.site, row.key, pair.values)
    return kinds.anchored(row.site, pair.values, [(Naming(row.key, row.lead, row.token), row.prefix)], pair.page)


def known_aliases(
    rules: Iterable[Rule], sightings: Iterable[SightingRow], key_of: KeyOf
) -> Iterator[tuple[Pair, Rule]]:
    """Yield the pairs among *sightings* whose URL is the page by one of the kinds that act, and that kind.

    They hold for the crawl of the sightings: when posts are deleted, the pages of a thread shift.
    """
    kinds = AliasKinds(rules)
    for pair in paired(sightings, key_of):
        rule = kind_of(pair, kinds)
        if rule is not None:
            yield pair, rule


def declared_sightings(
    site: str, declared: Iterable[tuple[str, str, str]], known: Callable[[str], bool]
) -> Iterator[SightingRow]:
    """Yield (page, declaration, URL) as sightings, those of URLs that *known* says were fetched."""
    for page, declaration, url in declared:
        if known(url) and normal_form(url) != normal_form(page):
            yield SightingRow("", site, page, url, declaration, 0.0)
