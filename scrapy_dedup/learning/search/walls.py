"""Constant page or wall: how likely it is that a content which many URLs show is one page, and no wall before many pages.

A wall (bots, an error with status 200, "sold out", an empty result) answers for every id as a log-in page does for every ``returnto``.
The unit of evidence is the distinct value of what would be ignored, and the question is what these values are. It is answered
in log-odds: what is likely of a constant page, against what is of a wall. The times of the responses say nothing but where they are
of two crawls.
"""

from collections.abc import Sequence
from functools import cached_property
from math import exp, lgamma, log, log1p

import numpy as np

from ...urls import values_of
from ..config import current
from ..data.frame import NEVER_KEPT, Frame
from ..data.judgement import SiteUrls
from ..data.shells import is_parameter, repeated_shells
from ..data.url_table import encode
from ..evidence.arrays import ABSENT, Codes, Flags, Rows
from ..evidence.user_names import Names
from .references import References, decoded, is_address, path_rows, without_segment

LEAST_VALUES = 12
"""Minimum number of ignored values of a pattern: a page with a few URLs is found by keys that are dropped on all pages."""
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


class WallUrls:
    """What is known of the URLs of a frame, for all constant pages."""

    def __init__(self, frame: Frame, sample: SiteUrls, shells: Flags | None = None) -> None:
        self.frame = frame
        self.sample = sample
        self.references = References(frame, shells)

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


class WallEvidence:
    """Evidence for a constant page against a wall, in log-odds."""

    def __init__(
        self, site: WallUrls, ignored: Sequence[str], pattern: dict[str, int], rows: Rows, elsewhere: Rows
    ) -> None:
        self._site, self._frame = site, site.frame
        self._ignored, self._pattern, self._rows, self._elsewhere = ignored, pattern, rows, elsewhere
        contents, counts = np.unique(self._frame.content[rows], return_counts=True)
        self._content = int(contents[counts.argmax()])
        known = site.sample.passwords
        self._has_password = None if known is None else self._content in known

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
        columns: list[Codes | Rows] = [self._frame.columns[key] for key in self._ignored if is_parameter(key)]
        columns += [self._site.paths] if any(_is_path(key) for key in self._ignored) else []
        return max((len(np.unique(codes[self._rows])) for codes in columns), default=0)

    def _of_number(self) -> float:
        """Return what it says that all of so many values show the page."""
        return -log(WHOLE_WALL + (1 - WHOLE_WALL) / (self._values + 1))

    def _of_elsewhere(self) -> float:
        """Return what it says that so many URLs outside the patterns of the page show it, too."""
        others, urls = len(self._elsewhere), len(self._elsewhere) + len(self._rows)
        return _log_odds(_likely(others, urls, (1, 1)), _likely(others, urls, (1, 30)), SCATTERED, SCATTERED_WALL)

    def _of_times(self) -> float:
        """Return what it says that the page was there in two crawls, or that observations have no times.

        Answers that different pages have in common last, too.
        """
        if self._site.sample.confirmed is None:
            return -log(UNTIMED)
        if not self._is_told:
            return 0.0
        confirmed = int(self._site.confirmed[self._rows].sum())
        return -log(LASTING) * min(1.0, confirmed / LEAST_CONFIRMED)

    @property
    def _is_told(self) -> bool:
        """Whether the page is told by more than its times: by a password field, or by values or paths that are addresses."""
        if self._has_password or self._of_names() or (any(map(_is_path, self._ignored)) and self._of_path() > 0):
            return True
        of_keys = ([is_address(text) for text in self._texts(key, self._asked(key))] for key in self._ignored)
        return any(2 * sum(flags) > len(flags) for flags in of_keys)

    def _asked(self, key: str) -> Codes:
        """Return the values of a key that are looked up."""
        codes = self._frame.columns[key][self._rows]
        values = np.unique(codes[codes != ABSENT])
        return values[:: len(values) // MOST_ASKED + 1]

    def _texts(self, key: str, values: Codes) -> list[str]:
        return [decoded(self._frame.table.vocabulary[code]) for code in values.tolist()] if is_parameter(key) else []

    def _of_password(self) -> float:
        """Return what it says that the page has a password field, or none."""
        share = self._site.with_password
        if share is None:
            return 0.0
        # A site may have a log-in form on all its pages, walls included.
        of_page, of_wall = (most + (1 - most) * share for most in (PASSWORD, PASSWORD_OF_WALL))
        return log(of_page / of_wall) if self._has_password else log1p(-of_page) - log1p(-of_wall)

    def _of_names(self) -> float:
        """Return what the names of the ignored keys say."""
        returning = any(self._site.sample.names.says_return(key) for key in self._ignored)
        return log(RETURNING / (1 - RETURNING)) if returning else 0.0

    def _of_values(self) -> float:
        """Return what the values of the ignored keys say: of the one that says most, and what the others say against a page."""
        said = [self._of_path()] if any(_is_path(key) for key in self._ignored) else []
        said += [self._of_key(key) for key in self._ignored if is_parameter(key)]
        best = max(said, default=0.0)
        return best + sum(min(0.0, each) for each in said) - min(0.0, best)

    def _of_key(self, key: str) -> float:
        """Return what the values of a parameter say."""
        codes = self._frame.columns[key][self._rows]
        values = np.unique(codes[codes != ABSENT])
        if len(values) <= MOST_NAMED and np.count_nonzero(codes) >= LEAST_REPEATS * len(values):
            return 0.0  # they are named one by one, and no other is ignored
        values = self._asked(key)
        first = {code: row for row, code in zip(self._rows.tolist(), codes.tolist(), strict=True)}
        texts = self._texts(key, values)
        bases = [self._url(first[code]) for code in values.tolist()]
        viewed = 0 if self._has_password is False else self._viewed(key, values)
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
        """Return the log-odds from differing paths: a path names its page, unless it is another page without the literals."""
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
        said = _referring(min(other, len(rows)), len(rows), ADDRESSES)
        if other <= len(rows) / 2:
            return said + log(IDENTITY)
        # What has no password field may be a view of each page, and empty as yet.
        return min(said, 0.0) if self._has_password is False else said

    @property
    def _asks_parameters(self) -> bool:
        return any(is_parameter(key) and code != ABSENT for key, code in self._pattern.items())

    def _others(self) -> Rows:
        """Return the rows that lack a parameter of the pattern, and show another page."""
        outside = self._frame.content != self._content
        lacking = np.zeros(len(self._frame), dtype=np.bool_)
        for key, code in self._pattern.items():
            if is_parameter(key) and code != ABSENT:
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
        """Return whether a key tells other pages of the same path apart: one that answers whatever it says is then an error."""
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


def is_shell(urls: Sequence[str], content: Sequence[int]) -> bool:
    """Return whether what the last of some URLs shows may be what different pages have in common, by the others.

    What is told where to return to is none.
    """
    table = encode(urls, map(values_of, urls), content)
    rows = np.flatnonzero(table.content == content[-1])
    if not repeated_shells(table)[rows].any():
        return False
    varying = {key: codes[rows] for key, codes in table.columns.items() if len(np.unique(codes[rows])) > 1}
    texts = ([decoded(table.vocabulary[code]) for code in codes.tolist()] for codes in varying.values())
    return not any(map(Names().says_return, varying)) and not any(all(map(is_address, each)) for each in texts)


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
