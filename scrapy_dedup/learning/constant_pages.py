"""Patterns all of whose URLs are one page, such as a log-in page with ``returnto=``.

One page gives one informative group, so no gate on groups can ever let such a pattern through.
Here the unit of evidence is the URL: many of them, the most specific pattern, and no exception.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .frame import NEVER_KEPT, Frame
from .grouping import Flags
from .table import ABSENT, Codes, Rows, is_token

MIN_URLS = 30
MAX_SPLITS = 3
MAX_ALIKE = 3
MAX_CANDIDATES = 200
MAX_LITERALS = 24
MIN_IDENTIFIED = 5
MIN_IDENTIFIED_SHARE = 0.02
"""Pages, and pages per URL, from which on a key is taken for what tells pages apart."""

ADDRESS_MARKS = ("/", "%2F", "%2f", "?", "%3F", "%3f")
MIN_VALUES = 10
"""Values from which on a key may be what tells pages apart."""
MIN_REFERENCES = 0.9
MIN_CLUSTERS = 3
MIN_CONFIRMED = 10
"""URLs that were the same page in two crawls, for which any key may be ignored."""


@dataclass(frozen=True, slots=True)
class ConstantPage:
    """All URLs with these literals are one page, whatever the *ignored* keys say."""

    literals: tuple[tuple[str, str], ...]
    ignored: tuple[str, ...]
    urls: int


def constant_pages(frame: Frame, confirmed: Flags) -> tuple[list[ConstantPage], Flags]:
    """Return the constant pages of a frame, and which of its rows they cover.

    *confirmed* tells which URLs were the same page in two crawls.
    """
    candidates: list[tuple[ConstantPage, dict[str, int], Rows]] = []
    _, sizes = np.unique(frame.content, return_counts=True)
    order = np.argsort(frame.content, kind="stable")
    ends = np.cumsum(sizes)
    # Each costs a look at all URLs. A page of this kind has more of them than most pages have.
    for number in np.argsort(-sizes, kind="stable")[:MAX_CANDIDATES]:
        if sizes[number] < MIN_URLS:
            break
        rows = order[ends[number] - sizes[number] : ends[number]]
        for pattern, chosen in _patterns(frame, rows, MAX_SPLITS):
            ignored = _ignored(frame, pattern, chosen)
            literals = tuple((key, frame.table.vocabulary[code]) for key, code in pattern.items())
            candidates.append((ConstantPage(literals, ignored, len(chosen)), pattern, chosen))
    special = _without_alike([page for page, _, _ in candidates])
    found: list[ConstantPage] = []
    covered = np.zeros(len(frame), dtype=np.bool_)
    for page, pattern, chosen in candidates:
        if page not in special or any(_is_identity(frame, pattern, chosen, key) for key in page.ignored):
            continue
        if int(confirmed[chosen].sum()) < MIN_CONFIRMED and not all(
            _says_nothing(frame, pattern, chosen, key) for key in page.ignored
        ):
            continue
        found.append(page)
        covered[chosen] = True
    more, also = forms(frame)
    return [*more, *found], covered | also


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
    pattern = shared_literals(frame, rows)
    if _is_exception_free(frame, pattern, len(rows)):
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
            if count >= MIN_URLS:
                part = rows[codes[rows] == value]
                clean += count if _is_exception_free(frame, shared_literals(frame, part), len(part)) else 0
        # Where no value alone is clean, the key with the largest part is looked at further.
        merit = int(clean) * len(rows) + int(counts.max())
        if counts.max() >= MIN_URLS and (best is None or merit > best[0]):
            best = merit, key
    if best is None:
        return
    codes = frame.columns[best[1]]
    for value in np.unique(codes[rows]):
        part = rows[codes[rows] == value]
        if len(part) >= MIN_URLS:
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


def _is_exception_free(frame: Frame, pattern: dict[str, int], expected: int) -> bool:
    """Tell whether just the *expected* number of rows have the literals of a pattern.

    A pattern without any literal of the path or the query says nothing about a page.
    """
    if not any(key.startswith(("path.", "q.", "m.", "s.")) and key not in NEVER_KEPT for key in pattern):
        return False
    rows = matching_rows(frame, pattern)
    return len(rows) == expected or (len(rows) < 1.2 * expected and is_one_page(frame, rows))


def matching_rows(frame: Frame, pattern: dict[str, int]) -> Rows:
    rows: Rows | None = None
    for key, code in pattern.items():
        codes = frame.columns[key]
        rows = np.flatnonzero(codes == code) if rows is None else rows[codes[rows] == code]
    assert rows is not None
    return rows


def is_one_page(frame: Frame, rows: Rows) -> bool:
    """Tell whether URLs are one page, with odd responses among them."""
    return frame.table.judge.is_one_page(frame.content[rows], frame.lone[rows])


MIN_CONTRAST = 6
MIN_FORM_URLS = 12


def forms(frame: Frame) -> tuple[list[ConstantPage], Flags]:
    """Return the parameters with a value that makes any URL one page, beside other pages that the same URLs show without it."""
    covered = np.zeros(len(frame), dtype=np.bool_)
    path_keys = [k for k in frame.columns if k.startswith(("path.", "host.")) or k in ("ext", "scheme")]
    paths = frame.kept_hashes({}, without=[k for k in frame.columns if k not in path_keys])
    found: list[ConstantPage] = []
    contents, sizes = np.unique(frame.content, return_counts=True)
    order = np.argsort(frame.content, kind="stable")
    ends = np.cumsum(sizes)
    for number in np.argsort(-sizes, kind="stable")[:MAX_CANDIDATES]:
        if sizes[number] < MIN_FORM_URLS:
            break
        rows = order[ends[number] - sizes[number] : ends[number]]
        best = None
        for key, codes in frame.columns.items():
            if not key.startswith(("q.", "m.", "s.")):
                continue
            values, counts = np.unique(codes[rows], return_counts=True)
            if len(values) > 12:
                continue
            for value, count in zip(values.tolist(), counts.tolist(), strict=True):
                if value == ABSENT or count < MIN_FORM_URLS or is_token(frame.table.vocabulary[value]):
                    continue
                every = np.flatnonzero(codes == value)
                if len(every) > 1.2 * count or not is_one_page(frame, every):
                    continue
                if len(np.unique(paths[every])) < MIN_CONTRAST:
                    continue
                others = np.flatnonzero((codes != value) & np.isin(paths, paths[every]))
                contrast = len(set(frame.content[others].tolist()) - {int(contents[number])})
                if contrast >= MIN_CONTRAST and (best is None or len(every) > best[0]):
                    best = len(every), key, value, every
        if best is None:
            continue
        _, key, value, every = best
        if covered[every].all():
            continue
        ignored = tuple(
            k
            for k, codes in frame.columns.items()
            if k != key
            and k not in NEVER_KEPT
            and bool(codes[every].any())
            and bool((codes[every] != codes[every[0]]).any())
        )
        found.append(ConstantPage(((key, frame.table.vocabulary[value]),), ignored, len(every)))
        covered[every] = True
    return found, covered


def _ignored(frame: Frame, pattern: dict[str, int], rows: Rows) -> tuple[str, ...]:
    return tuple(
        key
        for key, codes in frame.columns.items()
        if key not in pattern and key not in NEVER_KEPT and bool(codes[rows].any())
    )


def _is_identity(frame: Frame, pattern: dict[str, int], rows: Rows, key: str) -> bool:
    """Tell whether a key says which page it is: one that answers whatever it says is then an error.

    A bot wall, a maintenance page, a missing item that is answered with status 200: all of these
    pass. A path segment is taken for the identity of what it leads to; so is a key that tells pages
    of the same path apart elsewhere.
    """
    if key.startswith("path.") and key != "path.trail":
        return True
    elsewhere = frame.columns[key] != ABSENT
    elsewhere[rows] = False
    for other, code in pattern.items():
        if other.startswith("path."):
            elsewhere &= frame.columns[other] == code
    pages = len(np.unique(frame.content[elsewhere]))
    return pages >= MIN_IDENTIFIED and pages > MIN_IDENTIFIED_SHARE * int(elsewhere.sum())


def _says_nothing(frame: Frame, pattern: dict[str, int], rows: Rows, key: str) -> bool:
    """Tell whether there is a reason why a key does not matter, other than that it did not here.

    That a bot wall answers for every id of a path is the same picture as a log-in page for every
    ``returnto``. A key of many values is believed to say nothing where its values speak of other
    pages (addresses, names that stand elsewhere), or where it makes no difference to other pages.
    """
    codes = frame.columns[key]
    values = np.unique(codes[rows])
    values = values[values != ABSENT]
    if len(values) < MIN_VALUES:
        return True
    return _are_references(frame, pattern, rows, key, values) or _varies_elsewhere(frame, rows, key)


def _are_references(frame: Frame, pattern: dict[str, int], rows: Rows, key: str, values: Codes) -> bool:
    """Tell whether values of a key are addresses or names of what other URLs lead to.

    Plain numbers stand everywhere: they count only where URLs of the same path have them.
    """
    outside = np.ones(len(frame), dtype=np.bool_)
    outside[rows] = False
    same_path = outside.copy()
    for other, code in pattern.items():
        if other.startswith("path."):
            same_path &= frame.columns[other] == code
    others = [codes for other, codes in frame.columns.items() if other != key and other not in NEVER_KEPT]
    named = np.zeros(len(values), dtype=np.bool_)
    for codes in others:
        texts = np.array([not frame.table.vocabulary[code].isdigit() for code in values])
        named |= np.isin(values, codes[same_path]) | (texts & np.isin(values, codes[outside]))
    addresses = [any(mark in frame.table.vocabulary[code] for mark in ADDRESS_MARKS) for code in values]
    return float(np.mean(named | np.array(addresses))) >= MIN_REFERENCES


def _varies_elsewhere(frame: Frame, rows: Rows, key: str) -> bool:
    """Tell whether a key varies inside the clusters of other pages."""
    outside = np.ones(len(frame), dtype=np.bool_)
    outside[rows] = False
    outside &= frame.columns[key] != ABSENT
    if not outside.any():
        return False
    pairs = np.unique(np.stack((frame.content[outside], frame.columns[key][outside])), axis=1)
    _, counts = np.unique(pairs[0], return_counts=True)
    return int(np.count_nonzero(counts > 1)) >= MIN_CLUSTERS
