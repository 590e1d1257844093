"""Kinds of pages: path patterns, without the query, that tell sections of a site apart."""

import re
from functools import lru_cache
from typing import Final
from urllib.parse import urlsplit

__all__ = ["kind_of", "matches", "path_of"]

_SINGLE: Final = "/*"

_digits = re.compile("[0-9]+").sub
_document = re.compile(r".*\.x?html?", re.IGNORECASE).fullmatch


def kind_of(url: str) -> str:
    """Return the kind of the page at *url*.

    A single segment that names a program (it has an extension, or a query behind it) is a kind of its own. Of several segments
    the first one counts, its digits as one 0.

    >>> [kind_of(f"http://a.test{path}") for path in ("", "/products/5", "/2024/05/news", "/about", "/a-page.html")]
    ['/', '/products/*', '/0/*/*', '/*', '/*.html']
    >>> [kind_of(f"http://a.test{path}") for path in ("/item?id=5", "/viewtopic.php", "/news/", "/shop12/a/?page=2")]
    ['/item', '/viewtopic.php', '/*', '/shop0/*']
    """
    path, query = _parts(url)
    first, *rest = path[1:].split("/")
    if rest:
        return f"/{_digits('0', first)}" + "/*" * len(rest)
    if _document(first):
        return f"/*{first[first.rindex('.') :].lower()}"
    return f"/{_digits('0', first)}" if not first or query or "." in first else _SINGLE


def path_of(url: str) -> str:
    """Return the path of *url*, without a slash at its end."""
    return _parts(url)[0]


def matches(pattern: str, kind: str, path: str) -> bool:
    """Return whether a page of a *kind*, at a *path*, is one that a pattern means.

    In a pattern ``*`` stands for anything within a segment, and ``**`` for all the rest. ``/*`` alone means the kind of this name.
    A pattern without any means the page at that path.

    >>> matches("/news/**", "/news/*/*", "/news/a/b"), matches("/about", "/*", "/about"), matches("/*", "/item", "/item")
    (True, True, False)
    """
    pattern = pattern.rstrip("/") or "/"
    return pattern in (kind, path) or (pattern != _SINGLE and _compiled(pattern).fullmatch(kind) is not None)


@lru_cache(maxsize=4096)
def _compiled(pattern: str) -> "re.Pattern[str]":
    first, slash, rest = pattern.removeprefix("/").partition("/")
    text = f"/{_digits('0', first)}{slash}{rest}"
    # Runs of stars are one: each of several would try all lengths.
    one = {"*": "[^/]*"}
    parts = [
        one.get(part, ".*") if number % 2 else re.escape(part) for number, part in enumerate(re.split(r"(\*+)", text))
    ]
    return re.compile("".join(parts), re.DOTALL)


@lru_cache(maxsize=1024)
def _parts(url: str) -> tuple[str, str]:
    try:
        parts = urlsplit(url)
    except ValueError:
        return "/", ""
    return "/" + parts.path.strip("/"), parts.query
