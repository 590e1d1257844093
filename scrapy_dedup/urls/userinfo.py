"""User names and passwords in URLs, which are not kept."""

import re

_USERINFO = re.compile(r"^(\s*(?:[A-Za-z][A-Za-z0-9+.-]*:)?[/\\]{2,})[^/\\?#]*@")


def without_userinfo(url: str) -> str:
    """Return *url* without the user name and password of its authority.

    >>> without_userinfo("http://me:secret@example.com/a@b")
    'http://example.com/a@b'
    """
    return _USERINFO.sub(r"\1", url) if "@" in url else url
