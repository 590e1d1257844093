"""Resolve the demo shop's host names, the mirror's included, without asking any name server."""

from typing import Any

from scrapy.resolver import CachingThreadedResolver
from twisted.internet.defer import Deferred, succeed


class LoopbackResolver(CachingThreadedResolver):
    def getHostByName(self, name: str, timeout: Any = ()) -> "Deferred[str]":
        if name == "localhost" or name.endswith(".localhost"):
            return succeed("127.0.0.1")
        return super().getHostByName(name, timeout)
