"""Values that are sets: of a repeated parameter (``a=1&a=2``), or lists in one value (``a=1,2``), in any order."""

from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import unquote, unquote_plus

import numpy as np
from xxhash import xxh3_64_intdigest

from ...rules.actions import as_set
from ..data.frame import Frame, Level
from ..data.grouping import varying
from ..data.url_table import REPEAT
from ..evidence.arrays import ABSENT, mixed
from ..evidence.value_kinds import ORDER


@dataclass(frozen=True, slots=True)
class UnorderedValues:
    """The values of a repeated key, or those that a *delimiter* parts, are a set: order and repetition do not matter."""

    key: str
    delimiter: str = ""


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
