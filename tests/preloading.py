"""Modules that commands and crawls load by name, imported by the process that they are forked from.

A reactor is installed by none of them.
"""

import gc
import sys
from collections.abc import Iterable
from contextlib import suppress
from importlib import import_module
from importlib.metadata import entry_points
from pkgutil import walk_packages

import scrapy.commands
from scrapy.settings import default_settings

import scrapy_dedup.crawl
import scrapy_dedup.report


def _named() -> Iterable[str]:
    """The modules of what Scrapy's own settings name: middlewares, extensions, handlers, queues."""
    for value in vars(default_settings).values():
        for each in [*value, *value.values()] if isinstance(value, dict) else [value]:
            if isinstance(each, str) and each.startswith("scrapy.") and each[each.rindex(".") + 1].isupper():
                yield each.rpartition(".")[0]


for _package in (scrapy.commands, scrapy_dedup.crawl, scrapy_dedup.report):
    for _found in walk_packages(_package.__path__, f"{_package.__name__}."):
        with suppress(ImportError):  # what it needs is not installed
            import_module(_found.name)
for _name in _named():
    with suppress(ImportError):  # what its handler needs is not installed
        import_module(_name)
for _command in entry_points(group="scrapy.commands"):
    _command.load()
assert "twisted.internet.reactor" not in sys.modules
gc.freeze()  # what is forked does not copy these when it collects its own
