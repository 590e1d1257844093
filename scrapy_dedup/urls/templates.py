"""A rough name of the kind of page that a URL leads to."""

import re
from collections.abc import Iterable
from functools import lru_cache

_number = re.compile("[0-9]+").sub
_name = re.compile("(?:^|[&;])([^=&;]*)").findall


# In a crawl several ask in turn about the page that has just come, and the thread of the store asks once more.
@lru_cache(maxsize=1_024)
def template_of(url: str) -> tuple[object, ...]:
    """Return a rough name of the kind of page that *url* leads to, without parsing it.

    >>> template_of("http://a.example/item/12?id=1") == template_of("http://a.example/item/7?id=2")
    True
    >>> template_of("http://a.example/item/12") == template_of("http://a.example/tag/12")
    False
    >>> template_of("http://a.example/a;sid=x/12") == template_of("http://a.example/a;sid=y/12")
    True
    """
    path, _, query = url.partition("#")[0].partition("?")
    segments = path.split("/")
    # The first three are scheme, nothing and host.
    first = _number("0", segments[3].partition(";")[0].partition("=")[0]) if len(segments) > 4 else ""
    return len(segments), first, *sorted(set(_name(query)))


def in_order(templates: Iterable[tuple[object, ...]]) -> tuple[tuple[object, ...], ...]:
    """Return URL templates in an order that does not depend on that in which they come."""
    return tuple(sorted(templates, key=repr))
