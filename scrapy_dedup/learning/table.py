"""The table of a site: its distinct views, each with the content that it shows, as columns of hashes.

What an operation makes one is found by hashes: that of a view is the sum of those of its keys and values, so that a key is
dropped by a subtraction.
"""

import base64
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import cached_property, lru_cache
from hashlib import blake2b
from typing import Final
from urllib.parse import unquote

import numpy as np

from .evidence.arrays import Flags, Hashes, Rows
from .views import View

MOST_ENUMERATED: Final = 40
"""Values of a key up to which they are a choice of few."""
DRAWN: Final = 0.9
"""Share of a key's values that look drawn from which on they are."""
MOST_GUARDING: Final = 12
"""Values of a key up to which an operation is tried under each."""
GUARDED: Final = 0.9
"""Share of the URLs that these must have."""

_is_token = re.compile(r"(?=.*[0-9])[0-9A-Za-z]{6,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch
_is_base64 = re.compile(r"[0-9A-Za-z+/_-]+=*").fullmatch
_is_path = re.compile(r"(?:https?:/)?/[^/]*").match


@lru_cache(maxsize=1_000_000)
def _hash(key: str, value: str) -> int:
    digest = blake2b(f"{key}\0{value}".encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big")


def hash_of(view: Mapping[str, str]) -> int:
    """Return the hash of a view, a number of 64 bits."""
    return sum([_hash(key, value) for key, value in view.items()]) & 0xFFFF_FFFF_FFFF_FFFF


def is_address(value: str) -> bool:
    """Return whether a value names another page: a path or URL, percent-encoded, or in base64.

    >>> is_address("%2Fa%2Fb"), is_address("aHR0cDovL2V4YW1wbGUuY29t"), is_address("a/b")
    (True, True, False)
    """
    value = unquote(unquote(value))
    if _is_path(value):
        return True
    if len(value) < 12 or not _is_base64(value):
        return False
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), b"-_" if {*"-_"} & {*value} else None)[:4] == b"http"
    except ValueError:
        return False


def is_long_token(value: str) -> bool:
    """Return whether a value is long and has digits and letters only: drawn, even where it is shown often."""
    return len(value) >= 12 and value.isalnum() and any(map(str.isdigit, value))


class Table:
    """The distinct views of a site; *pages* has the number of the content of each URL, *urls* of each content the URLs that show it."""

    def __init__(self, views: Sequence[View], pages: Sequence[int], urls: Mapping[int, int]) -> None:
        self.urls = urls
        known: dict[frozenset[tuple[str, str]], int] = {}
        shown: list[Counter[int]] = []
        self.views: list[View] = []
        self.rows_of: list[list[int]] = []
        """The URLs of each view, by their numbers."""
        for row, (view, page) in enumerate(zip(views, pages, strict=True)):
            unit = known.setdefault(frozenset(view.items()), len(known))
            if unit == len(self.views):
                self.views.append(view)
                shown.append(Counter())
                self.rows_of.append([])
            shown[unit][page] += 1
            self.rows_of[unit].append(row)
        self.page: Rows = np.array(
            [max(each, key=lambda page: (each[page], urls[page], page)) for each in shown], np.intp
        )
        columns: defaultdict[str, dict[int, str]] = defaultdict(dict)
        for unit, view in enumerate(self.views):
            for key, value in view.items():
                columns[key][unit] = value
        self.columns: Mapping[str, Mapping[int, str]] = columns
        self.counts = {key: Counter(column.values()) for key, column in columns.items()}
        self._hashes: dict[str, Hashes] = {}
        self._kinds: dict[str, str] = {}
        self.hashes = sum((self.hashes_of(key) for key in columns), np.zeros(len(self), np.uint64))

    def __len__(self) -> int:
        return len(self.views)

    def hashes_of(self, key: str) -> Hashes:
        """Return what a key adds to the hash of each view."""
        if key not in self._hashes:
            self._hashes[key] = self._column(key, lambda value: _hash(key, value))
        return self._hashes[key]

    def hashes_of_value(self, key: str, value: str | None) -> np.uint64:
        """Return what a value, or its absence, adds."""
        return np.uint64(0 if value is None else _hash(key, value))

    def _column(self, key: str, of: Callable[[str], int]) -> Hashes:
        found = np.zeros(len(self), np.uint64)
        column = self.columns.get(key, {})
        if column:
            rows = np.fromiter(column, np.intp, len(column))
            found[rows] = np.fromiter((of(value) for value in column.values()), np.uint64, len(column))
        return found

    def kind_of(self, key: str) -> str:
        """Return the kind of a key's values: address, drawn, enumerated or other; of keys that are a form of the URL, form."""
        if key not in self._kinds:
            self._kinds[key] = self._kind_of(key)
        return self._kinds[key]

    def _kind_of(self, key: str) -> str:
        if key.startswith("host.") or key in ("scheme", "path.trail", "separators", "ext"):
            return "form"
        counts = self.counts.get(key)
        if not counts:
            return "enumerated"
        if len(counts) >= 12 and sum(map(is_address, counts)) >= DRAWN * len(counts):
            return "address"
        if len(counts) > 3 and all(is_long_token(value) for value in counts if value):
            return "drawn"
        if self.is_enumerated(key):
            return "enumerated"
        tokens = sum(_is_token(value) is not None for value in counts)
        return "drawn" if tokens > DRAWN * len(counts) and len(counts) > 0.3 * counts.total() else "other"

    def is_enumerated(self, key: str) -> bool:
        """Return whether the values of a key are a choice of few."""
        counts = self.counts.get(key)
        if not counts:
            return True
        if len(counts) > 3 and all(is_long_token(value) for value in counts if value):
            return False
        return len(counts) <= MOST_ENUMERATED and counts.total() >= 2 * len(counts)

    def is_numbering(self, key: str) -> bool:
        """Return whether the values of a key are all digits: by numbers pages are named."""
        counts = self.counts.get(key)
        return bool(counts) and all(value.isdigit() for value in counts or () if value)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The keys of the path whose words name sections of the site."""
        return tuple([key for key in sorted(self.columns) if key.startswith("path.") and self.is_enumerated(key)])

    @cached_property
    def _forms(self) -> tuple[dict[str, Hashes], dict[str, Hashes]]:
        """What a key adds to the hash of the form of a URL, with the words of choices of few, and without."""
        fine, coarse = {}, {}
        for key, counts in self.counts.items():
            any_value = _hash(key, "\0#")
            least = 0.0 if self.is_enumerated(key) else max(20.0, 0.02 * len(self))
            of = {
                value: any_value if value.isdigit() or number < least else _hash(key, value)
                for value, number in counts.items()
            }
            fine[key] = self._column(key, of.__getitem__)
            coarse[key] = self._column(key, dict.fromkeys(counts, any_value).__getitem__)
        return fine, coarse

    def forms(self, without: Collection[str] = ()) -> tuple[Hashes, Hashes]:
        """Return the hashes of the form of each URL *without* some keys: with words, and without."""
        none = np.zeros(len(self), np.uint64)
        fine, coarse = [
            sum([column for key, column in form.items() if key not in without], none) for form in self._forms
        ]
        return fine, coarse

    @cached_property
    def guards(self) -> Mapping[str, tuple[str | None, ...]]:
        """The keys under whose values operations are tried one by one, with these values; None: absent."""
        found: dict[str, tuple[str | None, ...]] = {}
        for key, counts in self.counts.items():
            if not key.startswith(("path.", "q.", "s.")) and key not in ("ext", "host.1", "scheme"):
                continue
            absent = len(self) - counts.total()
            top = [(value, number) for value, number in counts.most_common(MOST_GUARDING) if number >= 3]
            covered = absent + sum(number for _, number in top)
            if covered >= GUARDED * len(self) and (absent or len(counts) > 1):
                found[key] = (*([None] if absent >= 3 else ()), *(value for value, _ in top))
        return found

    def holding(self, key: str, values: frozenset[str | None]) -> Flags:
        """Return which views have one of these values of a key."""
        column = self.columns.get(key, {})
        return np.fromiter((column.get(unit) in values for unit in range(len(self))), np.bool_, len(self))


def groups_of(hashes: Hashes) -> list[Rows]:
    """Return the groups of several rows that have the same hash."""
    order = np.argsort(hashes, kind="stable")
    ordered = hashes[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
    sizes = np.diff(np.r_[starts, len(ordered)])
    several = sizes > 1
    return [order[start : start + size] for start, size in zip(starts[several], sizes[several], strict=True)]
