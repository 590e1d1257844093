"""Download each page once: per-site URL rules, learned from what a crawl sees.

The public names below are loaded when they are first used, so that importing the package for its
functions imports neither Scrapy nor numpy.
"""

from typing import TYPE_CHECKING

from .lazy_names import lazy_names

if TYPE_CHECKING:
    from .crawl.addon import Addon
    from .crawl.items.stripping import strip_transient
    from .learning.learn import learn_rules
    from .masks.files import load_mask, save_mask
    from .masks.learn_mask import learn_mask
    from .masks.model import Mask
    from .observation import Observation
    from .rules.book import RuleBook

__version__ = "0.1.0"

__all__ = [
    "Addon",
    "Mask",
    "Observation",
    "RuleBook",
    "learn_mask",
    "learn_rules",
    "load_mask",
    "save_mask",
    "strip_transient",
]

_HOMES = {
    "Addon": ".crawl.addon",
    "Mask": ".masks.model",
    "Observation": ".observation",
    "RuleBook": ".rules.book",
    "learn_mask": ".masks.learn_mask",
    "learn_rules": ".learning.learn",
    "load_mask": ".masks.files",
    "save_mask": ".masks.files",
    "strip_transient": ".crawl.items.stripping",
}

__getattr__ = lazy_names(__name__, _HOMES)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
