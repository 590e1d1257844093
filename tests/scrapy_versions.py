"""Which Scrapy is installed, for tests of what not every version has."""

from typing import Any

import pytest
import scrapy

#: Such as (2, 13).
SCRAPY = tuple(scrapy.version_info[:2])


def needs_scrapy(major: int, minor: int, what: str) -> Any:
    """Mark a test that is skipped with an older Scrapy, which lacks *what*."""
    return pytest.mark.skipif((major, minor) > SCRAPY, reason=f"Scrapy {major}.{minor} brought {what}")


NEEDS_ASYNC_PROCESS = needs_scrapy(2, 14, "AsyncCrawlerProcess")
NEEDS_TOLD_ERRORS = needs_scrapy(2, 14, "the error that stops a start: 2.13.0 hides it behind one of its own")
NEEDS_NO_REACTOR = needs_scrapy(2, 15, "crawls without a reactor (TWISTED_REACTOR_ENABLED)")
