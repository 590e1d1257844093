"""Which URLs of a table a proposal is about: those that its pattern matches, and those whose values it changes."""

import numpy as np

from ...rules import Operation
from ..data.url_table import REPEAT, Table, with_inverse
from ..evidence.arrays import ABSENT, Flags
from .dropping import changes
from .proposal import Match


def matching(table: Table, match: Match) -> Flags:
    """Return which URLs a match holds for."""
    holds = np.ones(len(table), dtype=np.bool_)
    for key, predicate in match:
        codes = table.columns.get(key)
        if codes is None:
            if not predicate.optional:
                holds[:] = False
            continue
        present, place = with_inverse(codes)
        answers = [
            predicate.optional if code == ABSENT else predicate.holds(table.vocabulary[code].split(REPEAT)[0])
            for code in present.tolist()
        ]
        holds &= np.array(answers, dtype=np.bool_)[place]
    return holds


def concerned(table: Table, key: str, operation: Operation) -> Flags:
    """Return which URLs have a value that an operation changes."""
    codes = table.columns.get(key)
    if codes is None:
        return np.zeros(len(table), dtype=np.bool_)
    present, place = with_inverse(codes)
    vocabulary = table.vocabulary
    answers = [code != ABSENT and changes(operation, vocabulary[code]) for code in present.tolist()]
    return np.array(answers, dtype=np.bool_)[place]
