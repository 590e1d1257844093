"""Values that say the same as no value, or as another: ``page=1``, ``do=``, ``/index.php/x``.

Each finding is tested inside the URLs that agree on everything else that is kept, and rests on a
number of distinct contents, never on a number of URLs.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from urllib.parse import unquote, unquote_plus

import numpy as np
from xxhash import xxh3_64_intdigest

from ...rules.actions import as_set
from ...rules.model import BARE
from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.url_table import REPEAT
from ..evidence.arrays import ABSENT, Flags, Hashes, Rows, mixed, pairs, spans
from ..evidence.value_kinds import ORDER, ValueKind
from ..evidence.witnesses import witnesses

MAX_KEYS = 100
"""Keys whose values are tried, those that vary in most clusters."""
MAX_SEGMENTS = 24
"""Literals tried as optional path segments, the most frequent first."""


@dataclass(frozen=True, slots=True)
class Gone:
    """Where all *keys* have just these *values*, the URL is the same page as without the keys."""

    keys: tuple[str, ...]
    values: tuple[str, ...]
    pages: int
    counterexamples: int


@dataclass(frozen=True, slots=True)
class Merged:
    """*key* with *value* is the same page as *key* with *other*."""

    key: str
    value: str
    other: str
    pages: int
    counterexamples: int


@dataclass(frozen=True, slots=True)
class SegmentGone:
    """The path segment *key* with *value* can be taken out; what follows moves up."""

    key: str
    value: str
    pages: int
    counterexamples: int


@dataclass(frozen=True, slots=True)
class UnorderedValues:
    """The values of a repeated key, or those that a *delimiter* parts, are a set: order and repetition do not matter."""

    key: str
    delimiter: str = ""


Recoding = Gone | Merged | SegmentGone | UnorderedValues


def recode(frame: Frame, levels: Mapping[str, Level]) -> list[Recoding]:
    """Find values that can be recoded, recode the frame's columns, and return the recodings."""
    found: list[Recoding] = []
    found += sets_of_values(frame, levels)
    found += _optional_segments(frame, levels)
    support = frame.support()
    enough = [key for key, clusters in support.items() if clusters >= current().least_contents]
    kept = [key for key in enough if levels.get(key, Level.KEPT) is Level.KEPT]
    varying = set(sorted(kept, key=lambda key: -support[key])[:MAX_KEYS])
    for keys in _units(frame, levels, varying):
        found += _values_as_absent(frame, levels, keys)
        if len(keys) == 1:
            found += _values_as_values(frame, levels, keys[0])
    return found


def _units(frame: Frame, levels: Mapping[str, Level], varying: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield the kept keys one by one, and the bundles of kept keys that always occur together.

    Only keys that are *varying* inside duplicate clusters can have values that say the same.
    """
    bundles: dict[bytes, list[str]] = {}
    for key, codes in list(frame.columns.items()):
        if key not in varying or key == BARE or levels.get(key, Level.KEPT) is not Level.KEPT:
            continue
        present = codes != ABSENT
        if present.all():
            if len(np.unique(codes)) <= current().named_values:
                yield (key,)
            continue
        bundles.setdefault(np.packbits(present).tobytes(), []).append(key)
    for keys in bundles.values():
        if len(keys) > 1:
            yield tuple(sorted(keys))
        for key in sorted(keys):
            yield (key,)


@dataclass(frozen=True, slots=True)
class _Compared:
    """Groups of URLs that are one but for a value, and whether taking the value for another may act."""

    speaks_for_it: bool
    same: int = 0
    differing: int = 0


def _evidence(frame: Frame, rest: Hashes, left: Rows, right: Rows, label: Rows | None = None) -> dict[int, _Compared]:
    """Compare rows *left* with the rows *right* of equal *rest*, per *label* (a number per row of *left*; 0)."""
    if not len(left) or not len(right):
        return {}
    order = right[np.argsort(rest[right], kind="stable")]
    rests = rest[order]
    first = np.flatnonzero(np.r_[True, rests[1:] != rests[:-1]])
    size = np.diff(np.r_[first, len(order)])
    place = np.minimum(np.searchsorted(rests[first], rest[left]), len(first) - 1)
    met = rests[first][place] == rest[left]
    rows, place = left[met], place[met]
    if not len(rows):
        return {}
    labels = label[met] if label is not None else np.zeros_like(rows)
    _, example, group = np.unique(pairs(labels, place), return_index=True, return_inverse=True)
    labels, place = labels[example], place[example]
    twins = size[place]
    others = order[spans(first[place], twins)]
    every, number = np.r_[rows, others], np.r_[group, np.repeat(np.arange(len(twins)), twins)]
    side = np.r_[np.zeros(len(rows), dtype=np.intp), np.ones(len(others), dtype=np.intp)]
    kind = ValueKind.ENUMERATED
    found = witnesses(number, frame.content[every], frame.lone[every], kind.prior, side)
    known, part = np.unique(labels, return_inverse=True)
    passes = frame.table.judge.may_act(found, part, len(known))
    groups, differing = np.bincount(part), np.bincount(part[found.lost > 0], minlength=len(known))
    figures = zip(passes.tolist(), (groups - differing).tolist(), differing.tolist(), strict=True)
    return {one: _Compared(*each) for one, each in zip(known.tolist(), figures, strict=True)}


def _may_be_enough(frame: Frame, left: Flags, right: Flags, least: int) -> bool:
    """Return whether rows *left* and *right* have *least* contents in common: without these, no evidence has them."""
    content = frame.content
    common = content[left][np.isin(content[left], content[right])]
    return len(common) >= least and len(np.unique(common)) >= least


def _shared(rest: Hashes) -> Flags:
    """Return which rows may have the *rest* of some other row: no false negatives, in linear time."""
    size = 1 << max(4, (4 * len(rest)).bit_length())
    bucket = (rest & np.uint64(size - 1)).astype(np.intp)
    return np.bincount(bucket, minlength=size)[bucket] > 1


def _values_as_absent(frame: Frame, levels: Mapping[str, Level], keys: tuple[str, ...]) -> list[Recoding]:
    columns = [frame.columns[key] for key in keys]
    present = np.all([codes != ABSENT for codes in columns], axis=0)
    absent = np.all([codes == ABSENT for codes in columns], axis=0)
    if len(keys) == 1 and keys[0].startswith("path.") and keys[0] != "path.trail":
        # Only the last segment can be absent without the others moving up.
        following = frame.columns.get(f"path.{int(keys[0].split('.')[1]) + 1}") if keys[0][5:].isdigit() else None
        if following is not None:
            present &= following == ABSENT
    if not _may_be_enough(frame, present, absent, current().least_contents):
        return []
    rest = frame.kept_hashes(levels, without=keys)
    shared = _shared(rest)
    left, right = np.flatnonzero(present & shared), np.flatnonzero(absent & shared)
    if not len(left) or not len(right):
        return []
    tuples = np.stack([codes[left] for codes in columns])
    kinds, label = np.unique(tuples, axis=1, return_inverse=True)
    found: list[Recoding] = []
    for kind, compared in _evidence(frame, rest, left, right, label.reshape(-1)).items():
        if not compared.speaks_for_it:
            continue
        values = tuple(frame.table.vocabulary[code] for code in kinds[:, kind])
        if any(REPEAT in value for value in values):
            continue  # a rule cannot ask for all values of a repeated key at once
        found.append(Gone(keys, values, compared.same, compared.differing))
        gone = present.copy()
        for codes, code in zip(columns, kinds[:, kind], strict=True):
            gone &= codes == code
        for key in keys:
            frame.recode(key, np.where(gone, np.int32(ABSENT), frame.columns[key]))
    return found


def _values_as_values(frame: Frame, levels: Mapping[str, Level], key: str) -> list[Recoding]:
    codes = frame.columns[key]
    values, counts = np.unique(codes[codes != ABSENT], return_counts=True)
    if not 2 <= len(values) <= current().named_values:
        return []
    rest = frame.kept_hashes(levels, without=(key,))
    shared = _shared(rest)
    vocabulary = frame.table.vocabulary
    # A rule cannot ask for all values of a repeated key at once.
    counted = {
        int(value): int(count) for value, count in zip(values, counts, strict=True) if REPEAT not in vocabulary[value]
    }
    met = {code: np.flatnonzero((codes == code) & shared) for code in counted}
    counted = {code: count for code, count in counted.items() if len(met[code]) >= current().least_contents}
    compared: dict[tuple[int, int], _Compared] = {}
    for one, other in combinations(sorted(counted, key=lambda value: (-counted[value], value)), 2):
        pairs = _evidence(frame, rest, met[other], met[one])
        compared.update(dict.fromkeys([(one, other)], pairs[0]) if pairs else {})
    target: dict[int, int] = {}
    found: list[Recoding] = []
    for (one, other), pages in sorted(compared.items(), key=lambda item: (-item[1].same, item[0])):
        if not pages.speaks_for_it:
            continue
        if other in target or one in target or other in target.values():
            continue  # one step only: chains would rest on pairs that were never compared
        target[other] = one
        found.append(Merged(key, vocabulary[other], vocabulary[one], pages.same, pages.differing))
    for other, one in target.items():
        frame.recode(key, np.where(frame.columns[key] == other, np.int32(one), frame.columns[key]))
    return found


def _optional_segments(frame: Frame, levels: Mapping[str, Level]) -> list[Recoding]:
    """Find literal segments before the last one that can be taken out, the rest moving up."""
    positions = sorted(int(key[5:]) for key in frame.columns if key.startswith("path.") and key[5:].isdigit())
    tried = []
    for position in positions:
        following = frame.columns.get(f"path.{position + 1}")
        if following is None:
            continue
        codes = frame.columns[f"path.{position}"]
        values, counts = np.unique(codes[(codes != ABSENT) & (following != ABSENT)], return_counts=True)
        tried += [
            (int(count), position, int(value))
            for value, count in zip(values, counts, strict=True)
            if count >= current().least_contents
        ]
    found: list[Recoding] = []
    for _, position, value in sorted(tried, key=lambda item: (-item[0], item[1:]))[:MAX_SEGMENTS]:
        key = f"path.{position}"
        codes, following = frame.columns[key], frame.columns[f"path.{position + 1}"]
        chosen = (codes == value) & (following != ABSENT)
        tail = [f"path.{other}" for other in positions if other >= position]
        if any(levels.get(other, Level.KEPT) is not Level.KEPT for other in tail):
            continue
        if not _may_be_enough(frame, chosen, ~chosen, current().least_contents):
            continue
        shifted = {}
        for other, after in zip(tail, [*tail[1:], None], strict=True):
            moved = frame.columns[after] if after else np.zeros_like(codes)
            shifted[other] = np.where(chosen, moved, frame.columns[other])
        rest = frame.kept_hashes(levels, without=tail)
        for other, moved in shifted.items():
            rest = rest + np.where(moved != ABSENT, frame.table.hashes(other, moved), np.uint64(0))
        left, right = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        pages = _evidence(frame, rest, left, right).get(0)
        if pages is not None and pages.speaks_for_it:
            found.append(SegmentGone(key, frame.table.vocabulary[value], pages.same, pages.differing))
            for other, moved in shifted.items():
                frame.recode(other, moved)
    return found


def sets_of_values(frame: Frame, levels: Mapping[str, Level]) -> list[UnorderedValues]:
    """Find keys whose values can be reduced to sets, and recode the frame's columns.

    URLs that are one but for the order are a witness group, and the judge decides.
    """
    found: list[UnorderedValues] = []
    vocabulary, lists = frame.table.vocabulary, frame.table.lists
    for key in sorted((frame.table.repeated | lists.keys()) & frame.columns.keys()):
        if levels.get(key, Level.KEPT) is not Level.KEPT:
            continue
        delimiter = lists.get(key, REPEAT)
        codes = frame.columns[key]
        present, place = np.unique(codes, return_inverse=True)
        texts = [as_set(vocabulary[code], delimiter) for code in present.tolist()]
        changed = {int(code): text for code, text in zip(present, texts, strict=True) if text != vocabulary[code]}
        if not changed:
            continue
        # The reduced value need not occur by itself: hash the text, so that equal sets meet.
        hashes = mixed(
            np.array([xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) for text in texts], np.uint64)
        )
        rest = frame.kept_hashes(levels, without=(key,)) + np.where(codes != ABSENT, hashes[place], np.uint64(0))
        groups = frame.grouped(rest)
        witnesses = frame.witnesses(groups, ORDER.prior, key).part(varying(groups, codes)[groups.size > 1])
        if len(witnesses) and frame.table.judge.posterior(witnesses).may_act:
            plain = unquote_plus(delimiter) if key.startswith("q.") else unquote(delimiter)
            found.append(UnorderedValues(key, "" if delimiter == REPEAT else plain))
            # Of a set that does not occur by itself, the first of its orders stands for it.
            first: dict[str, int] = {}
            lookup = np.arange(len(vocabulary), dtype=np.int32)
            for code, text in changed.items():
                lookup[code] = first.setdefault(text, frame.table.numbers.get(text, code))
            frame.recode(key, lookup[codes])
    return found
