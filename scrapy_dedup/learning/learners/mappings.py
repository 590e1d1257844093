"""How the URLs of one template become those of another: each part copied, with an affix, or fixed."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from .templates import Template, Values

MAX_PAIRS = 200
"""Pairs of URLs that a mapping is found on; it is verified on all."""
MAX_FAILURES = 0.05
"""Share of pairs that a copied part may fail on: the labels' noise."""
TRIED = 5
"""Pairs from which candidates of sources are taken."""
MAX_AFFIX = 40


@dataclass(frozen=True, slots=True)
class Copy:
    """The value of *source*, in lower case if *lower*, between *prefix* and *suffix*."""

    source: str
    prefix: str = ""
    suffix: str = ""
    lower: bool = False

    def of(self, values: Values) -> str | None:
        """Return the copied text; None where the source is absent."""
        value = values.get(self.source)
        if value is None:
            return None
        return self.prefix + (value.lower() if self.lower else value) + self.suffix


@dataclass(frozen=True, slots=True)
class Way:
    """A mapping from *source* to *target*: key of the target -> how its value comes about."""

    source: Template
    target: Template
    copies: Mapping[str, Copy]

    def of(self, values: Values) -> tuple[str, ...] | None:
        """Return the values of the target's varying keys that a URL of the source is mapped to."""
        made = [self.copies[key].of(values) for key in self.target.keys]
        return None if None in made else tuple(text or "" for text in made)


def way_between(source: Template, target: Template, pairs: Sequence[tuple[Values, Values]]) -> Way | None:
    """Return how *source* becomes *target* on *pairs* (URL of the source, URL of the target), or None."""
    copies: dict[str, Copy] = {}
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
    return Way(source, target, copies)


def head_of(key: str, template: Template) -> str:
    """Return the key that *key*, of a whole segment, has where *template* shows it by its two parts.

    What is written there stands for the whole segment when the other part is dropped.
    """
    return f"{key}.head" if f"{key}.head" in template.parts else key


def _copy_of(key: str, source: Template, pairs: Sequence[tuple[Values, Values]]) -> Copy | None:
    allowed = int(MAX_FAILURES * len(pairs))
    if _fits(Copy(key), key, pairs, allowed):
        return Copy(key)
    counts: Counter[Copy] = Counter()
    for one, other in pairs[:TRIED]:
        counts.update(_candidates(one, other[key], source.keys))
    for copy, _ in sorted(counts.items(), key=lambda item: (-item[1], _length(item[0], key), item[0].source)):
        if _fits(copy, key, pairs, allowed):
            return copy
    return None


def _length(copy: Copy, key: str) -> tuple[bool, int, bool]:
    return copy.lower, len(copy.prefix) + len(copy.suffix), copy.source != key


def _candidates(values: Values, wanted: str, keys: Iterable[str]) -> Iterator[Copy]:
    for key in keys:
        value = values.get(key)
        if not value:
            continue
        for text, lower in ((value, False), (value.lower(), True)):
            if lower and text == value and wanted != value:
                continue
            place = wanted.find(text)
            while place >= 0:
                if len(wanted) - len(text) <= MAX_AFFIX:
                    yield Copy(key, wanted[:place], wanted[place + len(text) :], lower)
                place = wanted.find(text, place + 1)


def _fits(copy: Copy, key: str, pairs: Sequence[tuple[Values, Values]], allowed: int) -> bool:
    failures = 0
    for one, other in pairs:
        if copy.of(one) != other[key]:
            failures += 1
            if failures > allowed:
                return False
    return True
