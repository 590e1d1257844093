"""Examples of transient texts, fit to be shown in a file that gets committed."""

import re
from collections.abc import Iterable, Sequence

from ....urls import class_of
from ...path import Example
from ..counts.place_counts import Change

__all__ = ["example_of", "examples_of", "shown"]

_LONGEST = 80
_AROUND = 20
"""Characters that are shown before the first one that differs, of a long text."""
# What may be a key to something: long runs of letters and digits together, long numbers, what looks encoded.
_token = re.compile(r"[0-9A-Za-z_+=%~\-]{12,}").sub
_name = re.compile(r"([A-Za-z][A-Za-z_\-]{0,30}=)(.+)", re.DOTALL).fullmatch
# Words with short numbers between them, as addresses of pages have: in a token letters and digits are mixed.
_slug = re.compile(r"(?=.*[A-Za-z]{3})(?:[A-Za-z]+|[0-9]{1,8})(?:[\-_](?:[A-Za-z]+|[0-9]{1,8}))+").fullmatch
_cut = re.compile(r"[^\w+=%~\-@.]").finditer
# Each run of letters is taken as a whole, so that a text of one endless word is looked at once.
_accounts = re.compile(r"[\w.+-]+(@[\w-]+\.[\w.-]+)?").sub


def examples_of(changes: Iterable[Change]) -> tuple[Example, ...]:
    """Return one of *changes* as (before, after), without what may be a secret; the first that shows a difference.

    Nothing where there is no change.
    """
    return example_of((change.before, change.after) for change in changes)


def example_of(pairs: Iterable[tuple[Sequence[str], Sequence[str]]]) -> tuple[Example, ...]:
    """As :func:`examples_of`, of the texts of a place before each change, and after it."""
    best: tuple[int, Example] | None = None
    for before, after in pairs:
        if list(before) == list(after):
            continue
        found = _shown_pair(_one_not_in(before, after), _one_not_in(after, before))
        worth = (found[0] != found[1]) + all(found)
        if best is None or worth > best[0]:
            best = worth, found
        if worth == 2:
            break
    return (best[1],) if best is not None else ()


def _one_not_in(texts: Sequence[str], others: Sequence[str]) -> str:
    """Return the first of *texts* that is not among *others*, or else stands where another does; "" for none."""
    known = set(others)
    own = [text for text in texts if text not in known]
    own += [text for at, text in enumerate(texts) if at >= len(others) or others[at] != text]
    return own[0] if own else ""


def _shown_pair(before: str, after: str) -> Example:
    """Return two texts as they may be shown; of long ones what stands where they begin to differ."""
    if max(len(before), len(after)) > _LONGEST and before and after:
        # Tokens are not cut in two: what may be a secret is seen to be one.
        same = next((at for at, both in enumerate(zip(before, after, strict=False)) if both[0] != both[1]), 0)
        cuts = _cut(before, 0, max(same - _AROUND, 0))
        at = max((found.start() for found in cuts), default=0)
        if at:
            return "…" + shown(before[at:])[: _LONGEST - 1], "…" + shown(after[at:])[: _LONGEST - 1]
    return shown(before), shown(after)


def shown(text: str) -> str:
    """Return a text as it may be shown: short, tokens and addresses of people replaced by what they look like.

    >>> shown("/basket?token=0123456789abcdef0123456789abcdef")
    '/basket?token=<hex32>'

    >>> shown("hello 0123456789abcdef0123456789abcdef, me@example.com")
    'hello <hex32>, …'
    >>> shown("Today is Monday")
    'Today is Monday'
    """
    text = _token(_label, _accounts(_of_nobody, text))
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _of_nobody(found: re.Match[str]) -> str:
    """Return a word as it is, and nothing of an address of a person."""
    return "…" if found[1] else found[0]


def _label(found: re.Match[str]) -> str:
    value = found[0]
    named = _name(value)
    if named is not None and any(map(str.isdigit, named[2])):
        return named[1] + (named[2] if named[2].isdecimal() and len(named[2]) < 9 else _looks(named[2]))
    if _slug(value) is not None:
        return value
    if not any(map(str.isdigit, value)) and ("-" in value or "_" in value or value.islower() or value.istitle()):
        return value  # a word, or words
    if not any(map(str.isdigit, value)) and len(value) < 20:
        return value
    return _looks(value)


def _looks(value: str) -> str:
    shape = class_of([value])
    return f"<{shape}>" if shape.name in {"hex", "int"} else f"<{shape.name}>" if shape.name == "uuid" else "…"
