"""What plugs into Scrapy: the add-on, and the components that it lists.

The components may also be listed by hand, by the names below; they are loaded when they
are first used.
"""

from typing import TYPE_CHECKING

from ..lazy_names import lazy_names

if TYPE_CHECKING:
    from .addon import Addon
    from .decide.cache import SharedCacheStorage
    from .decide.dupefilter import DupeFilter
    from .decide.gate import Gate
    from .items.duplicates import DuplicateItemsPipeline
    from .items.pipeline import TransientPipeline
    from .observe.pages import ArrivalMiddleware, PageMiddleware
    from .observe.recorder import MediaRecorder, RedirectRecorder, RobotsRecorder
    from .verify.sample_gate import SampleGate

__all__ = [
    "Addon",
    "ArrivalMiddleware",
    "DupeFilter",
    "DuplicateItemsPipeline",
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
    "ArrivalMiddleware": ".observe.pages",
    "DupeFilter": ".decide.dupefilter",
    "DuplicateItemsPipeline": ".items.duplicates",
    "Gate": ".decide.gate",
    "MediaRecorder": ".observe.recorder",
    "PageMiddleware": ".observe.pages",
    "RedirectRecorder": ".observe.recorder",
    "RobotsRecorder": ".observe.recorder",
    "SampleGate": ".verify.sample_gate",
    "SharedCacheStorage": ".decide.cache",
    "TransientPipeline": ".items.pipeline",
}

__getattr__ = lazy_names(__name__, _HOMES)
