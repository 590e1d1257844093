"""Constant pages: patterns all of whose URLs show one page, such as a log-in page with ``returnto=``.

One page gives one informative group, which proves nothing: a log-in page that answers for every ``returnto`` and a wall that
answers for every id (a bot wall, an error, "sold out", an empty result) are the same picture. So the unit of evidence is here
the distinct value of what would be ignored, and the question is what these values are. It is answered in log-odds, from what is likely
of a constant page and of a wall (:class:`Evidence`): whether the values speak of other pages, names of parameters, a password
field, whether the page shows elsewhere. The times of the responses say nothing but where they are of two crawls.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import exp, lgamma, log, log1p

import numpy as np

from .config import current
from .frame import NEVER_KEPT, Frame
from .grouping import Flags
from .judgement import Sample
from .references import References, decoded, is_address, path_rows, without_segment
from .table import ABSENT, Codes, Rows, is_token

__all__ = ["ConstantPage", "constant_pages", "numbers_of"]

LEAST_VALUES = 5
"""Values of what is ignored from which on a pattern is looked at."""
MAX_SPLITS = 3
MAX_ALIKE = 3
MAX_CANDIDATES = 200
MAX_LITERALS = 24
MIN_IDENTIFIED = 5
MIN_IDENTIFIED_SHARE = 0.02
"""Pages, and pages per URL, from which on a key is taken for what tells pages apart."""
MOST_NAMED, LEAST_REPEATS = 12, 3
"""Values that a rule names one by one, each of which was seen so often on average."""
MOST_ASKED = 400
"""Values of a key that are looked up."""

PRIOR = 0.1
"""Share of the patterns that show one text which are constant pages."""
WHOLE_WALL = 0.3
"""Share of the walls that stand before all pages of a pattern; others leave some of them open."""
REFERRING = 0.7
"""Share of the constant pages whose values speak of other pages."""
ADDRESSES, NAMES = 0.007, 0.15
"""Share of the walls of whose values nearly all are addresses of other pages, and that of those whose values are their names."""
IDENTITY = 1 / 30
"""How much rarer a key that tells other pages of the same path apart is on a constant page."""
RETURNING = 0.95
"""Probability of a constant page whose key is known to say where to return to, against one in two."""
PASSWORD, PASSWORD_OF_WALL = 0.3, 0.02
"""Share of the constant pages, and of the walls, that have a password field."""
SCATTERED, SCATTERED_WALL = 0.1, 0.5
"""Share of the constant pages, and of the walls, that any URLs of other kinds show, too."""
LEAST_CONFIRMED = 10
"""URLs that were the same page in two crawls from which on all of them are taken to be."""
LASTING, UNTIMED = 0.003, 0.1
"""Share of the walls that are there in two crawls, and in observations without times, which are the user's and no crawl's."""


@dataclass(frozen=True, slots=True)
class ConstantPage:
    """All URLs with these literals are one page, whatever the *ignored* keys say."""

    literals: tuple[tuple[str, str | None], ...]
    """Keys and values, None for a key that the URLs lack and others with these literals have."""
    ignored: tuple[str, ...]
    urls: int


def constant_pages(frame: Frame, sample: Sample) -> tuple[list[ConstantPage], Flags]:
    """Return the constant pages of a frame, and which of its rows they cover.

    *sample* tells what else is known of the URLs of the frame's table. Where it tells which of them are of constant pages, these
    are returned. O(n log n), and O(n) for each page that has many URLs.
    """
    if sample.constant is not None:
        return _known_pages(frame, np.asarray(sample.constant)[frame.rows])
    return _found_pages(frame, sample)


def _known_pages(frame: Frame, number: Rows) -> tuple[list[ConstantPage], Flags]:
    """Return the constant pages of which the number of each row is known, -1 for none."""
    found = []
    for each in np.unique(number[number >= 0]).tolist():
        rows = np.flatnonzero(number == each)
        pattern = _pattern_of(frame, rows)
        if len(rows) > 1 and pattern is not None:
            found.append(_page(frame, pattern, rows))
    return found, number >= 0


def _found_pages(frame: Frame, sample: Sample) -> tuple[list[ConstantPage], Flags]:
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
    known = _Site(frame, sample)
    for page, pattern, chosen, elsewhere in candidates:
        if page in special and _Evidence(known, page, pattern, chosen, elsewhere).is_enough:
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
        if len(others) and key not in pattern and _is_parameter(key) and codes[others].any() and not codes[rows].any():
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
    """Tell whether URLs are one page, with odd responses among them."""
    return frame.table.judge.is_one_page(frame.content[rows], frame.lone[rows])


def _ignored(frame: Frame, pattern: dict[str, int], rows: Rows) -> tuple[str, ...]:
    return tuple(
        key
        for key, codes in frame.columns.items()
        if key not in pattern and key not in NEVER_KEPT and bool(codes[rows].any())
    )


class _Site:
    """What is known of the URLs of a frame, for all constant pages."""

    def __init__(self, frame: Frame, sample: Sample) -> None:
        self.frame = frame
        self.sample = sample
        self.references = References(frame)

    @cached_property
    def confirmed(self) -> Flags:
        """Which rows were the same page in two crawls."""
        return self.sample.confirmed_urls()[self.frame.rows]

    @cached_property
    def paths(self) -> Rows:
        """The number of each row's path."""
        return path_rows(self.frame)

    @cached_property
    def with_password(self) -> float | None:
        """Share of the contents that have a password field; None where nobody looked for one."""
        known = self.sample.passwords
        if known is None:
            return None
        contents = np.unique(self.frame.content)
        return sum(number in known for number in contents.tolist()) / len(contents)


class _Evidence:
    """What speaks for a constant page, and for a wall, in log-odds: what is likely of the one, against what is of the other."""

    def __init__(self, site: _Site, page: ConstantPage, pattern: dict[str, int], rows: Rows, elsewhere: Rows) -> None:
        self._site, self._frame = site, site.frame
        self._page, self._pattern, self._rows, self._elsewhere = page, pattern, rows, elsewhere
        contents, counts = np.unique(self._frame.content[rows], return_counts=True)
        self._content = int(contents[counts.argmax()])

    @property
    def is_enough(self) -> bool:
        """Whether it is a wall with so little probability that a rule may act."""
        if self._values < LEAST_VALUES:
            return False
        log_odds = log(PRIOR / (1 - PRIOR)) + self._of_number() + self._of_elsewhere() + self._of_times()
        log_odds += self._of_password() + self._of_names() + self._of_values()
        return 1 / (1 + exp(log_odds)) <= current().most_wrong

    @cached_property
    def _values(self) -> int:
        """The number of distinct values of the ignored key that has most, or of distinct paths."""
        columns: list[Codes | Rows] = [self._frame.columns[key] for key in self._page.ignored if _is_parameter(key)]
        columns += [self._site.paths] if any(_is_path(key) for key in self._page.ignored) else []
        return max((len(np.unique(codes[self._rows])) for codes in columns), default=0)

    def _of_number(self) -> float:
        """Return what it says that all of so many values show the page."""
        return -log(WHOLE_WALL + (1 - WHOLE_WALL) / (self._values + 1))

    def _of_elsewhere(self) -> float:
        """Return what it says that so many URLs outside the patterns of the page show it, too."""
        others, urls = len(self._elsewhere), len(self._elsewhere) + len(self._rows)
        return _log_odds(_likely(others, urls, (1, 1)), _likely(others, urls, (1, 30)), SCATTERED, SCATTERED_WALL)

    def _of_times(self) -> float:
        """Return what it says that the page was there in two crawls, or that observations have no times."""
        if self._site.sample.confirmed is None:
            return -log(UNTIMED)
        confirmed = int(self._site.confirmed[self._rows].sum())
        return -log(LASTING) * min(1.0, confirmed / LEAST_CONFIRMED)

    def _of_password(self) -> float:
        """Return what it says that the page has a password field, or none."""
        share = self._site.with_password
        if share is None:
            return 0.0
        # A site may have a log-in form on all its pages, walls included.
        of_page, of_wall = (most + (1 - most) * share for most in (PASSWORD, PASSWORD_OF_WALL))
        has = self._content in (self._site.sample.passwords or ())
        return log(of_page / of_wall) if has else log1p(-of_page) - log1p(-of_wall)

    def _of_names(self) -> float:
        """Return what the names of the ignored keys say."""
        returning = any(self._site.sample.names.says_return(key) for key in self._page.ignored)
        return log(RETURNING / (1 - RETURNING)) if returning else 0.0

    def _of_values(self) -> float:
        """Return what the values of the ignored keys say: of the one that says most, and what the others say against a page."""
        said = [self._of_path()] if any(_is_path(key) for key in self._page.ignored) else []
        said += [self._of_key(key) for key in self._page.ignored if _is_parameter(key)]
        best = max(said, default=0.0)
        return best + sum(min(0.0, each) for each in said) - min(0.0, best)

    def _of_key(self, key: str) -> float:
        """Return what the values of a parameter say."""
        codes = self._frame.columns[key][self._rows]
        values = np.unique(codes[codes != ABSENT])
        if len(values) <= MOST_NAMED and np.count_nonzero(codes) >= LEAST_REPEATS * len(values):
            return 0.0  # they are named one by one, and no other is ignored
        step = len(values) // MOST_ASKED + 1
        values = values[::step]
        first = {code: row for row, code in zip(self._rows.tolist(), codes.tolist(), strict=True)}
        texts = [decoded(self._frame.table.vocabulary[code]) for code in values.tolist()]
        bases = [self._url(first[code]) for code in values.tolist()]
        viewed = self._viewed(key, values)
        addressed = self._site.references.addressed(texts, bases, self._content)
        named = self._site.references.named(key, values, self._content)
        named |= np.array([is_address(text) for text in texts], dtype=np.bool_)
        said = max(
            _referring(int(max(viewed, addressed.sum())), len(values), ADDRESSES),
            _referring(int(named.sum()), len(values), NAMES),
        )
        if self._site.sample.names.says_return(key):  # what it returns to may be told elsewhere, and need not be a page
            said = max(said, 0.0)
        elif viewed <= len(values) / 2 and self._tells_apart(key):
            said = min(said, 0.0) + log(IDENTITY)
        return said - self._site.frame.table.judge.said.get(key, 0.0)

    def _of_path(self) -> float:
        """Return what paths say that differ: a path says what page it is, unless it is another page without the literals."""
        paths, first = np.unique(self._site.paths[self._rows], return_index=True)
        some = slice(None, None, len(paths) // MOST_ASKED + 1)
        rows = self._rows[first[some]]
        segments = [
            self._frame.table.vocabulary[code]
            for key, code in self._pattern.items()
            if _is_path(key) and key not in NEVER_KEPT
        ]
        other = 0
        if self._asks_parameters:
            outside = self._site.paths[self._others()]
            there, where = np.unique(outside, return_index=True)
            shown = self._frame.content[self._others()][where]
            other = len(np.unique(shown[np.isin(there, paths)]))
        elif segments:
            urls = [self._url(row) for row in rows.tolist()]
            has_page = self._site.references.has_page
            other = max(sum(has_page(without_segment(url, each), self._content) for url in urls) for each in segments)
        return _referring(min(other, len(rows)), len(rows), ADDRESSES) + (
            0.0 if other > len(rows) / 2 else log(IDENTITY)
        )

    @property
    def _asks_parameters(self) -> bool:
        return any(_is_parameter(key) and code != ABSENT for key, code in self._pattern.items())

    def _others(self) -> Rows:
        """Return the rows that lack a parameter of the pattern, and show another page."""
        outside = self._frame.content != self._content
        lacking = np.zeros(len(self._frame), dtype=np.bool_)
        for key, code in self._pattern.items():
            if _is_parameter(key) and code != ABSENT:
                lacking |= self._frame.columns[key] != code
        return np.flatnonzero(outside & lacking)

    def _viewed(self, key: str, values: Codes) -> int:
        """Return how many values lead to other pages, each to its own, where the same path lacks the pattern's parameters."""
        if not self._asks_parameters:
            return 0
        others = self._others()
        for other, code in self._pattern.items():
            if _is_path(other):
                others = others[self._frame.columns[other][others] == code]
        codes = self._frame.columns[key][others]
        there = np.isin(codes, values)
        return min(len(np.unique(codes[there])), len(np.unique(self._frame.content[others[there]])))

    def _tells_apart(self, key: str) -> bool:
        """Tell whether a key tells other pages of the same path apart: one that answers whatever it says is then an error."""
        frame = self._frame
        elsewhere = frame.columns[key] != ABSENT
        elsewhere[self._rows] = False
        for other, code in self._pattern.items():
            if other.startswith("path."):
                elsewhere &= frame.columns[other] == code
        pages = len(np.unique(frame.content[elsewhere]))
        return pages >= MIN_IDENTIFIED and pages > MIN_IDENTIFIED_SHARE * int(elsewhere.sum())

    def _url(self, row: int) -> str:
        return self._frame.table.urls[int(self._frame.rows[row])]


def _referring(speaking: int, values: int, of_walls: float) -> float:
    """Return what it says that so many of a key's values speak of other pages, as those of a share of the walls do."""
    return _log_odds(_likely(speaking, values, (4, 1)), _likely(speaking, values, (1, 8)), REFERRING, of_walls)


def _log_odds(one: float, other: float, of_pages: float, of_walls: float) -> float:
    """Return the log-odds of a page against a wall: shares of both are of *one* kind, the rest of the *other*.

    Both are log-likelihoods.
    """
    of_page, of_wall = (np.logaddexp(log(share) + one, log1p(-share) + other) for share in (of_pages, of_walls))
    return float(of_page - of_wall)


def _likely(some: int, of: int, beta: tuple[int, int]) -> float:
    """Return the log-likelihood that *some* are such, where the share of these has a *beta* distribution."""
    right, wrong = beta
    prior = lgamma(right + wrong) - lgamma(right) - lgamma(wrong)
    return prior + lgamma(some + right) + lgamma(of - some + wrong) - lgamma(of + right + wrong)


def _is_path(key: str) -> bool:
    return (key.startswith("path.") and key != "path.trail") or key == "ext"


def _is_parameter(key: str) -> bool:
    return key.startswith(("q.", "m.", "s."))
