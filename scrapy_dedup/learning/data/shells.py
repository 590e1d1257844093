"""Shells: answers that different pages have in common, such as the frame of an application or ``{"available": true}``.

Where all URLs of a place show one content, they may be one page, or their text does not tell pages apart: one content under
all values of a key is one observation, however many URLs there are. What takes that doubt away is contrast: of a content count as many
URLs as there are different contents beside it, one for each page that the values which do not vary name.
"""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..config import current
from ..evidence.arrays import ABSENT, Codes, Flags, Hashes, Integers, Rows, numbered, pairs
from ..evidence.value_kinds import is_token
from .frame import NEVER_KEPT
from .url_table import Table

_FEW = 4
"""As many times the URLs of a word there are other words at most, where these name places and not pages."""

_MOST = 4_096
"""URLs of a place by which its contrast is told, evenly drawn."""

Named = Callable[[Integers, Integers], Flags]
Applies = Callable[[Table, Mapping[str, Codes]], bool]


def is_parameter(key: str) -> bool:
    """Return whether a key is a parameter, and not of the host or the path."""
    return key.startswith(("q.", "m.", "s."))


def repeated_shells(table: Table) -> Flags:
    """Return which URLs show what others of their place show, beyond what the contrast there makes evidence.

    O(n log n), and once more for each set of keys in which the URLs of a content differ, if it has more URLs than contrast.
    """
    found = np.zeros(len(table), dtype=np.bool_)
    if not len(table):
        return found
    columns = {key: codes for key, codes in table.columns.items() if key not in NEVER_KEPT}
    form = numbered(_hashes(table, {key: codes != ABSENT for key, codes in columns.items()}, len(table)).view(np.int64))
    for named, applies in ((_none, _any), (_frequent, _not_drawn), (_few, _names_pages)):
        place = form.astype(np.int64)
        for codes in columns.values():
            place = numbered(pairs(place, _words(table, form, codes, named)))
        _mark(found, table, columns, _together(form, place, named), applies)
    return found


def _together(form: Rows, place: Rows, named: Named) -> Rows:
    """Return the places that words name together by the same measure as each of them; URLs of others, which may be pages, are apart."""
    size, first = np.bincount(place), np.unique(place, return_index=True)[1]
    of_form = form[first]
    number = np.bincount(of_form)[of_form]
    are_places = (number == 1) | named(number, size)
    return numbered(pairs(place, np.where(are_places[place], 0, np.arange(1, len(place) + 1))))


def _words(table: Table, form: Rows, codes: Codes, named: Named) -> Codes:
    """Return the values of a key that are words which name a place of their form, 0 for all others."""
    _, first, inverse, counts = np.unique(
        pairs(form, codes), return_index=True, return_inverse=True, return_counts=True
    )
    number = np.bincount(form[first])[form[first]]
    texts = [table.vocabulary[code] for code in codes[first].tolist()]
    is_word = named(number, counts) & np.array([not text.isdigit() for text in texts], dtype=np.bool_)
    return np.where(is_word, codes[first], ABSENT)[inverse.reshape(-1)]


def _none(number: Integers, counts: Integers) -> Flags:
    """No word: the place is the form."""
    return np.zeros(len(counts), dtype=np.bool_)


def _frequent(number: Integers, counts: Integers) -> Flags:
    """Whether more URLs have a word than there are such words: pages have fewer URLs than there are pages."""
    return counts >= number


def _few(number: Integers, counts: Integers) -> Flags:
    """Whether words are a choice of few, of which little may have been seen so far."""
    return (counts > 1) & (_FEW * counts >= number)


def _mark(found: Flags, table: Table, columns: Mapping[str, Codes], place: Rows, applies: Applies) -> None:
    """Mark the URLs of a content beyond what the contrast at its place makes evidence, where that *applies* to what varies."""
    order = np.lexsort((np.arange(len(table)), table.content, place))
    cells = pairs(place[order], table.content[order])
    starts = np.flatnonzero(np.r_[True, cells[1:] != cells[:-1]])
    urls = np.diff(np.r_[starts, len(order)])
    of_cell = place[order[starts]]
    size = np.bincount(place)
    ends = np.cumsum(size)
    contrast = _beyond_chance(np.bincount(of_cell), size)
    by_content = np.argsort(table.content, kind="stable")
    contents = table.content[by_content]
    known: dict[tuple[int, tuple[str, ...]], float] = {}
    for cell in np.flatnonzero((urls > 1) & (urls - 1 > contrast[of_cell])).tolist():
        rows, where = order[starts[cell] : starts[cell] + urls[cell]], int(of_cell[cell])
        varying = tuple(key for key, codes in columns.items() if (codes[rows] != codes[rows[0]]).any())
        if not applies(table, {key: columns[key][rows] for key in varying}):
            continue
        if (where, varying) not in known:
            here = order[ends[where] - size[where] : ends[where] : 1 + size[where] // _MOST]
            kept = {key: codes[here] for key, codes in columns.items() if key not in varying}
            first = np.unique(_hashes(table, kept, len(here)), return_index=True)[1]
            known[where, varying] = float(_beyond_chance(len(np.unique(table.content[here[first]])), len(first)))
        most = 1 + int(max(contrast[where], known[where, varying], 0.0))
        found[rows[most:]] = True
        if most == 1:  # elsewhere the same observation is of the same values
            content = table.content[rows[0]]
            others = by_content[slice(*np.searchsorted(contents, (content, content + 1)))]
            for key in varying:
                codes = columns[key][others]
                found[others[(codes != ABSENT) & (codes != columns[key][rows[0]])]] = True


def _beyond_chance(contents: Any, pages: Any) -> Any:
    """Return how many of the contents of some pages are beside a first one, and not odd responses."""
    return contents - 1 - current().most_wrong * pages


def _hashes(table: Table, columns: Mapping[str, Codes], number: int) -> Hashes:
    return sum((table.hashes(key, codes) for key, codes in columns.items()), np.zeros(number, dtype=np.uint64))


def _any(table: Table, varying: Mapping[str, Codes]) -> bool:
    return True


def _not_drawn(table: Table, varying: Mapping[str, Codes]) -> bool:
    """Whether not all that varies are session ids: these name no pages."""
    texts = (
        table.vocabulary[code] for codes in varying.values() for code in np.unique(codes).tolist() if code != ABSENT
    )
    return not all(map(is_parameter, varying)) or not all(is_token(text) and not text.isdigit() for text in texts)


def _names_pages(table: Table, varying: Mapping[str, Codes]) -> bool:
    """Whether what varies names pages by rule: numbers, and what stands in the path."""
    texts = (
        table.vocabulary[code] for codes in varying.values() for code in np.unique(codes).tolist() if code != ABSENT
    )
    return not all(map(is_parameter, varying)) or all(map(str.isdigit, texts))
