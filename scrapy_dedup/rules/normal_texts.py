"""Keys, values and predicates of rules as the normal form of a URL writes them."""

import re

from ..urls.percent import path_value, query_value
from ..urls.query_paths import is_segment_key
from .predicates import Literal, OneOf, Predicate

__all__ = ["normal_key", "normal_predicate", "normal_value"]

_repeat = re.compile(r"(.*)(\[[0-9]+\])\Z", re.DOTALL).match


def normal_key(key: str) -> str:
    """Return *key* of a rule as views write it.

    >>> normal_key("q.tag[]"), normal_key("q.tag[1]"), normal_key("q.größe")
    ('q.tag%5B%5D', 'q.tag[1]', 'q.gr%C3%B6%C3%9Fe')
    """
    kind, dot, name = key.partition(".")
    if is_segment_key(key):
        return key
    if kind not in {"q", "m", "s"}:
        return key
    match = _repeat(name)
    name, number = (match[1], match[2]) if match else (name, "")
    name = query_value(name) if kind == "q" else path_value(name).replace("[", "%5B")
    return f"{kind}{dot}{name}{number}"


def normal_value(key: str, value: str) -> str:
    """Return *value* of a rule as the normal form writes it at *key*.

    >>> normal_value("q.title", "été à Paris"), normal_value("host.1", "WWW")
    ('%C3%A9t%C3%A9+%C3%A0+Paris', 'www')
    """
    kind = key.partition(".")[0]
    if kind in {"q", "bare"}:
        return query_value(value)
    if kind in {"scheme", "host"}:
        return value.lower()
    if key in {"path.len", "path.trail"}:
        return value
    return path_value(value)


def normal_predicate(key: str, predicate: Predicate) -> Predicate:
    """Return *predicate* on *key* with its values as the normal form writes them."""
    if isinstance(predicate, Literal):
        return Literal(normal_value(key, predicate.value), predicate.optional)
    if isinstance(predicate, OneOf):
        return OneOf([normal_value(key, value) for value in predicate.values], predicate.optional)
    return predicate
