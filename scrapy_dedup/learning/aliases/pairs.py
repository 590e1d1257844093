"""Pairs of a URL and the page that it is said to be, as the rules of the site know them, by the kind of alias."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache

from ...rules.alias_kinds import is_less
from ...rules.model import DECLARATIONS, FRAGMENT
from ...store.rows import SightingRow
from ...urls import normal_form, values_of

KeyOf = Callable[[str], str]
Views = Mapping[str, str | None]


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


def pooled(sightings: Iterable[SightingRow], key_of: KeyOf) -> list[list[Pair]]:
    """Return the sightings of each kind at its widest: one key, one name, one set of keys of the URL."""
    pools: defaultdict[tuple[object, ...], list[Pair]] = defaultdict(list)
    key_of, view = cache(key_of), cache(values_of)  # a menu's links stand on each page
    for row in sightings:
        page, link = key_of(row.page), key_of(row.link)
        if page == link:
            continue  # the rules know it already
        if row.key in DECLARATIONS:
            pools[row.key,].append(Pair(row, page, link, view(page)))
            continue
        values = view(link)
        if row.key == FRAGMENT and is_less(values, page):
            continue
        keys = tuple(sorted(key for key in values if not key.startswith(("host.", "scheme"))))
        pools[row.key, row.lead, row.prefix, keys, values.get("path.len")].append(Pair(row, page, link, values))
    return [pools[kind] for kind in sorted(pools, key=repr)]


def declared_sightings(
    site: str, declared: Iterable[tuple[str, str, str]], known: Callable[[str], bool]
) -> Iterator[SightingRow]:
    """Yield (page, declaration, URL) as sightings, those of URLs that *known* says were fetched."""
    for page, declaration, url in declared:
        if known(url) and normal_form(url) != normal_form(page):
            yield SightingRow("", site, page, url, declaration, 0.0)
