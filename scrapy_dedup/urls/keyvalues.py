"""The values of a URL: a dictionary from its keys, which rules and learners see.

They are read from the normal form, so that URLs that are always the same page have the same values, and a rule says one
thing of both. What a URL is in its own order and spelling are its *entries* (:mod:`.split`).
"""

from collections.abc import Mapping

from .deep_tokens import DeepSplit, deep_values
from .hosts import GroupsLike, SiteGroups
from .normal_form import normal_parts
from .origins import origin_of
from .paths import path_values, put
from .query_paths import SEGMENT_KEY, SLASH, query_path

__all__ = ["site_of_url", "values_of"]


def values_of(
    url: str,
    *,
    groups: GroupsLike = None,
    deep: Mapping[str, DeepSplit] | None = None,
) -> dict[str, str | None]:
    """Return the values of *url*, which may be any text, by their keys.

    An absent key is not among them; ``""`` is the value of an empty one, None that of a matrix parameter without ``=``. A
    text that is no URL with a host has no values.

    >>> for key, value in values_of("http://www.example.com/shop/red.html;v=2?b=&a=1&a=0#top").items():
    ...     print(key, value)
    scheme http
    host.1 www
    path.0 shop
    path.1 red
    ext html
    m.v 2
    path.len 2
    q.a 0
    q.a[1] 1
    q.b

    *groups* are the site groups, *deep* the deep tokens of the URL's site.
    """
    _, values = _site_and_values(url, SiteGroups.of(groups))
    if deep:
        deep_values(values, deep)
    return values


def site_of_url(url: str, *, groups: GroupsLike = None) -> str:
    """Return the site of *url*; "" where it has none.

    >>> site_of_url("https://me:secret@www.Example.com:443/x")
    'example.com'
    """
    return origin_of(normal_parts(url)[0], SiteGroups.of(groups)).site


def _site_and_values(url: str, groups: SiteGroups) -> tuple[str, dict[str, str | None]]:
    origin_text, path, query = normal_parts(url)
    if not origin_text:
        return "", {}
    origin = origin_of(origin_text, groups)
    values: dict[str, str | None] = dict(origin.values)
    path_values(path, values)
    if query:
        query_values(query, values)
    return origin.site, values


def query_values(query: str, values: dict[str, str | None]) -> None:
    """Put the keys and values of *query*, in normal form, into *values*."""
    repeats: dict[str, int] = {}
    path = query_path(query)
    for piece in query.replace(";", "&").split("&"):
        name, _, value = piece.partition("=")
        if path and name == path and not value:
            values.update((f"{SEGMENT_KEY}{n}", text) for n, text in enumerate(path.split(SLASH)))
            path = ""
            continue
        key = "q." + name
        if key in values:
            put(values, repeats, key, value)
        else:
            values[key] = value
