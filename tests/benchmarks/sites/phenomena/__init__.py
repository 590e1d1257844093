"""What must be merged: phenomena D1 to D30."""

from ..model import Endpoint
from . import paths, queries

PHENOMENA: dict[str, type[Endpoint]] = {
    kind.id: kind
    for kind in sorted(
        (*queries.KINDS, *paths.KINDS),
        key=lambda kind: int(kind.id[1:]),
    )
}
"""Phenomena by id."""
