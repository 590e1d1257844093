"""Keys of URLs in words."""

from typing import Final

from .model import BARE

__all__ = ["key_in_words", "noun_of"]

_NOUNS: Final = {
    "scheme": "the scheme",
    "path": "the order of the segments of the path",
    "path.len": "the number of segments",
    "path.trail": "a slash at the end",
    "ext": "the extension",
    "query": "the order of the parameters",
    "matrix": "the order of the matrix parameters",
    BARE: "a parameter without a value",
}


def key_in_words(key: str) -> str:
    """Return what a key of a URL is, as :func:`noun_of` does, but parameters are named as such.

    >>> key_in_words("q.sid"), key_in_words("path.0"), key_in_words("host.1"), key_in_words("ext")
    ('the parameter sid', 'segment 1 of the path', 'the subdomain', 'the extension')
    """
    is_named = key.startswith("q.") and not key.endswith("*")
    return f"the parameter {noun_of(key)}" if is_named else noun_of(key)


def noun_of(key: str) -> str:
    """Return what a key of a rule is about, as a word of a sentence.

    >>> noun_of("q.sid"), noun_of("path.1"), noun_of("q.*"), noun_of("path.trail")
    ('sid', 'segment 2 of the path', 'every other parameter', 'a slash at the end')
    """
    kind, _, name = key.partition(".")
    if kind in ("q", "m", "s"):
        parameter = {"q": "parameter", "m": "matrix parameter", "s": "segment with a value"}[kind]
        if name.endswith("*"):
            return f"every {parameter} that begins with {name[:-1]}" if name != "*" else f"every other {parameter}"
        return name if kind == "q" else f"the {parameter} {name}"
    if kind == "path" and name.partition(".")[0].isdigit():
        number, _, part = name.partition(".")
        parts = {"head": "the first part of ", "tail": "the last part of "}
        return f"{parts.get(part, '')}segment {int(number) + 1} of the path"
    if kind == "host" and name.isdigit():
        return "the subdomain" if name == "1" else f"label {name} of the subdomain"
    return _NOUNS.get(key, key)
