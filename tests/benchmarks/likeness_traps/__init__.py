"""Sites on which responses that look alike are different pages, each served as a real one (see ``site``)."""

from collections.abc import Callable
from typing import Final

from .known import FURTHER, KNOWN
from .site import PER_INDEX, Page, Response, TrapSite

__all__ = ["PER_INDEX", "TRAPS", "Page", "Response", "TrapSite", "trap_site"]

TRAPS: Final[dict[str, Callable[[TrapSite], None]]] = {trap.__name__: trap for trap in (*KNOWN, *FURTHER)}


def trap_site(name: str, seed: int = 5) -> TrapSite:
    """The site of a trap, with its index pages."""
    site = TrapSite(name, seed)
    TRAPS[name](site)
    site.finish()
    return site
