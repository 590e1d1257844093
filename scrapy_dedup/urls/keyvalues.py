"""A URL as keys and values, and back.

Two views of one URL:

- its *values*: what the URL means, the dictionary that rules and learners see.
  They are read from the normal form, so URLs that are always the same page have
  the same values, and a rule says one thing of both.
- its *entries*: what the URL is, piece by piece in its own order and spelling,
  with user name and fragment. Composed, they are the URL again, whatever it is.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from .deep_tokens import DeepSplit, deep_values
from .hosts import GroupsLike, SiteGroups
from .normal_form import normal_parts
from .origins import origin_of
from .paths import path_values, put
from .query_paths import SEGMENT_KEY, SLASH, query_path
from .split import Entry, entries_of

__all__ = ["KeyValueView", "compose", "site_of_url", "values_of", "view_of"]


@dataclass(frozen=True, slots=True)
class KeyValueView:
    """A URL, its site and its values.

    ``values``: key -> value; an absent key is not in it, ``""`` is the value of an
    empty one, None that of a matrix parameter without ``=``. A text that is no URL
    with a host has no site, "", and no values.
    """

    url: str
    site: str
    values: dict[str, str | None]

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The URL's pieces, in its order."""
        return entries_of(self.url)


def view_of(
    url: str,
    *,
    groups: GroupsLike = None,
    deep: Mapping[str, DeepSplit] | None = None,
) -> KeyValueView:
    """Return the key-value view of *url*, which may be any text.

    >>> view = view_of("http://www.example.com/shop/red.html;v=2?b=&a=1&a=0#top")
    >>> view.site
    'example.com'
    >>> for item in view.values.items():
    ...     print(*item)
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
    >>> compose(view)
    'http://www.example.com/shop/red.html;v=2?b=&a=1&a=0#top'

    *groups* are the site groups, *deep* the deep tokens of the URL's site.
    """
    site, values = _site_and_values(url, SiteGroups.of(groups))
    if deep:
        deep_values(values, deep)
    return KeyValueView(url, site, values)


def values_of(
    url: str,
    *,
    groups: GroupsLike = None,
    deep: Mapping[str, DeepSplit] | None = None,
) -> dict[str, str | None]:
    """Return the values of :func:`view_of`, and only these.

    >>> values_of("http://example.com/?C=N;O=D")
    {'scheme': 'http', 'path.len': '0', 'q.C': 'N', 'q.O': 'D'}
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


def compose(view: KeyValueView) -> str:
    """Return the URL that *view* is of, put together from its entries."""
    return "".join([entry.lead + entry.text for entry in view.entries])


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
