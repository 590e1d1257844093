"""Operations compiled: each is an action on one value of one key.

An action takes the value as the normal form writes it and returns its new text, or
one of the marks below. Texts that come from a rule file or from another key are
written as the normal form of their place would write them, so that an action can
never add a parameter or a segment by a stray ``&`` or ``/``.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cached_property
from typing import Final
from urllib.parse import unquote_to_bytes

from ..urls import PLACEHOLDER, ValueClass
from ..urls.percent import lower_first, lower_value
from .operations import (
    LONGEST_TEXT,
    Anchored,
    AnyOrder,
    Declared,
    Ignore,
    IgnoreValue,
    Keep,
    Lower,
    Nested,
    Operation,
    Replace,
    Set,
    SetOfValues,
)
from .predicates import normal_key, normal_value


class Mark(Enum):
    """Outcomes that are no text."""

    #: The operation does not apply to this value.
    PASS = "pass"  # noqa: S105
    #: The key is dropped, whatever its value.
    DROP = "drop"
    #: The value stays, whatever other operations do.
    KEEP = "keep"
    #: This very value is dropped: a path segment is cut out.
    CUT = "cut"


Outcome = str | Mark


#: (id of the rule, key, value that it changed); of an added key the value is None.
Change = tuple[str, str, str | None]


class Context:
    """The rest of the URL that an action works on: its other keys, and nested URLs.

    The values are computed on first access.
    """

    def __init__(
        self,
        values: Callable[[], Mapping[str, str | None]],
        nested: Callable[[str, Nested], str] | None,
    ) -> None:
        self._values = values
        self.nested = nested

    @cached_property
    def values(self) -> Mapping[str, str | None]:
        """The values of the URL as it came."""
        return self._values()


Action = Callable[[str | None, Context], Outcome]

#: For actions that use nothing but the value of their key.
NO_CONTEXT: Final = Context(dict, None)


@dataclass(frozen=True, slots=True)
class Always:
    """An action that makes the same of every value, so that it need not be called."""

    outcome: Outcome

    def __call__(self, value: str | None, context: Context) -> Outcome:
        """Return that."""
        return self.outcome


_is_label = re.compile(r"[a-z0-9_\-*]+\Z").match
_is_domain = re.compile(r"[a-z0-9_\-*.:\[\]]+\Z").match
_is_url = re.compile(r"(?i:https?)://").match
_QUOTATION_MARKS = "\"'`\u201c\u201d\u2018\u2019"


def action_of(key: str, operation: Operation, named: frozenset[str]) -> Action:
    """Return the action of *operation* on *key*; *named* are the values of the rule's match."""
    match operation:
        case Ignore(only, cut):
            return _ignore(key, only, named, cut)
        case IgnoreValue(only):
            return _ignore_value(key, only)
        case Set(pairs):
            return _set(key, pairs)
        case Lower(first):
            lowered = lower_first if first else lower_value
            return lambda value, _: Mark.PASS if value is None else lowered(value)
        case SetOfValues(delimiter) if delimiter:
            mark = normal_value(key, delimiter)
            return lambda value, _: as_set(value, mark) if value and mark in value else Mark.PASS
        case Keep() | SetOfValues():
            return Always(Mark.KEEP)
        case Nested():
            return lambda value, context: _nested(key, operation, value, context)
        case Replace():
            return lambda value, context: _replaced(key, operation, context)
        case Anchored() | Declared() | AnyOrder():
            return Always(Mark.PASS)


def _ignore(key: str, only: frozenset[str] | ValueClass | None, named: frozenset[str], cut: bool) -> Action:
    # One function for each kind, since one is called for each parameter of a URL.
    if isinstance(only, frozenset):
        values = frozenset([normal_value(key, value) for value in only])
        return lambda value, _: Mark.CUT if (value or "") in values else Mark.PASS
    if cut:
        named = frozenset()
    dropped = Mark.CUT if cut else Mark.DROP
    if only is None:
        if not named:
            return Always(dropped)
        return lambda value, _: Mark.CUT if (value or "") in named else dropped
    matches = only.matches
    if not named:
        return lambda value, _: dropped if matches(value) else Mark.PASS
    return lambda value, _: (Mark.CUT if (value or "") in named else dropped) if matches(value) else Mark.PASS


def _ignore_value(key: str, only: frozenset[str] | ValueClass | None) -> Action:
    if only is None:
        return Always(PLACEHOLDER)
    if isinstance(only, frozenset):
        values = frozenset([normal_value(key, value) for value in only])
        return lambda value, _: PLACEHOLDER if (value or "") in values else Mark.PASS
    matches = only.matches
    return lambda value, _: PLACEHOLDER if matches(value) else Mark.PASS


def _set(key: str, pairs: tuple[tuple[str | None, str | None], ...]) -> Action:
    outcomes: dict[str, Outcome] = {}
    for old, new in pairs:
        if old is None:
            continue
        if new is None:
            outcomes[normal_value(key, old)] = Mark.CUT
        elif _may_stand(key, new):
            outcomes[normal_value(key, old)] = normal_value(key, new)
    return lambda value, _: outcomes.get(value or "", Mark.PASS)


def as_set(value: str, delimiter: str) -> str:
    """Return the parts of a value, each once and in the order of their texts.

    >>> as_set("red,blue,red", ",")
    'blue,red'
    """
    return delimiter.join(sorted(set(value.split(delimiter))))


def added_text(key: str, operation: Operation, context: Context) -> str | None:
    """Return the value that *operation* writes for an absent *key*, or None."""
    if isinstance(operation, Set):
        new = dict(operation.values).get(None)
        return normal_value(key, new) if new is not None and _may_stand(key, new) else None
    if isinstance(operation, Replace):
        outcome = _replaced(key, operation, context)
        return outcome if isinstance(outcome, str) else None
    return None


def adds(operation: Operation) -> bool:
    """Return whether *operation* may write a value for an absent key."""
    return isinstance(operation, Replace) or (isinstance(operation, Set) and None in dict(operation.values))


def _may_stand(key: str, text: str) -> bool:
    """Return whether *text* can be the value of *key*; a host takes no other characters."""
    if key == "scheme":
        return text.lower() in {"http", "https"}
    if key == "host.0":
        return _is_domain(text.lower()) is not None
    if key.startswith("host."):
        return _is_label(text.lower()) is not None
    return key != "path.trail" or text == "/"


def _replaced(key: str, operation: Replace, context: Context) -> Outcome:
    texts: list[str] = []
    length = 0
    for name in operation.sources:
        source = normal_key(name)
        value = context.values.get(source) if source else ""
        if value is None:
            return Mark.PASS
        text = transformed(value, operation.transform)
        # A space is "+" in a query and "%20" elsewhere, where "+" is itself.
        from_query, to_query = source.startswith("q."), key.startswith("q.")
        if from_query and not to_query:
            text = text.replace("+", "%20")
        elif to_query and not from_query:
            text = text.replace("+", "%2B")
        texts.append(text)
        length += len(text)
        if length > LONGEST_TEXT:
            return Mark.PASS
    text = normal_value(key, operation.prefix + operation.join.join(texts) + operation.suffix)
    return text if _may_stand(key, text) else Mark.PASS


def transformed(value: str, transform: str) -> str:
    """Return a value as a transform of :class:`.Replace` shows it.

    >>> transformed("Ab", "lower"), transformed("0070", "number"), transformed("00", "number"), transformed("0x", "number")
    ('ab', '70', '0', '0x')
    """
    if transform == "number":
        return (value.lstrip("0") or "0") if value.isascii() and value.isdigit() else value
    return lower_value(value) if transform == "lower" else value


def inner_url(key: str, value: str) -> str | None:
    """Return the URL that *value* of *key*, in normal form, is, with quotation marks around it or not; None where it is none.

    >>> inner_url("q.url", "http%3A%2F%2Fexample.org%2F%3Fid%3D1"), inner_url("q.url", "http")
    ('http://example.org/?id=1', None)
    >>> inner_url("q.url", "%22http%3A%2F%2Fexample.org%2F%22")
    'http://example.org/'
    """
    if key.startswith("q."):
        value = value.replace("+", " ")
    try:
        url = unquote_to_bytes(value).decode().strip(_QUOTATION_MARKS)
    except UnicodeError:
        return None
    return url if _is_url(url) else None


def _nested(key: str, operation: Nested, value: str | None, context: Context) -> Outcome:
    url = inner_url(key, value) if value and context.nested is not None else None
    if url is None or context.nested is None:
        return Mark.PASS
    return normal_value(key, context.nested(url, operation).replace("%", "%25").replace("+", "%2B"))
