"""Constant pages: patterns all of whose URLs show one page, such as a log-in page with ``returnto=``.

One page gives one informative group, which proves nothing: a log-in page that answers for every ``returnto`` and a wall that
answers for every id are the same picture. What the ignored values are tells them apart (:mod:`.walls`).
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from ..data.frame import NEVER_KEPT, Frame
from ..data.judgement import SiteUrls
from ..data.shells import is_parameter
from ..evidence.arrays import ABSENT, Flags, Rows
from ..evidence.value_kinds import is_token
from .walls import LEAST_VALUES, WallEvidence, WallUrls

MAX_SPLITS = 3
"""Keys by whose values the URLs of a page are split, one after the other: a pattern of more literals is no page's own."""
MAX_ALIKE = 3
"""Pages of one shape that may ignore the same key; of more it is a rule of the shape."""
MAX_CANDIDATES = 200
"""Pages that are looked at, those of most URLs first: each costs a look at all URLs."""
MAX_LITERALS = 24
"""Values of a key by which URLs are split; a key of more is hardly a choice."""


@dataclass(frozen=True, slots=True)
class ConstantPage:
    """All URLs with these literals are one page, whatever the *ignored* keys say."""

    literals: tuple[tuple[str, str | None], ...]
    """Keys and values, None for a key that the URLs lack and others with these literals have."""
    ignored: tuple[str, ...]
    urls: int


def constant_pages(frame: Frame, sample: SiteUrls, shells: Flags | None = None) -> tuple[list[ConstantPage], Flags]:
    """Return the constant pages of a frame, and which of its rows they cover.

    *shells* are rows whose content different pages have in common, as far as that is known.
    *sample* tells what else is known of the URLs of the frame's table. Where it tells which of them are of constant pages, these
    are returned. O(n log n), and O(n) for each page that has many URLs.
    """
    if sample.constant is not None:
        return _known_pages(frame, np.asarray(sample.constant)[frame.rows])
    return _found_pages(frame, sample, shells)


def _known_pages(frame: Frame, number: Rows) -> tuple[list[ConstantPage], Flags]:
    """Return the constant pages of which the number of each row is known, -1 for none."""
    found = []
    for each in np.unique(number[number >= 0]).tolist():
        rows = np.flatnonzero(number == each)
        pattern = _pattern_of(frame, rows)
        if len(rows) > 1 and pattern is not None:
            found.append(_page(frame, pattern, rows))
    return found, number >= 0


def _found_pages(frame: Frame, sample: SiteUrls, shells: Flags | None) -> tuple[list[ConstantPage], Flags]:
    candidates: list[tuple[ConstantPage, dict[str, int], Rows, Rows]] = []
    _, sizes = np.unique(frame.content, return_counts=True)
    order = np.argsort(frame.content, kind="stable")
    ends = np.cumsum(sizes)
    # Each costs a look at all URLs. A page of this kind has more of them than most pages have.
    for number in np.argsort(-sizes, kind="stable")[:MAX_CANDIDATES]:
        if sizes[number] < LEAST_VALUES:
            break
        rows = order[ends[number] - sizes[number] : ends[number]]
        found = list(_patterns(frame, rows, MAX_SPLITS))
        within = np.unique(np.concatenate([chosen for _, chosen in found])) if found else rows[:0]
        elsewhere = rows[~np.isin(rows, within)]
        for pattern, chosen in found:
            candidates.append((_page(frame, pattern, chosen), pattern, chosen, elsewhere))
    special = _without_alike([page for page, *_ in candidates])
    covered = np.zeros(len(frame), dtype=np.bool_)
    constants: list[ConstantPage] = []
    urls = WallUrls(frame, sample, shells)
    for page, pattern, chosen, elsewhere in candidates:
        if page in special and WallEvidence(urls, page.ignored, pattern, chosen, elsewhere).is_enough:
            constants.append(page)
            covered[chosen] = True
    return constants, covered


def numbers_of(frame: Frame, pages: list[ConstantPage]) -> Rows:
    """Return the number of the constant page that each row is of, -1 for none."""
    number = np.full(len(frame), -1)
    for each, page in enumerate(pages):
        codes = {key: ABSENT if value is None else frame.table.numbers[value] for key, value in page.literals}
        number[matching_rows(frame, codes)] = each
    return number


def _page(frame: Frame, pattern: dict[str, int], rows: Rows) -> ConstantPage:
    literals = tuple((key, frame.table.value(code)) for key, code in pattern.items())
    return ConstantPage(literals, _ignored(frame, pattern, rows), len(rows))


def _without_alike(pages: list[ConstantPage]) -> set[ConstantPage]:
    """Return the pages that ignore something of their own.

    Where many pages of one shape ignore the same keys, this is no property of single pages: a rule of the
    shape says so, also of pages that were never seen, and learns it from these.
    """
    count = Counter((shape, key) for page in pages for shape in [_shape(page)] for key in page.ignored)
    return {page for page in pages if any(count[_shape(page), key] <= MAX_ALIKE for key in page.ignored)}


def _shape(page: ConstantPage) -> tuple[str, ...]:
    return tuple(key for key, _ in page.literals)


def _patterns(frame: Frame, rows: Rows, splits: int) -> Iterator[tuple[dict[str, int], Rows]]:
    """Yield (literals, rows) for the exception-free patterns of URLs that are all one page."""
    pattern = _pattern_of(frame, rows)
    if pattern is not None:
        yield pattern, matching_rows(frame, pattern)
        return
    if not splits:
        return
    best: tuple[int, str] | None = None
    for key, codes in frame.columns.items():
        values, counts = np.unique(codes[rows], return_counts=True)
        if not 2 <= len(values) <= MAX_LITERALS:
            continue
        clean = 0
        for value, count in zip(values, counts, strict=True):
            if count >= LEAST_VALUES:
                part = rows[codes[rows] == value]
                clean += count if _pattern_of(frame, part) is not None else 0
        # Where no value alone is clean, the key with the largest part is looked at further.
        merit = int(clean) * len(rows) + int(counts.max())
        if counts.max() >= LEAST_VALUES and (best is None or merit > best[0]):
            best = merit, key
    if best is None:
        return
    codes = frame.columns[best[1]]
    for value in np.unique(codes[rows]):
        part = rows[codes[rows] == value]
        if len(part) >= LEAST_VALUES:
            yield from _patterns(frame, part, splits - 1)


def shared_literals(frame: Frame, rows: Rows) -> dict[str, int]:
    """Return the literals that all rows have."""
    shared = {}
    for key, codes in frame.columns.items():
        first = codes[rows[0]]
        # The last row is asked first: most keys differ there.
        if first == ABSENT or codes[rows[-1]] != first or is_token(frame.table.vocabulary[first]):
            continue
        if bool((codes[rows] == first).all()):
            shared[key] = int(first)
    return shared


def _pattern_of(frame: Frame, rows: Rows) -> dict[str, int] | None:
    """Return what URLs of one page share and no other page's have, the code of each key; None where there is no such pattern.

    Keys that other URLs with the same literals have are absent. A pattern without any literal of the path or the query says nothing
    about a page.
    """
    pattern = shared_literals(frame, rows)
    if not any(key.startswith(("path.", "q.", "m.", "s.")) and key not in NEVER_KEPT for key in pattern):
        return None
    every = matching_rows(frame, pattern)
    if len(every) == len(rows):
        return pattern
    others = every[~np.isin(every, rows)]
    for key, codes in frame.columns.items():
        if len(others) and key not in pattern and is_parameter(key) and codes[others].any() and not codes[rows].any():
            pattern[key] = ABSENT
            others = others[codes[others] == ABSENT]
    every = np.concatenate((rows, others))
    return pattern if len(every) < 1.2 * len(rows) and is_one_page(frame, every) else None


def matching_rows(frame: Frame, pattern: dict[str, int]) -> Rows:
    """Return the rows that have the literals of a pattern, of which there is one or more."""
    rows: Rows | None = None
    for key, code in pattern.items():
        codes = frame.columns[key]
        rows = np.flatnonzero(codes == code) if rows is None else rows[codes[rows] == code]
    assert rows is not None
    return rows


def is_one_page(frame: Frame, rows: Rows) -> bool:
    """Return whether URLs are one page, with odd responses among them."""
    return frame.table.judge.is_one_page(frame.content[rows], frame.lone[rows])


def _ignored(frame: Frame, pattern: dict[str, int], rows: Rows) -> tuple[str, ...]:
    return tuple(
        key
        for key, codes in frame.columns.items()
        if key not in pattern and key not in NEVER_KEPT and bool(codes[rows].any())
    )
