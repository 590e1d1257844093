"""Which URLs are analysed together: those of a host and path, of a host, of a domain, or all.

Source: url-parameter-relevance, the passage on clusters of URLs.
"""

from collections.abc import Iterable
from enum import Enum
from urllib.parse import urlsplit

from ....urls import normal_form, registrable
from .columns import FingerprintedUrl

MINIMUM_SIZE = 20
"""URLs that a cluster needs for rules to be made of it (the document: a fixed number)."""


class Scope(str, Enum):
    """What the URLs of a cluster have in common."""

    HOST_PATH = "host/path"
    HOST = "host"
    DOMAIN = "domain"
    ANY = "any"

    __str__ = str.__str__


def cluster_name(url: str, scope: Scope) -> str:
    """Return what *url* shares with the other URLs of its cluster; "" for all URLs, and for no URL.

    >>> [cluster_name("http://www.site.com/a/b?c=1", scope) for scope in Scope]
    ['www.site.com/a/b', 'www.site.com', 'site.com', '']
    """
    if scope is Scope.ANY:
        return ""
    try:
        parts = urlsplit(normal_form(url))
        host = parts.hostname or ""
    except ValueError:
        return ""
    if scope is Scope.HOST_PATH:
        return host + parts.path
    return host if scope is Scope.HOST else registrable(host)


def clusters(
    pages: Iterable[FingerprintedUrl], scope: Scope, minimum: int = MINIMUM_SIZE
) -> dict[str, list[FingerprintedUrl]]:
    """Return the clusters of *pages* by name, those of fewer than *minimum* URLs left out."""
    found: dict[str, list[FingerprintedUrl]] = {}
    for page in pages:
        found.setdefault(cluster_name(page.url, scope), []).append(page)
    return {name: members for name, members in found.items() if len(members) >= minimum}
