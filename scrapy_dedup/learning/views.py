"""Views of URLs for learning: the values of a URL by their keys, without what only rules need, and with what only pages tell.

Repeats of a parameter are one value, a value that is a URL is keys of its own, and a parameter without a value that looks drawn is
the value of one key, so that it is dropped whatever it is.
"""

import re
from collections.abc import Iterable
from typing import Final
from urllib.parse import unquote

from ..urls import normal_parts, site_of_url, values_of
from ..urls.hosts import GroupsLike

View = dict[str, str]
"""The values of a URL by their keys."""

REPEATED: Final = "\x1f"
"""Stands between the repeats of a parameter."""
BARE: Final = "q.(bare)"
FILE: Final = "path.file"
_is_drawn = re.compile(r"q\.(?:[0-9]{4,}|(?=.*[0-9])[0-9a-fA-F]{8,})").fullmatch


def view_of(url: str, groups: GroupsLike = None) -> View:
    """Return the view of a URL; nothing of what is no URL with a host.

    >>> view_of("http://www.example.com/a/b.php?u=http://x.example/?s=1&t=1&t=2")["q.u>q.s"]
    '1'
    >>> view_of("http://example.com/a/b.php")["path.file"]
    'b'
    """
    view = {key: value or "" for key, value in values_of(url, groups=groups).items() if key != "path.len"}
    origin, _, query = normal_parts(url)
    if "@" in origin:
        view["user"] = origin.rpartition("@")[0]
    if ";" in query:
        view["separators"] = re.sub("=[^;&]*", "", query)
    for key in [key for key in view if key.endswith("]") and key.partition("[")[0] in view]:
        view[key.partition("[")[0]] += REPEATED + view.pop(key)
    for key in [key for key in view if key.startswith("q.")]:
        if view[key][:4].lower() == "http":
            text = unquote(view[key])
            inner = values_of(text)
            if inner:
                view[key] = "(url)"
                view[f"{key}>host"] = site_of_url(text)
                if "#" in text:
                    view[f"{key}>fragment"] = text.partition("#")[2]
                view.update({f"{key}>{name}": value or "" for name, value in inner.items() if name != "path.len"})
        elif not view[key] and _is_drawn(key):
            del view[key]
            view[BARE] = key[2:]
    if "ext" in view:
        last = len(segments(view)) - 1
        if last >= 0:
            view[FILE] = view.pop(f"path.{last}")
            view["path.trail"] = "/"
    return view


def segments(view: View) -> list[str]:
    """Return the segments of the path, but for a file's name."""
    found: list[str] = []
    while (text := view.get(f"path.{len(found)}")) is not None:
        found.append(text)
    return found


def put_segments(view: View, texts: Iterable[str]) -> None:
    """Put other segments in the place of those of the path."""
    for number in range(len(segments(view))):
        del view[f"path.{number}"]
    view.update((f"path.{number}", text) for number, text in enumerate(texts))


def is_position(key: str) -> bool:
    """Return whether a key is a segment of the path."""
    return key.startswith("path.") and key[5:].isdigit()
