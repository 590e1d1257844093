"""Tokens inside a value: ``topic=333.msg1395``, ``/red-shoes-12345``.

Where the values of one key of a site hold a delimiter with a number, an id or the
like at one end, the key is shown as two, ``K.head`` and ``K.tail``.
(Delimiter-snapped affixes of the document on affixes.)
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

__all__ = ["DELIMITERS", "ENDS", "DeepSplit", "deep_values", "learn_deep_splits", "may_be_parted", "whole_key"]

#: Characters that may stand between two tokens of a value, the likeliest first.
DELIMITERS = "-_.,:~|+"
#: As the delimiters are written in a query in normal form.
_WRITTEN = {",": "%2C", ":": "%3A", "|": "%7C"}
#: What is added to a key for those of its tokens.
ENDS = (".head", ".tail")
_SIDES = ("first", "last")
_MIN_VALUES = 20
_MIN_SHARE = 0.9

_NARROW = (
    re.compile(r"[0-9]+").fullmatch,
    re.compile(r"(?=.*[0-9])[0-9A-Fa-f]{4,}").fullmatch,
    re.compile(r"[A-Za-z]{1,8}[0-9]+").fullmatch,
)


Parts = tuple[str | None, str | None]


@dataclass(frozen=True, slots=True)
class DeepSplit:
    """Where a key's values part: at the ``first`` or the ``last`` *delimiter*.

    ``optional``: a value without the delimiter is one of the two tokens, and the other is absent: of those that part at
    the first delimiter it is the head, of those that part at the last one the tail.

    >>> DeepSplit("-", "last").parts("red-shoes-12345")
    ('red-shoes', '12345')
    >>> DeepSplit(".", "first").parts("333") is None
    True
    >>> DeepSplit(":", "first", optional=True).parts("3627")
    ('3627', None)

    Raises ValueError for an empty delimiter or another side.
    """

    delimiter: str
    side: str = "last"
    optional: bool = False

    def __post_init__(self) -> None:
        if not self.delimiter:
            raise ValueError("the delimiter of a deep token is empty")
        if self.side not in _SIDES:
            raise ValueError(f"side is {self.side!r}, and must be 'first' or 'last'")

    def parts(self, value: str) -> Parts | None:
        """Return (head, tail) of *value*, of which one may be absent; None where the value is whole."""
        if self.delimiter not in value:
            if not self.optional or not value:
                return None
            return (value, None) if self.side == "first" else (None, value)
        if self.side == "first":
            head, _, tail = value.partition(self.delimiter)
        else:
            head, _, tail = value.rpartition(self.delimiter)
        return head, tail


def deep_values(values: dict[str, str | None], deep: Mapping[str, DeepSplit]) -> None:
    """Show the keys of *deep* whose values hold the delimiter by their two parts.

    >>> values = {"q.topic": "41.20"}
    >>> deep_values(values, {"q.topic": DeepSplit(".")})
    >>> values
    {'q.topic.head': '41', 'q.topic.tail': '20'}
    """
    for key, split in deep.items():
        value = values.get(key)
        if value:
            parts = split.parts(value)
            if parts is not None:
                del values[key]
                for end, part in zip(ENDS, parts, strict=True):
                    if part is not None:
                        # A parameter of that very name, if there is one, keeps its key.
                        values.setdefault(key + end, part)


def whole_key(key: str) -> str:
    """Return the key of the whole value, of which *key* may show a token.

    >>> whole_key("q.topic.head"), whole_key("q.topic")
    ('q.topic', 'q.topic')
    """
    return key.removesuffix(ENDS[0]).removesuffix(ENDS[1])


def may_be_parted(key: str) -> bool:
    """Return whether the values of *key* may have two tokens."""
    return key.startswith(("q.", "path.", "m.", "s.")) and key not in {"path.len", "path.trail"}


def learn_deep_splits(columns: Mapping[str, Sequence[str]]) -> dict[str, DeepSplit]:
    """Return the splits that the values of each key in *columns* show.

    A key is split where at least 90 % of its values, of which there are 20 or more
    distinct ones, hold the delimiter and have at one end a number, a hexadecimal id
    or letters followed by a number. At a place in the path stand values of several kinds
    of pages: those that are nothing but a number do not count there.

    >>> columns = {"q.topic": [f"{n}.msg{n * 7}" for n in range(40)]}
    >>> learn_deep_splits(columns)
    {'q.topic': DeepSplit(delimiter='.', side='first', optional=False)}
    """
    splits = {}
    for key, column in columns.items():
        if may_be_parted(key):
            values = list(dict.fromkeys(value for value in column if value))
            if key.startswith("path."):
                values = [value for value in values if not value.isdecimal()]
            split = _split_of(values)
            if split is not None:
                splits[key] = split
    return splits


def _split_of(values: list[str]) -> DeepSplit | None:
    if len(values) < _MIN_VALUES:
        return None
    best: tuple[tuple[int, float], DeepSplit] | None = None
    for char in DELIMITERS:
        for delimiter in {char, _WRITTEN.get(char, char)}:
            if sum(delimiter in value for value in values) < _MIN_SHARE * len(values):
                continue
            for side in _SIDES:
                split = DeepSplit(delimiter, side)
                merit = _merit(split, values)
                if merit is not None and (best is None or merit > best[0]):
                    best = merit, split
    return best[1] if best else None


def _merit(split: DeepSplit, values: list[str]) -> tuple[int, float] | None:
    """Return how good a split is: (tightness, share) of the tightest class that fits its end.

    None where no class fits enough of the values there. A number at one end says more than an id at
    the other.
    """
    end = 0 if split.side == "first" else 1
    ends = [parts[end] for value in values if (parts := split.parts(value))]
    for number, fits in enumerate(_NARROW):
        share = sum(fits(text or "") is not None for text in ends) / len(values)
        if share >= _MIN_SHARE:
            return -number, share
    return None
