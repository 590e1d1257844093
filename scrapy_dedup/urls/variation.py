"""A URL with one of its parameters dropped, or with another value: every other piece as it stands."""

from dataclasses import replace

from .split import Entry, entries_of

__all__ = ["raw_value", "with_value", "without"]


def raw_value(url: str, key: str) -> str | None:
    """Return the value of a query parameter as *url* spells it.

    None where it has none: it is absent, has no ``=``, or stands there several times.

    >>> raw_value("http://a.example/p?a=%41&b=1", "q.a")
    '%41'
    """
    found = [entry for entry in entries_of(url) if entry.key == key]
    return found[0].value if len(found) == 1 else None


def without(url: str, key: str) -> str:
    """Return *url* without a query parameter, and without its fragment.

    >>> without("http://a.example/p?sid=1&id=2;x=3#top", "q.sid")
    'http://a.example/p?id=2;x=3'
    >>> without("http://a.example/p?sid=1", "q.sid")
    'http://a.example/p'
    """
    return _varied(url, key, None)


def with_value(url: str, key: str, value: str) -> str:
    """Return *url* with another *value* of a query parameter, spelled as a URL spells it, and without its fragment.

    >>> with_value("http://a.example/p?sid=1&id=2", "q.sid", "7%20")
    'http://a.example/p?sid=7%20&id=2'
    """
    return _varied(url, key, value)


def _varied(url: str, key: str, value: str | None) -> str:
    kept: list[Entry] = []
    lead = ""
    for entry in entries_of(url):
        if entry.key == "fragment":
            continue
        if entry.key == key:
            if value is None:
                lead = lead or entry.lead
                continue
            entry = replace(entry, text=f"{entry.text.partition('=')[0]}={value}")
        if lead == "?" and entry.lead in ("&", ";"):
            entry = replace(entry, lead=lead)
        lead = "" if entry.lead == "?" else lead
        kept.append(entry)
    return "".join(entry.lead + entry.text for entry in kept)
