"""Values of one shape that all say the same, while others of their key do not: ``mode=a`` .. ``mode=z``, but not ``full``.

Too many to be compared one with another, and each too rare: they are tested together, as one value.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...urls import ValueClass, class_of
from ..config import current
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.url_table import REPEAT
from ..evidence.arrays import ABSENT, Codes
from ..evidence.value_kinds import ValueKind, are_named, is_token

MAX_VALUES = 5_000
MAX_SHAPES = 6
"""Shapes that are tried of a key, the widest first."""


@dataclass(frozen=True, slots=True)
class AlikeValues:
    """Whatever value *key* has, of those that *only* holds, the page is the same; another one may be another."""

    key: str
    only: frozenset[str] | ValueClass
    pages: int
    counterexamples: int


def values_alike(frame: Frame, levels: Mapping[str, Level], key: str) -> list[AlikeValues]:
    """Find the widest shape of values of *key* that say the same, and recode the frame's column; at most one."""
    codes = frame.columns[key]
    present = codes != ABSENT
    values, counts = np.unique(codes[present], return_counts=True)
    if not 2 < len(values) <= MAX_VALUES:
        return []
    _, urls = np.unique(frame.content[present], return_counts=True)
    if np.count_nonzero(urls > 1) < current().alike_contents:
        return []  # whatever the shape, no more pages than these show at two values
    texts = [frame.table.vocabulary[code] for code in values.tolist()]
    if any(REPEAT in text or is_token(text) for text in texts):
        return []
    rest, judge = frame.kept_hashes(levels, without=(key,)), frame.table.judge
    for chosen in _shapes(texts, values):
        rows = np.flatnonzero(np.isin(codes, chosen))
        part = frame.subset(rows)
        groups = part.grouped(rest[rows])
        differ = varying(groups, codes[rows])
        clean = differ & (groups.contents == 1)
        bad = differ & (groups.contents > 1)
        pages = len(np.unique(part.content[groups.first[clean]]))
        lost = int((groups.contents - 1)[bad].sum())
        if (
            pages < current().alike_contents
            or not judge.verdict(
                part.witnesses(groups, ValueKind.ENUMERATED.prior, key).part(differ[groups.size > 1])
            ).passes
        ):
            continue
        frame.recode(key, np.where(np.isin(codes, chosen), chosen[0], codes).astype(codes.dtype))
        named = [frame.table.vocabulary[code] for code in chosen.tolist()]
        seen = int(counts[np.isin(values, chosen)].sum())
        few = are_named(len(named), seen)
        # As narrow as what was seen: the values that say something else are the next ones.
        return [AlikeValues(key, frozenset(named) if few else class_of(named), pages, lost)]
    return []


def _shapes(texts: Sequence[str], values: Codes) -> Iterator[Codes]:
    """Yield the codes of the values of one shape, but not all: numbers, and those up to some length, the widest first."""
    lengths = np.array([len(text) for text in texts])
    numbers = np.array([text.isdecimal() and text.isascii() for text in texts])
    found: dict[bytes, Codes] = {}
    for among in (np.ones(len(texts), dtype=np.bool_), numbers):
        for length in sorted(set(lengths[among].tolist()), reverse=True):
            for part in (among & (lengths <= length), among & (lengths == length)):
                # What is left must not be of the same shape: a class could not tell it from these.
                if 1 < part.sum() < len(texts) and _tells_apart(texts, part.tolist()):
                    found.setdefault(values[part].tobytes(), values[part])
    yield from sorted(found.values(), key=len, reverse=True)[:MAX_SHAPES]


def _tells_apart(texts: Sequence[str], chosen: Sequence[bool]) -> bool:
    shape = class_of([text for text, one in zip(texts, chosen, strict=True) if one])
    return not any(shape.matches(text) for text, one in zip(texts, chosen, strict=True) if not one)
