"""Examples of passing texts, fit to be shown in a file that gets committed."""

import re
from collections.abc import Iterable

from ...urls import class_of
from .evidence import Change

__all__ = ["examples_of", "shown"]

_MOST = 3
_LONGEST = 80
# What may be a key to something: long runs of letters and digits together, long numbers, what looks encoded.
_token = re.compile(r"[0-9A-Za-z_+=%~\-]{12,}").sub
_account = re.compile(r"[\w.+-]+@[\w-]+\.[\w.-]+").sub


def examples_of(changes: Iterable[Change]) -> tuple[str, ...]:
    """Return up to three different texts of *changes*, without what may be a secret."""
    found: dict[str, None] = {}
    for change in changes:
        for side in (change.before, change.after):
            for text in side:
                found.setdefault(shown(text))
                if len(found) >= _MOST:
                    return tuple(found)
    return tuple(found)


def shown(text: str) -> str:
    """Return a text as it may be shown: short, tokens and addresses of people replaced by what they look like.

    >>> shown("hello 0123456789abcdef0123456789abcdef, me@example.com")
    'hello <hex32>, …'
    >>> shown("Today is Monday")
    'Today is Monday'
    """
    text = _token(_label, _account("…", text))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _label(found: re.Match[str]) -> str:
    value = found[0]
    if not any(map(str.isdigit, value)) and ("-" in value or "_" in value or value.islower() or value.istitle()):
        return value  # a word, or words
    if not any(map(str.isdigit, value)) and len(value) < 20:
        return value
    shape = class_of([value])
    return f"<{shape}>" if shape.name in {"hex", "int"} else f"<{shape.name}>" if shape.name == "uuid" else "…"
