"""The always-safe normal form of a URL.

Two URLs have one normal form when RFC 3986 (section 6.2) calls them equivalent
or when :func:`w3lib.url.canonicalize_url`, by which Scrapy tells requests apart,
does; nothing here can change the page.

Nearly all URLs of a crawl are plain: http or https, a host without brackets or
user name, ASCII. Those are brought to their normal form here, by regular
expressions. All others are left to w3lib, whose result is mended and passed on
until it no longer changes.
"""

import re
from contextlib import suppress

from w3lib.url import canonicalize_url

from .hosts import LONGEST_NAME
from .percent import is_normal_groups, is_normal_query, mended_query, normal_params, normal_path, remove_dot_segments

__all__ = ["normal_form", "normal_parts"]

_DEFAULT_PORTS = {"http": "80", "https": "443", "ws": "80", "wss": "443", "ftp": "21"}

_ORIGIN = r"((?i:https?)://[A-Za-z0-9._\-]+(?::[0-9]*)?)"
# Origin, a path that is in normal form but for dot segments, query.
_PLAIN = re.compile(
    _ORIGIN + r"(/[A-Za-z0-9\-._~!$&'()*+,;=:@/]*"
    r"(?:%(?:[0189A-F][0-9A-F]|2[0235F]|3[BCEF]|5[CE]|60|7[BDF])"
    r"[A-Za-z0-9\-._~!$&'()*+,;=:@/]*)*)"
    r"(?:\?([^#]*))?(?<![\x00-\x20])(?:#.*)?\Z",
    re.DOTALL,
).match
# The same of any path.
_LOOSE = re.compile(_ORIGIN + r"(/[^?#]*)?(?:\?([^#]*))?(?:#.*)?(?<![\x00-\x20])\Z", re.DOTALL).match
_LONG_HOST = re.compile(rf"[^/?#]*//(?:[^/?#@]*@)*[^/?#@]{{{LONGEST_NAME + 1}}}").match
_HIERARCHICAL = re.compile(r"([a-z][a-z0-9+.\-]*)://([^/?#]*)([^?#]*)(?:\?([^#]*))?\Z", re.DOTALL).match

# Origins as they were met -> in normal form. A crawl meets few; cleared when full.
_origins: dict[str, str] = {}
_MANY_ORIGINS = 20_000


def normal_form(url: str) -> str:
    """Return the normal form of *url*; never raises, whatever the text is.

    >>> normal_form("HTTP://Example.com:80/a/../%7eb?z=1&y=%c3%a9#top")
    'http://example.com/~b?y=%C3%A9&z=1'
    >>> normal_form("http://example.com:99999/") # no URL: as it is
    'http://example.com:99999/'

    A user name or password is a part of the normal form, as it is for Scrapy; a
    fragment is not.
    """
    origin, path, query = normal_parts(url)
    return f"{origin}{path}?{query}" if query else origin + path


def normal_parts(url: str) -> tuple[str, str, str]:
    """Return (origin, path, query) of the normal form of *url*.

    The origin is ``scheme://host`` with what else stands before the path; the
    query is without ``?`` and empty when there is none. Of a text that is not a
    hierarchical URL all is path.

    >>> normal_parts("http://example.com?b&a=1")
    ('http://example.com', '/', 'a=1&b=')
    >>> normal_parts("mailto:a@example.com")
    ('', 'mailto:a@example.com', '')
    """
    match = _PLAIN(url)
    if match is None:
        return _mended_parts(url)
    origin, path, query = match.groups()
    known = _origins.get(origin)
    if known is None:
        known = _normal_origin(origin)
        if not known:
            return _parts_by_w3lib(url)
    if "/." in path or (";" in path and ("%" in path or path[-1] == ";")):
        path = normal_path(path)
    if query:
        try:
            return known, path, _normal_query(query)
        except (KeyError, ValueError):
            return _parts_by_w3lib(url)
    return known, path, ""


def _normal_query(query: str) -> str:
    """Return *query* (without ``?``) in normal form: pieces sorted, escapes normal.

    ``a`` and ``a=`` are one, empty pieces are nothing, as in ``canonicalize_url``.

    >>> _normal_query("b=2&a=%7e&a")
    'a=&a=~&b=2'
    >>> _normal_query("C=N;O=D"), _normal_query("C=N%3bO%3DD"), _normal_query("a=1;2")
    ('C=N;O=D', 'C=N;O=D', 'a=1%3B2')

    Raises KeyError or ValueError for control characters and lone surrogates.
    """
    if ";" in query or "%3B" in query:
        if "%3B" in query or not is_normal_groups(query):
            query = mended_query(query)
    elif not is_normal_query(query):
        query = mended_query(query)
    if "&" in query:
        pieces = query.split("&")
        pieces.sort()
        return "&".join(pieces)
    return query


def _mended_parts(url: str) -> tuple[str, str, str]:
    match = _LOOSE(url)
    if match is None:
        return _parts_by_w3lib(url)
    origin, path, query = match.groups()
    known = _origins.get(origin) or _normal_origin(origin)
    if not known:
        return _parts_by_w3lib(url)
    try:
        return known, normal_path(path or "/"), _normal_query(query or "")
    except (KeyError, ValueError):
        return _parts_by_w3lib(url)


def _normal_origin(origin: str) -> str:
    """Return *origin*, which matches ``_ORIGIN``, in normal form; "" if its port is none."""
    scheme, _, netloc = origin.lower().partition("://")
    host, _, port = netloc.partition(":")
    port = port.lstrip("0") or port[:1]
    if len(port) > 5 or int(port or 0) > 65535:
        return ""
    if port and port != _DEFAULT_PORTS[scheme]:
        host = f"{host}:{port}"
    if len(_origins) >= _MANY_ORIGINS:
        _origins.clear()
    normal = _origins[origin] = f"{scheme}://{host}"
    return normal


def _parts_by_w3lib(url: str) -> tuple[str, str, str]:
    """Return the parts of the fixed point that *url* leads to.

    ``canonicalize_url`` is not idempotent: ``/%%36%31`` -> ``/%61`` -> ``/a``.
    Each round undoes escapes and so shortens the text, which bounds the rounds
    by the logarithm of its length.
    """
    if (host := _LONG_HOST(url)) and not host[0].isascii():
        return "", url, ""  # no name of a host, and w3lib would take the square of its length
    seen: list[str] = []
    while url not in seen:
        seen.append(url)
        if len(seen) > 64:  # not known to happen; the text itself is a fixed answer
            return "", seen[0], ""
        try:
            url = _mended(canonicalize_url(url))
        except (ValueError, LookupError, TypeError, AttributeError):
            return "", url, ""  # not a URL for w3lib (a port of 99999, half an IPv6 address)
    url = min(seen[seen.index(url) :])
    match = _HIERARCHICAL(url)
    if match is None:
        return "", url, ""
    scheme, netloc, path, query = match.groups()
    return f"{scheme}://{netloc}", path, query or ""


_HOST_ESCAPE = re.compile(r"%(?:[2-7][0-9A-Fa-f])")


def _mended(url: str) -> str:
    """Return what ``canonicalize_url`` returned, with what RFC 3986 adds to it."""
    match = _HIERARCHICAL(url)
    if match is None:
        return url
    scheme, netloc, path, query = match.groups()
    userinfo, at, host = netloc.rpartition("@")
    if "%" in host and "[" not in host:
        host = _HOST_ESCAPE.sub(_unreserved, host)
    default = _DEFAULT_PORTS.get(scheme)
    if default and host.endswith(f":{default}"):
        host = host[: -len(default) - 1]
    if path.startswith("/"):
        path = _path_with_params(path)
    query = _normal_query(query) if query else ""
    url = f"{scheme}://{userinfo}{at}{host}{path}"
    return f"{url}?{query}" if query else url


def _unreserved(match: re.Match[str]) -> str:
    char = chr(int(match[0][1:], 16))
    return char.lower() if char.isalnum() or char in "-._~" else match[0]


def _path_with_params(path: str) -> str:
    path, semicolon, params = path.rpartition("/")[::1]
    head, mark, tail = params.partition(";")
    if mark:
        with suppress(KeyError, ValueError):  # a "%" that is no escape stays
            tail = normal_params(tail)
    return remove_dot_segments(f"{path}{semicolon}{head}") + mark + tail
