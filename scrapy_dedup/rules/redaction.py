"""URLs made fit to be shown: in rule files, which get committed, and in logs.

What a rule drops may be a session id or a person's token; user names and passwords
are never shown.
"""

import re
from collections.abc import Mapping

from ..urls import DeepSplit, SiteGroups, normal_parts
from ..urls.deep_tokens import ENDS
from ..urls.origins import origin_of
from ..urls.paths import param_key, segments_of
from ..urls.query_paths import SEGMENT_KEY, SLASH, query_path
from .model import BARE, Rule
from .operations import Ignore, IgnoreValue, Keep, Operation, Set
from .predicates import normal_value
from .table import CompiledRule

__all__ = ["redact"]

_SITE = "redacted"
_LONGEST = 500
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
    hider = _Hider(CompiledRule(rule), deep or {})
    origin_text, path, query = normal_parts(url)
    origin = origin_of(origin_text, SiteGroups({}))
    text = ""
    if origin.scheme:
        labels = [hider.shown(f"host.{number}", label) for number, label in enumerate(origin.labels, 1)]
        text = f"{origin.scheme}://{'.'.join([*reversed(labels), origin.domain])}"
        segments, slash = segments_of(path)
        for segment in segments:
            segment.value = hider.shown(segment.key, segment.value)
            segment.params = tuple(
                [(name, value and hider.shown(param_key(name), value)) for name, value in segment.params]
            )
            text += "/" + segment.compose()
        text += "/" if slash or not segments else ""
    else:
        text = path
    if query:
        hider.path = query_path(query)
        text += "?" + "&".join([";".join(map(hider.parameter, piece.split(";"))) for piece in query.split("&")])
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


class _Hider:
    def __init__(self, rule: CompiledRule, deep: Mapping[str, DeepSplit]) -> None:
        self._rule = rule
        self._deep = deep
        self.path = ""

    def parameter(self, part: str) -> str:
        name, _, value = part.partition("=")
        if not value and name and name == self.path:
            texts = name.split(SLASH)
            return SLASH.join([self.shown(f"{SEGMENT_KEY}{n}", each) for n, each in enumerate(texts)]) + "="
        if not value and self._rule.operation_on(BARE) is not None:
            return f"{self.shown(BARE, name)}="
        return f"{name}={self.shown('q.' + name, value)}"

    def shown(self, key: str, value: str) -> str:
        """Return *value* at *key* as it may be shown."""
        split = self._deep.get(key)
        parts = split.parts(value) if split is not None else None
        if split is not None and parts is not None:
            shown = [self.shown(key + end, part) for end, part in zip(ENDS, parts, strict=True) if part is not None]
            return split.delimiter.join(shown)
        found = self._rule.operation_on(key)
        if not value or found is None or isinstance(found[0], Keep):
            return value
        if value in self._rule.named(key) or value in _named(key, found[0]):
            return value
        return _label(value)


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
