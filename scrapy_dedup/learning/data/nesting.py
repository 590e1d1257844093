"""Sites whose URLs are nested in those of others: learned first, so that these know what makes no difference in them.

Source: url-parameter-relevance, the passage on query parameters that are URLs.
"""

import re
from collections.abc import Iterable, Mapping
from collections.abc import Set as AbstractSet
from urllib.parse import unquote

from ...urls import GroupsLike, site_of_url

_inner = re.compile(r"=(https?(?::|%3a)(?:/|%2f){2}(?:(?!%2f|%3f)[^/?&;#])*)", re.IGNORECASE).findall
"""Finds the beginnings, with the host, of values that are URLs."""


def inner_sites(urls: Iterable[str], site: str, groups: GroupsLike = None) -> frozenset[str]:
    """Return the sites, other than *site*, of the URLs that parameters of *urls* have as values.

    >>> sorted(inner_sites(["http://a.com/?url=http%3A%2F%2Fb.com%2F", "http://a.com/?id=1"], "a.com"))
    ['b.com']
    """
    # Of a URL itself "http" is the beginning: most URLs need no further look.
    beginnings = {found for url in urls if url.find("http", 8) > 0 for found in _inner(url)}
    return frozenset(site_of_url(unquote(found), groups=groups) for found in beginnings) - {site, ""}


def innermost_first(nested: Mapping[str, AbstractSet[str]]) -> list[str]:
    """Return the sites, each after those whose URLs are nested in its own; of a circle, as the names have it.

    >>> innermost_first({"a.com": {"c.com", "z.com"}, "b.com": set(), "c.com": {"a.com", "b.com"}})
    ['b.com', 'c.com', 'a.com']
    """
    order: dict[str, None] = {}
    seen: set[str] = set()
    for site in sorted(nested):
        # Depth first, without recursion: chains of sites may be long.
        stack = [(site, False)]
        while stack:
            name, done = stack.pop()
            if done:
                order[name] = None
            elif name not in seen:
                seen.add(name)
                stack.append((name, True))
                stack += [(other, False) for other in sorted(nested[name], reverse=True) if other in nested]
    return list(order)
