"""The URLs of one site as columns of small integers, one column a key."""

import re
from array import array
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...rules.model import BARE
from ...urls import DeepSplit
from ...urls.percent import lower_value
from ...urls.query_paths import is_segment_key
from ..config import current
from ..evidence.arrays import ABSENT, Codes, Hashes, Rows, mixed
from ..evidence.judge import Judge

_REPEATED = re.compile(r"(.+)\[[1-9][0-9]*\]")
RARE = "\x1f"
"""The column of parameters that hardly any URL has; no key of a rule."""
MAX_RARE = 64
REPEAT = "\x1f"
"""What joins the values of a repeated key in a column (no URL holds it)."""
MIN_TESTED = 0.8
"""Share of the capitals of a key's repeated values that must be met in several spellings for case to mean nothing there."""


@dataclass(frozen=True, slots=True)
class Table:
    """The encoded URLs of one site.

    ``columns[key]`` is an int32 array with a code per URL: 0 where the URL lacks the key, otherwise
    an index into ``vocabulary``, which all the keys share. ``content`` is an int32 array with the
    duplicate cluster of each URL, -1 where its content is no evidence.
    """

    urls: Sequence[str]
    columns: Mapping[str, Codes]
    vocabulary: list[str]
    content: Codes
    seeds: Mapping[str, np.uint64] = field(repr=False)
    numbers: dict[str, int] = field(repr=False)
    """Value -> code, the inverse of ``vocabulary``."""
    lone: npt.NDArray[np.bool_]
    """Which URLs have a content that no other URL of the site has."""
    repeated: frozenset[str]
    """Keys that some URL has more than once."""
    lists: Mapping[str, str] = field(default_factory=dict)
    """Keys whose values are lists in any order, and what parts these (:mod:`.value_tokens`)."""
    judge: Judge = field(default_factory=Judge, repr=False, compare=False)
    """What is believed of the site's error rate."""

    def __len__(self) -> int:
        return len(self.urls)

    def repeated_capitals(self, codes: Codes) -> int:
        """Return how many of some values have capitals, of those that are there twice or more, in whatever case."""
        values, counts = np.unique(codes, return_counts=True)
        found: defaultdict[str, list[int]] = defaultdict(lambda: [0, 0])
        for text, count in zip((self.vocabulary[code] for code in values.tolist()), counts.tolist(), strict=True):
            found[lower_value(text)][0] += count
            found[lower_value(text)][1] += count * (text != lower_value(text))
        return sum(capitals for every, capitals in found.values() if every > 1)

    def part(self, rows: Rows) -> "Table":
        """Return the table of some of the URLs, with the codes that they have here."""
        cut = {key: codes[rows] for key, codes in self.columns.items()}
        columns = {key: codes for key, codes in cut.items() if codes.any()}
        urls = [self.urls[row] for row in rows.tolist()]
        return replace(self, urls=urls, columns=columns, content=self.content[rows], lone=self.lone[rows])

    def with_deep(self, deep: Mapping[str, DeepSplit]) -> "Table":
        """Return the table in which the keys of *deep* are shown by their two parts where they have them."""
        columns = dict(self.columns)
        numbers, vocabulary = self.numbers, self.vocabulary
        for key, split in deep.items():
            codes = columns.get(key)
            if codes is None:
                continue
            whole = np.unique(codes)
            ends: dict[str, Codes] = {}
            left = whole.copy()
            for end in (".head", ".tail"):
                ends[end] = np.zeros(len(whole), dtype=np.int32)
            for place, code in enumerate(whole.tolist()):
                value = vocabulary[code]
                parts = split.parts(value) if value and REPEAT not in value else None
                if parts is not None:
                    left[place] = ABSENT
                    for end, text in zip(ends, parts, strict=True):
                        if text is None:
                            continue
                        number = numbers.get(text)
                        if number is None:
                            number = numbers[text] = len(vocabulary)
                            vocabulary.append(text)
                        ends[end][place] = number
            places = np.searchsorted(whole, codes)
            found = {key: left[places], **{key + end: texts[places] for end, texts in ends.items()}}
            for name, column in found.items():
                known = self.columns.get(name) if name != key else None
                columns[name] = column if known is None else np.where(known != ABSENT, known, column)
                if not columns[name].any():
                    del columns[name]
        columns = dict(sorted(columns.items()))
        return replace(self, columns=columns, seeds=seeds_of(columns))

    def value(self, code: int) -> str | None:
        """Return the value of a code, None for an absent key."""
        return None if code == ABSENT else self.vocabulary[code]

    def hashes(self, key: str, codes: Codes) -> Hashes:
        """Return the hash of (key, code) of each URL; their sum over keys identifies the kept part."""
        return mixed(codes.astype(np.uint64) + self.seeds[key])


def encode(
    urls: Sequence[str],
    views: Iterable[Mapping[str, str | None]],
    content: Sequence[int],
    lone: AbstractSet[int] = frozenset(),
) -> Table:
    """Return the table of *urls*, whose key-value dictionaries are *views* (same order).

    *lone* are the contents that one URL of the site has, of which these may be a part.

    The repeats of a parameter (``q.a``, ``q.a[1]``, ..) are one column, so that they can be told to
    be a set.
    """
    numbers: dict[str, int] = {}
    vocabulary: list[str] = [""]
    # Arrays of 4 bytes an entry: a site with many parameters has some ten millions of them.
    rows: dict[str, array[int]] = {}
    codes: dict[str, array[int]] = {}
    repeated: set[str] = set()
    for row, view in enumerate(views):
        for key, value in joined_repeats(view):
            code = numbers.get(value)
            if code is None:
                code = numbers[value] = len(vocabulary)
                vocabulary.append(value)
            if key not in rows:
                rows[key], codes[key] = array("i"), array("i")
            rows[key].append(row)
            codes[key].append(code)
            if REPEAT in value:
                repeated.add(key)
    _gather_bare(rows, codes, vocabulary, numbers)
    _fold_rare(rows, codes, vocabulary, numbers)
    columns = {}
    for key in sorted(rows):
        column = np.zeros(len(urls), dtype=np.int32)
        column[np.frombuffer(rows[key], dtype=np.int32)] = np.frombuffer(codes[key], dtype=np.int32)
        columns[key] = column
        del rows[key], codes[key]
    seeds = seeds_of(columns)
    contents = np.asarray(content, dtype=np.int32)
    alone = np.isin(contents, np.fromiter(lone, dtype=np.int32, count=len(lone)))
    return Table(urls, columns, vocabulary, contents, seeds, numbers, alone, frozenset(repeated))


def _gather_bare(
    rows: dict[str, "array[int]"], codes: dict[str, "array[int]"], vocabulary: list[str], numbers: dict[str, int]
) -> None:
    """Make one column of the parameters that never have a value, and whose texts are rather values than names."""
    empty = numbers.get("")
    bare = [
        key
        for key in rows
        if key.startswith("q.")
        and len(key) > len("q.")
        and not is_segment_key(key)
        and (len(rows[key]) < current().proposed_groups or any(map(str.isdigit, key)))
        and all(code == empty for code in codes[key])
    ]
    if len(bare) < 2 or sum(len(rows[key]) for key in bare) < current().proposed_groups:
        return
    texts: dict[int, list[str]] = {}
    for key in sorted(bare):
        del codes[key]
        for row in rows.pop(key):
            texts.setdefault(row, []).append(key.removeprefix("q."))
    rows[BARE], codes[BARE] = array("i"), array("i")
    for row, names in texts.items():
        text = REPEAT.join(names)
        rows[BARE].append(row)
        codes[BARE].append(numbers.setdefault(text, len(vocabulary)))
        if numbers[text] == len(vocabulary):
            vocabulary.append(text)


def _fold_rare(
    rows: dict[str, "array[int]"], codes: dict[str, "array[int]"], vocabulary: list[str], numbers: dict[str, int]
) -> None:
    """Make one column of the parameters that hardly any URL has, where they are many.

    Names that are made up for each URL would make as many columns as there are URLs. No rule can speak of
    them: it takes ten groups that differ in a key, and as many URLs that have it.
    """
    rare = [key for key in rows if len(rows[key]) < current().proposed_groups and key.startswith(("q.", "m.", "s."))]
    if len(rare) <= MAX_RARE:
        return
    texts: dict[int, list[str]] = {}
    for key in sorted(rare):
        for row, code in zip(rows.pop(key), codes.pop(key), strict=True):
            texts.setdefault(row, []).append(f"{key}={vocabulary[code]}")
    rows[RARE], codes[RARE] = array("i"), array("i")
    for row, pairs in texts.items():
        text = REPEAT.join(pairs)
        if text not in numbers:
            numbers[text] = len(vocabulary)
            vocabulary.append(text)
        rows[RARE].append(row)
        codes[RARE].append(numbers[text])


def with_inverse(codes: Codes) -> tuple[Codes, Rows]:
    """Return the distinct codes, ascending, and the place of each entry's among them.

    As np.unique with return_inverse, but without sorting the entries.
    """
    values = np.unique(codes)
    if not len(values):
        return values, np.zeros(0, dtype=np.intp)
    place = np.zeros(int(values[-1]) + 1, dtype=np.intp)
    place[values] = np.arange(len(values))
    return values, place[codes]


def seeds_of(columns: Iterable[str]) -> dict[str, np.uint64]:
    """Return a seed for each key."""
    # Any odd multiplier will do: the seeds only have to differ and stay the same between runs.
    return {key: np.uint64((index + 1) * 0x9E3779B97F4A7C15 % 2**64) for index, key in enumerate(columns)}


def joined_repeats(view: Mapping[str, str | None]) -> Iterator[tuple[str, str]]:
    """Yield the keys and values of a view, the values of a repeated key joined.

    >>> [(key, value.split(REPEAT)) for key, value in joined_repeats({"q.a": "2", "q.a[1]": "3"})]
    [('q.a', ['2', '3'])]
    """
    repeated: dict[str, list[str]] = {}
    for key, value in view.items():
        if key[-1] == "]" and (match := _REPEATED.fullmatch(key)) and match[1] in view:
            repeated.setdefault(match[1], [view[match[1]] or ""]).append(value or "")
    for key, value in view.items():
        if not repeated:
            yield key, value or ""
        elif key in repeated:
            yield key, REPEAT.join(repeated[key])
        elif key.partition("[")[0] not in repeated:
            yield key, value or ""
