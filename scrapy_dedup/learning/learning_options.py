"""The options of a run of learning, made once from arguments or settings and handed down to each site."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .deadline import NEVER, Deadline
from .evidence.user_names import Names
from .methods.policy import MethodPolicy

Progress = Callable[[str, int, int], None]
"""Takes the current activity, and the observations of the sites that are done and of all sites."""

Fetch = Callable[[str], str | None]
"""Takes a URL, and returns the fingerprint of what it shows when it is fetched again; None where it is not."""

MAX_LOSS = 0.001
"""Default of DEDUP_MAX_LOSS: the share of a site's pages that its rules together may lose."""


@dataclass(frozen=True, slots=True)
class LearningOptions:
    """What a run of learning is asked for. Raises ValueError where the options do not fit together."""

    max_loss: float = MAX_LOSS
    """The share of a site's pages that its rules together may be seen to lose."""
    site_groups: Mapping[str, Sequence[str]] | None = None
    """Name -> domains that are one site."""
    names: Names | None = None
    """The names of parameters whose meaning the user knows."""
    deadline: Deadline = NEVER
    """When to stop: sites that are not begun by then are left out, and of the one that is being
    learned what was found by then is tested and kept."""
    policy: MethodPolicy | None = None
    """The published method that decides, None for the judge."""
    ask: Fetch | None = None
    """Fetches again what decides most, a dozen URLs of a site at most; None where nothing can be fetched."""
    candidates: bool = False
    """Whether to return also the rules by which a crawl may postpone."""
    diagnose: bool = False
    """Whether the reports also say how many pages are nearly alike, which takes a second a site."""
    progress: Progress | None = None
    """Called with how far the learning of several sites is."""

    def __post_init__(self) -> None:
        if not 0 <= self.max_loss < 1:
            raise ValueError(f"max_loss is {self.max_loss!r}: it must be a share from 0 to below 1, such as 0.001")


DEFAULTS = LearningOptions()
