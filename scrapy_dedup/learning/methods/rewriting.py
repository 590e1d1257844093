"""Rewrite rules: a URL cut into segments, what the URLs of a class have in common, and the rules that this makes.

Source: "url-normalization-rule-inference", detailed description, steps (a) to (d), and FIG. 2, steps 230 and 240. A URL
less its scheme, host and port is cut at each ``/``, ``;``, ``?`` and ``&``. The document then forgets where a segment
stood; here each keeps what it takes to compose a URL from some of the segments of another one. From each URL of a class
to its representative is a rule, in which the values of ``name=value`` segments that are not in it are ``*``. Rules whose
right sides are similar - the same segments, some with other values - become one, in which what differs is a variable on
both sides.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import count, takewhile
from string import ascii_lowercase
from typing import NamedTuple

_split = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*://[^/;?&#]*)?([^#]*)", re.DOTALL).match
_pieces = re.compile(r"([/;?&]|\A)([^/;?&]*)").findall
_key = re.compile(r"(\?[/;?]?|[/;&]|)(.*)", re.DOTALL).fullmatch
_is_number = re.compile(r"[0-9]+X?").fullmatch

Values = tuple[str, ...]

# Step (a): segments


class Segment(NamedTuple):
    """A piece of a URL: ``articleID=60401364`` after a ``?`` has the key ``?articleID``.

    ``key`` says where the segment stands and how it is called: ``/``, ``;`` or ``&`` in the path, ``?``
    behind the first question mark (``?/``, ``?;`` and ``??`` where another separator stands there), then
    the name of a ``name=value`` segment. ``value`` is what follows the ``=``, or the whole segment.
    """

    key: str
    value: str
    text: str


@dataclass(frozen=True, slots=True)
class SegmentedUrl:
    """A URL (without its fragment): ``origin`` is scheme, host and port as they are written."""

    url: str
    origin: str
    segments: tuple[Segment, ...]

    @property
    def keys(self) -> Values:
        """The keys of the segments: two URLs with the same ones have the same shape."""
        return tuple([segment.key for segment in self.segments])

    @property
    def values(self) -> Values:
        """The values of the segments."""
        return tuple([segment.value for segment in self.segments])


def segmented(url: str) -> SegmentedUrl:
    """Return the segments of *url*, which may be any text.

    >>> found = segmented("http://a.example/news/story.asp;v=1?id=7&x#top")
    >>> found.origin, found.keys, found.values
    ('http://a.example', ('/', '/', ';v', '?id', '?'), ('news', 'story.asp', '1', '7', 'x'))
    """
    match = _split(url)
    assert match is not None  # both parts may be empty
    origin, rest = match[1] or "", match[2]
    place = ""
    found = []
    for separator, text in _pieces(rest):
        if place:
            tag = "?" if separator == "&" else "?" + separator
        else:
            tag = separator
            place = "?" if separator == "?" else ""
        name, mark, value = text.partition("=")
        found.append(Segment(tag + name, value, text) if mark and name else Segment(tag, text, text))
    if found and found[0] == ("", "", "") and (len(found) > 1 or origin):
        del found[0]
    return SegmentedUrl(url.partition("#")[0], origin, tuple(found))


def composed(origin: str, pieces: Iterable[tuple[str, str]]) -> str:
    """Return the URL that is made of *pieces*, (key of a segment, its text).

    The first piece of a query comes after a ``?``, whatever stood before it.

    >>> composed("http://a.example", [("/", "news"), ("?/", "x"), ("?id", "id=7")])
    'http://a.example/news?x&id=7'
    """
    url = origin
    in_query = False
    for key, text in pieces:
        match = _key(key)
        assert match is not None  # it matches any text
        separator: str = match[1]
        if separator.startswith("?"):
            separator = (separator[1:] or "&") if in_query else "?"
            in_query = True
        url += separator + text
    return url


def is_named(key: str) -> bool:
    """Return whether a segment with this key is of the form ``name=value``.

    >>> is_named("?id"), is_named("/"), is_named("?/")
    (True, False, False)
    """
    return len(key) > 2 or (len(key) == 2 and key not in {"?/", "?;", "??"})


# Step (b): what the URLs of a class share

Alignment = tuple[int, ...]
"""Which segments of a URL its representative is made of: their positions, in its order."""

Method = Callable[[Sequence[SegmentedUrl], bool], list[Alignment]]
"""Takes the URLs of a class and whether case makes no difference; gives the alignment of each."""


def by_intersection(members: Sequence[SegmentedUrl], fold_case: bool = False) -> list[Alignment]:
    """Align the URLs of a class by the intersection of their segment multisets, in the order of the shortest.

    Of equal segments of one URL the first ones are taken.
    """
    if not members:
        return []
    places = [_places(member, fold_case) for member in members]
    shared = set.intersection(*map(set, places))
    shortest = min(range(len(members)), key=lambda number: (len(members[number].url), members[number].url))
    order = [segment for segment in places[shortest] if segment in shared]
    return [tuple([own[segment] for segment in order]) for own in places]


def _places(member: SegmentedUrl, fold_case: bool) -> dict[tuple[str, int], int]:
    """Return the position of each segment, by its text and the number of equal ones before it."""
    before: Counter[str] = Counter()
    found = {}
    for position, text in enumerate(_texts(member, fold_case)):
        found[text, before[text]] = position
        before[text] += 1
    return found


def by_prefix_and_suffix(members: Sequence[SegmentedUrl], fold_case: bool = False) -> list[Alignment]:
    """Align the URLs of a class by the segments with which all begin and end."""
    rows = [[*zip(member.keys, _texts(member, fold_case), strict=True)] for member in members]
    prefix = _alike(rows)
    suffix = _alike([row[prefix:][::-1] for row in rows])
    return [(*range(prefix), *range(len(row) - suffix, len(row))) for row in rows]


def _alike(rows: Sequence[Sequence[tuple[str, str]]]) -> int:
    """Return how many items all rows begin with."""
    return len([*takewhile(lambda column: len({*column}) == 1, zip(*rows, strict=False))])


def case_varies(members: Sequence[SegmentedUrl], alignments: Sequence[Alignment]) -> frozenset[int]:
    """Return the places in the representative at which the URLs of a class differ in case only."""
    rows = [[member.segments[at].text for at in own] for member, own in zip(members, alignments, strict=True)]
    return frozenset(place for place, texts in enumerate(zip(*rows, strict=True)) if len({*texts}) > 1)


def _texts(member: SegmentedUrl, fold_case: bool) -> list[str]:
    return [segment.text.lower() if fold_case else segment.text for segment in member.segments]


# Step (c): the rules of single classes


class VariableKind(str, Enum):
    """What a variable part is: ``some-number`` or ``some-string``.

    The document calls ``270960681X`` a number: the check character of an ISBN may follow the digits.
    """

    NUMBER = "some-number"
    STRING = "some-string"

    __str__ = str.__str__


def kind_of(values: Iterable[str]) -> VariableKind:
    """Return ``some-number`` where all *values* are numbers, else ``some-string``."""
    return VariableKind.NUMBER if all(map(_is_number, values)) else VariableKind.STRING


@dataclass(frozen=True, slots=True)
class Fixed:
    """A part that has just this value."""

    value: str

    def admits(self, value: str) -> bool:
        """Return whether *value* is the one."""
        return value == self.value


@dataclass(frozen=True, slots=True)
class Variable:
    """A part that says which page it is, the same on the left and on the right; ``*`` has no influence on the page.

    >>> Variable("a", VariableKind.NUMBER).admits("270960681X"), Variable("a", VariableKind.NUMBER).admits("sr_1_3_12")
    (True, False)
    """

    name: str
    kind: VariableKind = VariableKind.STRING

    def admits(self, value: str) -> bool:
        """Return whether *value* is of the kind."""
        return self.kind is VariableKind.STRING or _is_number(value) is not None


Slot = Fixed | Variable


@dataclass(frozen=True, slots=True)
class Form:
    """The form of a rule: which segments URLs of its left side have, and which make up the right side.

    ``keys`` are those of the segments on the left, ``kept`` the positions of those on the right, in
    its order; ``lowered`` are positions whose case makes no difference, shown in lower case.
    """

    origin: str
    keys: Values
    kept: Alignment
    lowered: frozenset[int] = frozenset()

    @property
    def right_keys(self) -> Values:
        """The keys of the segments on the right."""
        return tuple([self.keys[position] for position in self.kept])

    @property
    def asked(self) -> Alignment:
        """The positions at which the rule of a single class has values of its own.

        Those on the right, and segments that are dropped but are no ``name=value``: of these alone
        nothing says what else could stand there.
        """
        dropped = [position for position in range(len(self.keys)) if position not in self.kept]
        return (*self.kept, *(position for position in dropped if not is_named(self.keys[position])))

    def shown(self, values: Values) -> Values:
        """Return the values of a URL, those in lower case whose case makes no difference."""
        if not self.lowered:
            return values
        return tuple([value.lower() if place in self.lowered else value for place, value in enumerate(values)])

    def right(self, values: Values) -> Values:
        """Return the values on the right of the URL that has *values* on the left."""
        shown = self.shown(values)
        return tuple([shown[position] for position in self.kept])

    def asked_of(self, values: Values) -> Values:
        """Return the values of a URL that the rule of its class asks for, those on the right first."""
        shown = self.shown(values)
        return tuple([shown[position] for position in self.asked])


ClassRules = Mapping[Form, Sequence[Values]]
"""The rules of single classes by their form: the values of a URL on the left side of each.

Such a rule asks for the values at ``form.asked``; the rest of its left side is ``*``.
"""


def rules_of_classes(
    members: Sequence[SegmentedUrl],
    content: Sequence[int],
    *,
    method: Method = by_intersection,
    fold_case: bool = False,
) -> ClassRules:
    """Return the rules of all classes of two URLs or more.

    ``content[i]`` is the class of ``members[i]``; URLs of different origins are of different classes
    (the document learns per web server). Linear in the number of segments.
    """
    classes: defaultdict[tuple[str, int], list[SegmentedUrl]] = defaultdict(list)
    for member, number in zip(members, content, strict=True):
        classes[member.origin, number].append(member)
    found: defaultdict[Form, list[Values]] = defaultdict(list)
    for urls in classes.values():
        alignments = method(urls, fold_case) if len(urls) > 1 else []
        varying = case_varies(urls, alignments) if alignments and fold_case else frozenset()
        for url, kept in zip(urls, alignments, strict=False):
            form = Form(url.origin, url.keys, kept, frozenset([kept[place] for place in varying]))
            is_representative = kept == tuple(range(len(url.segments))) and not varying
            if kept and not is_representative:
                found[form].append(url.values)
    return found


@dataclass(frozen=True, slots=True)
class RewriteRule:
    """URLs that match the left side lead to the page of the right side. ``slots``: one for each key.

    >>> form = Form("http://a.example", ("/", "?id", "?sid"), (0, 1))
    >>> rule = RewriteRule(form, (Fixed("x"), Variable("a", VariableKind.NUMBER), Variable("*")))
    >>> print(rule)
    http://a.example/x?id=a&sid=* -> http://a.example/x?id=a
    >>> rule.rewrite("http://a.example/x?id=7&sid=f00")
    'http://a.example/x?id=7'
    >>> rule.rewrite("http://a.example/x?id=seven&sid=f00") is None
    True
    """

    form: Form
    slots: tuple[Slot, ...]

    def matches(self, values: Values) -> bool:
        """Return whether the left side holds of the values of a URL with the keys of the form."""
        return all(slot.admits(value) for slot, value in zip(self.slots, self.form.shown(values), strict=True))

    def rewrite(self, url: str) -> str | None:
        """Return *url* (its fragment apart) as the right side has it; None where the left does not match."""
        parts = segmented(url)
        if parts.origin != self.form.origin or parts.keys != self.form.keys or not self.matches(parts.values):
            return None
        shown = self.form.shown(parts.values)
        kept = [(parts.segments[position], shown[position]) for position in self.form.kept]
        pieces = [(segment.key, segment.text.removesuffix(segment.value) + value) for segment, value in kept]
        return composed(self.form.origin, pieces)

    def __str__(self) -> str:
        pieces = [self._piece(position) for position in range(len(self.slots))]
        right = composed(self.form.origin, [pieces[position] for position in self.form.kept])
        return f"{composed(self.form.origin, pieces)} -> {right}"

    def _piece(self, position: int) -> tuple[str, str]:
        """Return the key of a segment, and its text as the document writes it."""
        key, slot = self.form.keys[position], self.slots[position]
        text = slot.value if isinstance(slot, Fixed) else slot.name
        text = f"lower({text})" if position in self.form.lowered else text
        return key, f"{key.lstrip('/;?&')}={text}" if is_named(key) else text


# Step (d): the rules of single classes, generalised

Spread = Sequence[set[str]]
"""The values that were met at each place on the right side of similar rules."""


def spread_of(every: ClassRules) -> dict[tuple[str, Values], Spread]:
    """Return origin and keys of the right sides -> how these differ: what has the same keys is similar."""
    rights: defaultdict[tuple[str, Values], list[Values]] = defaultdict(list)
    for form, rows in every.items():
        rights[form.origin, form.right_keys] += map(form.right, rows)
    return {family: [*map(set, zip(*rows, strict=True))] for family, rows in rights.items()}


def generalised(form: Form, rows: Sequence[Values], spread: Spread | None = None) -> RewriteRule:
    """Return the rule that says what the rules of single classes, of one form, say together.

    *spread* tells where the right sides of similar rules differ. A segment that is dropped is ``*``, but if it is no
    ``name=value`` only where it differs between the rows.
    """
    names = _names()
    slots: list[Slot] = []
    for position, column in enumerate(zip(*map(form.shown, rows), strict=True)):
        is_kept = position in form.kept
        values = {*column} | (spread[form.kept.index(position)] if is_kept and spread else set())
        if len(values) == 1 and position in form.asked:
            slots.append(Fixed(values.pop()))
        else:
            slots.append(Variable(next(names) if is_kept else "*", kind_of(values)))
    return RewriteRule(form, tuple(slots))


def _names() -> Iterator[str]:
    """Yield a, b, .., z, a1, b1, .."""
    return (ascii_lowercase[number % 26] + str(number // 26 or "") for number in count())
