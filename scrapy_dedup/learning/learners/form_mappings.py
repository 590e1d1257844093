"""How the URLs of one form become those of another: each part copied, joined of several, or fixed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ...rules import Replace
from ...rules.actions import transformed
from .url_forms import UrlForm, Values

MAX_PAIRS = 200
"""Pairs of URLs that a mapping is found on; it is verified on all."""
MAX_FAILURES = 0.05
"""Share of pairs that a copied part may fail on: the labels' noise."""
TRIED = 5
"""Pairs from which candidates of sources are taken."""
MAX_AFFIX = 40
TRANSFORMED = ("lower", "number")
"""Transforms that are tried where a value is no mere copy."""


@dataclass(frozen=True, slots=True)
class FormMapping:
    """A mapping from *source* to *target*: key of the target -> how its value comes about."""

    source: UrlForm
    target: UrlForm
    copies: Mapping[str, Replace]

    def of(self, values: Values) -> tuple[str, ...] | None:
        """Return the values of the target's varying keys that a URL of the source is mapped to."""
        made = [copied(self.copies[key], values) for key in self.target.keys]
        return None if None in made else tuple(text or "" for text in made)


def way_between(source: UrlForm, target: UrlForm, pairs: Sequence[tuple[Values, Values]]) -> FormMapping | None:
    """Return how *source* becomes *target* on *pairs* (URL of the source, URL of the target), or None."""
    copies: dict[str, Replace] = {}
    some = pairs[:: len(pairs) // MAX_PAIRS + 1]
    for key in target.keys:
        found = _copy_of(key, source, some)
        if found is None:
            return None
        copies[key] = found
    if any(key.endswith((".head", ".tail")) for key in target.parts - source.parts):
        return None  # no operation makes a part of a value that is not there
    if "ext" in source.parts & target.parts and source.segments > target.segments:
        return None  # nor moves an extension to a segment before
    return FormMapping(source, target, copies)


def head_of(key: str, form: UrlForm) -> str:
    """Return the key that *key*, of a whole segment, has where *form* shows it by its two parts.

    What is written there stands for the whole segment when the other part is dropped.
    """
    return f"{key}.head" if f"{key}.head" in form.parts else key


def copied(copy: Replace, values: Values) -> str | None:
    """Return the text that a copy makes of a URL's values; None where a source is absent.

    >>> copied(Replace(["path.0", "path.1"], join=":"), {"path.0": "talk", "path.1": "start"})
    'talk:start'
    """
    texts = [values.get(source) for source in copy.sources]
    if None in texts:
        return None
    return copy.prefix + copy.join.join([transformed(text or "", copy.transform) for text in texts]) + copy.suffix


def _copy_of(key: str, source: UrlForm, pairs: Sequence[tuple[Values, Values]]) -> Replace | None:
    allowed = int(MAX_FAILURES * len(pairs))
    if _fits(Replace(key), key, pairs, allowed):
        return Replace(key)
    for candidates in (_candidates, _joined):
        counts: Counter[Replace] = Counter()
        for one, other in pairs[:TRIED]:
            counts.update(set(candidates(one, other[key], source.keys)))
        for copy, _ in sorted(counts.items(), key=lambda item: (-item[1], *_length(item[0], key), item[0].sources)):
            if _fits(copy, key, pairs, allowed):
                return copy
    return None


def _length(copy: Replace, key: str) -> tuple[bool, int, bool]:
    return bool(copy.transform), len(copy.prefix + copy.join + copy.suffix), copy.source != key


def _candidates(values: Values, wanted: str, keys: Iterable[str]) -> Iterator[Replace]:
    """Yield the copies of one key that make the *wanted* text."""
    for key in keys:
        value = values.get(key)
        if not value:
            continue
        for transform in ("", *TRANSFORMED):
            text = transformed(value, transform)
            if transform and text == value and wanted != value:
                continue
            place = wanted.find(text)
            while place >= 0:
                if len(wanted) - len(text) <= MAX_AFFIX:
                    yield Replace(key, wanted[:place], wanted[place + len(text) :], transform)
                place = wanted.find(text, place + 1)


def _joined(values: Values, wanted: str, keys: Sequence[str]) -> Iterator[Replace]:
    """Yield the copies of several keys, with one and the same text between them, that make the *wanted* text."""
    texts = [(key, values[key]) for key in keys if values.get(key)]
    for first, text in texts:
        start = wanted.find(text)
        if start < 0:
            continue
        rest = wanted[start + len(text) :]
        for second, other in texts:
            between = rest.find(other)
            if second == first or between < 0:
                continue
            sources, join, suffix = [first, second], rest[:between], rest[between + len(other) :]
            more: str | None = second
            while more is not None:
                if start + len(join) + len(suffix) <= MAX_AFFIX:
                    yield Replace(sources, wanted[:start], suffix, join=join)
                more = next(
                    (key for key, next_ in texts if key not in sources and suffix.startswith(join + next_)), None
                )
                if more is not None:
                    sources = [*sources, more]
                    suffix = suffix[len(join + values[more]) :]


def _fits(copy: Replace, key: str, pairs: Sequence[tuple[Values, Values]], allowed: int) -> bool:
    failures = 0
    for one, other in pairs:
        if copied(copy, one) != other[key]:
            failures += 1
            if failures > allowed:
                return False
    return True
