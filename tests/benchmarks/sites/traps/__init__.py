"""What must not be merged, or must not fire: traps T1 to T30."""

from ..model import Endpoint
from . import pages, queries

TRAPS: dict[str, type[Endpoint]] = {
    kind.id: kind
    for kind in sorted(
        (*queries.KINDS, *pages.KINDS),
        key=lambda kind: int(kind.id[1:]),
    )
}
"""Traps by id."""
