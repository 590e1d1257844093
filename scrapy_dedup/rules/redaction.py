"""URLs made fit to be shown: in rule files, which get committed, and in logs.

What a rule drops may be a session id or a person's token; user names and passwords
are never shown.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from ..urls import DeepSplit, SiteGroups, normal_parts
from ..urls.origins import origin_of
from .actions import NO_CONTEXT, Context, Mark, Outcome
from .apply import new_query_at_length
from .apply_path import new_origin, new_path
from .model import ORDERED, Rule
from .operations import Ignore, IgnoreValue, Keep, Operation, Set
from .predicates import normal_key, normal_value
from .table import BoundOperation, CompiledRule, OpTable

_SITE = "redacted"
_LONGEST = 500
#: What is no secret, or no value at all.
_OPEN = {"scheme", "host.0", "ext", "path.trail", *ORDERED}
#: Characters that are shown of a value.
_SHOWN = 4
_cut_escape = re.compile(r"%[0-9A-F]?\Z")


def redact(url: str, rule: Rule | Mapping[str, Operation], *, deep: Mapping[str, DeepSplit] | None = None) -> str:
    """Return *url*, in normal form, of each value that *rule* (or its operations) drops the beginning only.

    A value that the rule itself names is no secret, and is shown.

    >>> from scrapy_dedup.rules import Ignore
    >>> ops = {"q.sid": Ignore(), "q.page": Ignore(["1"]), "path.1": Ignore()}
    >>> redact("http://me:secret@example.com/a/7?sid=0123456789abcdef&page=1&id=5", ops)
    'http://example.com/a/…?id=5&page=1&sid=0123…'
    """
    if not isinstance(rule, Rule):
        rule = Rule(_SITE, {}, rule)
    table = _Hiding([CompiledRule(rule)], {normal_key(key): split for key, split in (deep or {}).items()})
    origin, path, query = normal_parts(url)
    text = path
    found = replace(origin_of(origin, SiteGroups({})), userinfo="")
    if found.scheme:
        text = new_origin(table, found, NO_CONTEXT, []) + new_path(table, path, NO_CONTEXT, [])
    if query:
        text += "?" + new_query_at_length(table, query, NO_CONTEXT, [])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class _Hiding(OpTable):
    """The operations of a rule, each of which shows the beginning of the values that it is about."""

    def __init__(self, rules: Sequence[CompiledRule], deep: Mapping[str, DeepSplit]) -> None:
        super().__init__(rules, deep)
        self.added = []
        self.distinct = False

    def _found(self, key: str) -> tuple[BoundOperation, ...]:
        return tuple(
            replace(bound, action=partial(self._hidden, key, bound.operation), constant=None)
            for bound in super()._found(key)
            if not (key in _OPEN or isinstance(bound.operation, Keep))
        )

    def _hidden(self, key: str, operation: Operation, value: str | None, _: Context) -> Outcome:
        """Return what is shown of a value; PASS for all of it."""
        named = self.rules[0].named(key) | _named(key, operation)
        return Mark.PASS if not value or value in named else _label(value)


def _named(key: str, operation: Operation) -> set[str]:
    """Return the values that *operation* names."""
    if isinstance(operation, Ignore | IgnoreValue) and isinstance(operation.only, frozenset):
        return {normal_value(key, value) for value in operation.only}
    if isinstance(operation, Set):
        return {normal_value(key, old) for old, _ in operation.values if old is not None}
    return set()


def _label(value: str) -> str:
    """Return the beginning of a value: enough to see what differs, and a third of it at most."""
    return _cut_escape.sub("", value[: min(_SHOWN, len(value) // 3)]) + "…"
