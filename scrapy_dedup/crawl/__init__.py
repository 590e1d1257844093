"""What plugs into Scrapy: the add-on, and the components that it lists.

The components may also be listed by hand, by the names below; they are loaded when they
are first used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .addon import Addon
    from .cache import SharedCacheStorage
    from .discards import DuplicateDiscarded
    from .dupefilter import DupeFilter
    from .gate import Gate
    from .pages import ArrivalMiddleware, PageMiddleware
    from .pipeline import TransientPipeline
    from .recorder import MediaRecorder, RedirectRecorder, RobotsRecorder
    from .sample_gate import SampleGate

__all__ = [
    "Addon",
    "ArrivalMiddleware",
    "DupeFilter",
    "DuplicateDiscarded",
    "Gate",
    "MediaRecorder",
    "PageMiddleware",
    "RedirectRecorder",
    "RobotsRecorder",
    "SampleGate",
    "SharedCacheStorage",
    "TransientPipeline",
]

_HOMES = {
    "Addon": ".addon",
    "ArrivalMiddleware": ".pages",
    "DupeFilter": ".dupefilter",
    "DuplicateDiscarded": ".discards",
    "Gate": ".gate",
    "MediaRecorder": ".recorder",
    "PageMiddleware": ".pages",
    "RedirectRecorder": ".recorder",
    "RobotsRecorder": ".recorder",
    "SampleGate": ".sample_gate",
    "SharedCacheStorage": ".cache",
    "TransientPipeline": ".pipeline",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(import_module(_HOMES[name], __name__), name)
    return value
