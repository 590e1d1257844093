"""The levels: from one phenomenon on a clean site to everything at once, with noise and drift.

L0: a site for each phenomenon and each trap. L1: three phenomena. L2: all phenomena. L3: all
phenomena and traps. L4: as L3, with 3 % noise, learned from a twentieth of a larger site.
"""

from collections.abc import Sequence
from dataclasses import replace

from .model import Endpoint, Knobs, Site
from .phenomena import PHENOMENA
from .seeded import rng_of
from .traps import TRAPS

LEVELS = ("L0", "L1", "L2", "L3", "L4")
PAGES = {"L0": 200, "L1": 200, "L2": 150, "L3": 150, "L4": 600}
TRAINING = {"L4": 0.05}
"""Share of the rows that is learned from, where a level says so."""


def level_knobs(level: str, knobs: Knobs | None = None) -> Knobs:
    """The knobs of a level; those given are kept but for the pages and L4's noise."""
    given = knobs or Knobs()
    if level not in LEVELS:
        raise ValueError(f"there is no level {level}: there are {', '.join(LEVELS)}")
    if given.pages == Knobs().pages:
        given = replace(given, pages=PAGES[level])
    return replace(given, noise=given.noise or 0.03) if level == "L4" else given


def sites_of(level: str, seed: int, knobs: Knobs | None = None, only: Sequence[str] = ()) -> list[Site]:
    """The sites of a level; *only* names endpoints (``D4``, ``T1``), for each one a site of its own.

    Raises ValueError for a level or an endpoint that there is not.
    """
    chosen = level_knobs(level, knobs)
    if unknown := [name for name in only if name not in KINDS]:
        raise ValueError(f"no phenomenon or trap is called {', '.join(unknown)}")
    if only or level == "L0":
        return [site(f"{name.lower()}-{seed}", seed, [KINDS[name]], chosen) for name in only or KINDS]
    kinds: list[type[Endpoint]]
    if level == "L1":
        kinds = rng_of(seed, "L1").sample(list(PHENOMENA.values()), 3)
    else:
        kinds = list((PHENOMENA if level == "L2" else KINDS).values())
    return [site(f"{level.lower()}-{seed}", seed, kinds, chosen)]


def site(name: str, seed: int, kinds: Sequence[type[Endpoint]], knobs: Knobs) -> Site:
    """A site under a domain that is reserved for examples."""
    return Site(f"{name}.example", seed, kinds, knobs)


KINDS: dict[str, type[Endpoint]] = {**PHENOMENA, **TRAPS}
