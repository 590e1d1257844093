"""Other tools as parts of a crawl, for the settings of a benchmark's project. They must be installed.

They are what their authors released, but for what keeps them from running here.
"""

import random
from typing import Any

import tldextract
from duplicate_url_discarder import Addon  # type: ignore[import-not-found]  # an extra
from maybedont.scrapy_middleware import AvoidDupContentMiddleware  # type: ignore[import-untyped]

from .peers import patch_maybedont

__all__ = ["Discarder", "MaybeDont"]


class Discarder(Addon):  # type: ignore[misc]
    """duplicate-url-discarder without a look for public suffixes on the network."""

    def update_settings(self, settings: Any) -> None:
        """Install it."""
        tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
        super().update_settings(settings)


class MaybeDont(AvoidDupContentMiddleware):  # type: ignore[misc]
    """MaybeDont 0.1.1, patched for Python 3.11 and later."""

    def __init__(self, **options: Any) -> None:
        random.seed(0)  # by which it decides what it explores
        patch_maybedont()
        super().__init__(**options)
