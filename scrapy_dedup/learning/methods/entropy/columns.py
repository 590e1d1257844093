"""The URLs of a cluster as columns of values, one column a parameter.

Parameters are the keys of the key-value view: query parameters, path components (``path.0``), the
labels of the host before its domain (``host.1``), matrix parameters and key=value segments. Values
are in normal form, so that escapes which mean the same are the same. Source: url-parameter-relevance,
the passages on the query, on path components, on the host prefix and on unescaping; FIG. 2 on the
keys that a significant prefix settles.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

from ....urls import GroupsLike, normal_form, values_of
from ..affixes import significant_prefixes, uniform
from .information import UNUSED, Unused

Value = str | Unused
Column = list[Value]

MAX_KEYS = 200
"""Parameters of a cluster that are looked at, those that most URLs have."""

QUERY = ("q.",)
PATH = ("path.", "ext", "m.", "s.")
HOST = ("host.",)

_NOT_A_PART = frozenset({"path.len", "path.trail"})


@dataclass(frozen=True, slots=True)
class FingerprintedUrl:
    """A URL, and the fingerprint of the content it led to."""

    url: str
    fingerprint: Hashable


def columns(
    pages: Sequence[FingerprintedUrl],
    kinds: tuple[str, ...] = QUERY,
    *,
    groups: GroupsLike = None,
    skipped: Iterable[str] = (),
) -> dict[str, Column]:
    """Return, per parameter of one of *kinds*, its value in each URL, UNUSED where it has none.

    *skipped* are keys that need no analysis (see :func:`keys_inside`). O(URLs x parameters).
    """
    views = [values_of(page.url, groups=groups) for page in pages]
    without = _NOT_A_PART.union(skipped)
    seen = Counter(key for view in views for key in view if key.startswith(kinds) and key not in without)
    chosen = sorted(seen, key=lambda key: (-seen[key], key))[:MAX_KEYS]
    return {key: [(view[key] or "") if key in view else UNUSED for view in views] for key in sorted(chosen)}


def settled_keys(pages: Sequence[FingerprintedUrl], *, groups: GroupsLike = None) -> frozenset[str]:
    """Return the keys that a significant prefix of all URLs of a cluster settles: they need no analysis.

    >>> pages = [FingerprintedUrl(f"http://site.com/show?id={i}&lang=en", i) for i in range(9)]
    >>> sorted(settled_keys(pages)), sorted(settled_keys(pages[:1]))
    (['path.0', 'scheme'], [])
    """
    urls = [normal_form(page.url) for page in pages]
    shared = [affix for affix in significant_prefixes(urls, model=uniform()) if affix.count == len(urls)]
    return keys_inside(max((affix.text for affix in shared), key=len, default=""), groups=groups)


def keys_inside(prefix: str, *, groups: GroupsLike = None) -> frozenset[str]:
    """Return the keys whose values a prefix of URLs holds whole.

    In a group of URLs with this significant prefix they are the same everywhere: only the others need
    to be analysed.

    >>> sorted(keys_inside("http://www.site.com/app/show?lang=en&id=1"))
    ['host.1', 'path.0', 'path.1', 'q.lang', 'scheme']
    >>> sorted(keys_inside("http://site.com/ap"))
    ['scheme']
    """
    end = max(prefix.rfind(mark) for mark in "/?&;")
    if end < len("https://"):
        return frozenset()
    whole = values_of(prefix[:end], groups=groups)
    if prefix[end] == "/" and "?" not in prefix:
        whole.pop("ext", None)  # of a folder
    return frozenset(whole) - _NOT_A_PART
