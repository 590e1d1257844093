"""A URL with one of its parameters dropped, or with another value: every other piece as it stands.

A parameter is one of the query, one of the path (``;sid=1``, ``/sid=1/``), a segment of the path, or a label of the host.
"""

from dataclasses import replace

from .hosts import labels
from .split import Entry, entries_of

__all__ = ["host_of", "is_parameter", "raw_value", "with_value", "without"]

_NAMED = ("q.", "m.", "s.")


def is_parameter(key: str) -> bool:
    """Return whether *key*, of a key-value view, is what URLs can be varied in here.

    >>> [is_parameter(key) for key in ("q.a", "m.sid", "path.0", "host.1", "path.len", "scheme", "q.a[2]")]
    [True, True, True, True, False, False, False]
    """
    if "[" in key:
        return False
    lead, _, rest = key.partition(".")
    return key.startswith(_NAMED) or (lead in ("path", "host") and rest.isdecimal())


def raw_value(url: str, key: str) -> str | None:
    """Return the value of a parameter as *url* spells it.

    None where it has none: it is absent, has no ``=``, or stands there several times.

    >>> raw_value("http://a.example/p?a=%41&b=1", "q.a"), raw_value("http://de.www.a.example/p", "host.2")
    ('%41', 'de')
    """
    if key.startswith("host."):
        return dict(_labels(host_of(url))).get(key)
    found = [entry for entry in entries_of(url) if entry.key == key]
    return found[0].value if len(found) == 1 else None


def without(url: str, key: str) -> str:
    """Return *url* without a parameter, and without its fragment.

    >>> without("http://a.example/p?sid=1&id=2;x=3#top", "q.sid")
    'http://a.example/p?id=2;x=3'
    >>> without("http://a.example/p?sid=1", "q.sid"), without("http://a.example/a/b;sid=1/c", "m.sid")
    ('http://a.example/p', 'http://a.example/a/b/c')
    >>> without("http://a.example/a/b/c", "path.1"), without("http://de.a.example/", "host.1")
    ('http://a.example/a/c', 'http://a.example/')
    """
    return _varied(url, key, None)


def with_value(url: str, key: str, value: str) -> str:
    """Return *url* with another *value* of a parameter, spelled as a URL spells it, and without its fragment.

    >>> with_value("http://a.example/p?sid=1&id=2", "q.sid", "7%20")
    'http://a.example/p?sid=7%20&id=2'
    >>> with_value("http://a.example/a/b", "path.0", "x"), with_value("http://de.www.a.example/", "host.2", "us")
    ('http://a.example/x/b', 'http://us.www.a.example/')
    """
    return _varied(url, key, value)


def host_of(url: str) -> str:
    """Return the host of *url* as it stands, without its port; "" if it has none."""
    return next((entry.text for entry in entries_of(url) if entry.key == "host"), "")


def _varied(url: str, key: str, value: str | None) -> str:
    kept: list[Entry] = []
    lead = ""
    for entry in entries_of(url):
        if entry.key == "fragment":
            continue
        if entry.key == "host" and key.startswith("host."):
            entry = replace(entry, text=_other_host(entry.text, key, value))
        elif entry.key == key:
            if value is None:
                lead = lead or entry.lead
                continue
            name, equals, _ = entry.text.partition("=") if key.startswith(_NAMED) else ("", "", "")
            entry = replace(entry, text=f"{name}{equals or '=' * bool(name)}{value}")
        if lead == "?" and entry.lead in ("&", ";"):
            entry = replace(entry, lead=lead)
        lead = "" if entry.lead == "?" else lead
        kept.append(entry)
    return "".join(entry.lead + entry.text for entry in kept)


def _labels(host: str) -> list[tuple[str, str]]:
    """Return the labels of a host with their keys, the nearest to its registrable domain first."""
    return [(f"host.{number}", label) for number, label in enumerate(labels(host), 1)]


def _other_host(host: str, key: str, value: str | None) -> str:
    found = _labels(host)
    if key not in dict(found):
        return host
    left = [value if name == key else label for name, label in reversed(found)]
    domain = host.split(".", len(found))[-1]
    return ".".join([*(label for label in left if label is not None), domain])
