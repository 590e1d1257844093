"""What was seen: observations, page sketches and discards, in a database.

The store is loaded when it is first used: SQLAlchemy is not imported for its rows.
"""

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .store import Store

__all__ = ["Store"]

__getattr__ = lazy_names(__name__, {"Store": ".store"})
