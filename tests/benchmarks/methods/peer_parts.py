"""Other tools as parts of a crawl, for the settings of a benchmark's project. They must be installed.

They are what their authors released, but for what keeps them from running here.
"""

import random
from typing import Any

import tldextract
from duplicate_url_discarder import Addon  # type: ignore[import-not-found]  # an extra
from maybedont import predict  # type: ignore[import-untyped]
from maybedont.scrapy_middleware import AvoidDupContentMiddleware  # type: ignore[import-untyped]
from w3lib.url import canonicalize_url

__all__ = ["Discarder", "MaybeDont"]


class Discarder(Addon):  # type: ignore[misc]
    """duplicate-url-discarder without a look for public suffixes on the network."""

    def update_settings(self, settings: Any) -> None:
        """Install it."""
        tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
        super().update_settings(settings)


class _Sampling:
    """``random`` as it was before Python 3.11: ``sample`` takes a set."""

    rng = random.Random(0)

    @classmethod
    def sample(cls, population: Any, count: int) -> list[Any]:
        return cls.rng.sample(sorted(population), count)


class MaybeDont(AvoidDupContentMiddleware):  # type: ignore[misc]
    """MaybeDont 0.1.1, patched for Python 3.11 and later."""

    def __init__(self, **options: Any) -> None:
        random.seed(0)  # by which it decides what it explores
        predict.random = _Sampling
        predict.canonicalize_url = lambda url: canonicalize_url(url, keep_fragments=True)
        super().__init__(**options)
