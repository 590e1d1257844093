"""Kinds of proposals: what is believed of an operation before it is seen, from what the values look like that it takes to make no difference."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from typing import Final

from .evidence.value_kinds import learned_priors
from .judge import Kind
from .operations import Drop, Operation
from .rewrites import Form, LastSegment
from .table import Table
from .views import is_position

SHELLS: Final[Mapping[str, float]] = {"drawn": 0.02, "form": 0.02, "enumerated": 0.1, "other": 0.3}
"""How likely contents tell no pages apart where keys of a kind differ: pages are named by numbers and words, hardly by tokens."""
ADDRESS: Final = Kind(0.6, 0.1, 0.3, (0.6, 0.1, 0.1, 0.198, 0.002), 0.2, 0.01)
"""Values that are addresses of pages, such as where to return to."""
WHOLE: Final = Kind(0.4, 0.15, 0.45, (0.1, 0.1, 0.2, 0.596, 0.004), 0.3, 0.1)
"""Several keys together."""
SEVERAL: Final = 3
"""Keys that are several."""


@cache
def kinds() -> Mapping[str, Kind]:
    """Return the kinds by their names."""
    learned = {
        kind.value: Kind(each.right, each.mixed, each.wrong, each.equals, each.unlike, SHELLS[kind.value])
        for kind, each in learned_priors().items()
    }
    return {**learned, "address": ADDRESS}


def kind_of(operation: Operation, table: Table) -> Kind:
    """Return the kind of an operation."""
    if operation.is_form:
        found = kinds()["form"]
    elif isinstance(operation, Drop):
        if len(operation.keys) >= SEVERAL:
            found = WHOLE
        else:
            found = max([kinds()[table.kind_of(key)] for key in operation.keys], key=lambda kind: kind.wrong)
    else:
        found = kinds()["other" if isinstance(operation, Form | LastSegment) or not operation.tested else "enumerated"]
    named = [key for key in operation.tested if table.is_numbering(key) or is_position(key)]
    if found.shell > SHELLS["form"] and named:
        found = replace(found, shell=max(found.shell, SHELLS["other"]))
    positions = [key for key in operation.tested if is_position(key) and table.kind_of(key) != "drawn"]
    return replace(found, is_position=True) if positions else found
