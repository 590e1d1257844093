"""A page with its transient places, and the same places in a field that was taken from it.

Whoever takes HTML out of a page gets it with its tags as they were, or as lxml writes them. So the tag of a field that stands where
one of the page does has its attributes, and the script in it. Comments have no part in a stream: one is told by all that it says.
"""

from collections.abc import Iterator
from functools import cached_property
from html import escape, unescape
from itertools import islice
from typing import Final, NamedTuple

from ...content.tokenizer.markup import decoded_attribute
from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token
from ...content.tokenizer.unseen import SCRIPT_NAME
from ..applying.spans import whole_value
from ..ranges import Range, between, merged, overlapping
from .text_alignment import Stretch, alignments
from .visible_text import Stream, StreamKind

#: Transient texts of a page that are looked for one by one.
_MANY: Final = 500
#: Characters of a text by which it is looked for at first.
_END: Final = 8


class FieldCuts(NamedTuple):
    """What of a field is transient."""

    #: For each of its strings, the places, sorted and disjoint.
    cuts: list[list[Range]]
    #: Whether something may be transient that could not be told from lasting content.
    ambiguous: bool


class _PageStream(NamedTuple):
    """A stream of the page with its transient texts and tags: where they are, sorted and disjoint, and what they say, each once."""

    stream: Stream
    ranges: list[Range]
    texts: list[str]

    def may_stand_in(self, text: str) -> bool:
        """Return whether a transient text, or as much of it as a field has at one of its ends, may stand in *text*; cheap."""
        return len(self.texts) == _MANY or any(each[:_END] in text or each[-_END:] in text for each in self.texts)

    def holds_any(self, text: str) -> bool:
        """Return whether a transient text of two characters or more stands in *text*."""
        return bool(text) and any(len(piece) > 1 and piece in text for piece in self.texts)


class TransientPage:
    """The HTML of a page, and the places in it that its site's mask calls transient."""

    def __init__(self, html: str, spans: list[Range]) -> None:
        self.html = html
        #: Offsets into the page, sorted and disjoint.
        self.spans = spans
        self._made: dict[StreamKind, _PageStream] = {}

    def find(self, strings: list[str], kind: str) -> FieldCuts:
        """Return what of a field, one string or several, is transient; *kind* is "html" or "text"."""
        found: list[tuple[FieldCuts, str]] = []
        rest = "".join("".join(strings).split())
        kinds: tuple[StreamKind, ...] = ("html",) if kind == "html" else ("text", "all text")
        for each in kinds if self.spans else ():
            if each == "html" or self._stream(each).may_stand_in(rest):
                found.append(self._aligned(strings, each))
                _, rest = found[-1]
        # What it has more of than of any other is what it comes from.
        return min(found, key=lambda each: len(each[1]))[0] if found else FieldCuts([[] for _ in strings], False)

    def _aligned(self, strings: list[str], kind: StreamKind) -> tuple[FieldCuts, str]:
        """Return what of a field is transient if it comes from a stream of the page, and what of its characters is not found there."""
        nothing: list[list[Range]] = [[] for _ in strings]
        page = self._stream(kind)
        field = Stream(strings, "html" if kind == "html" else "plain")
        alike = alignments(field, page.stream)
        rest = _rest_of(field, alike[0]) if alike else field.text
        ways = [_transient(field, page, way) for way in alike]
        if not ways:
            return FieldCuts(nothing, page.holds_any(rest)), rest
        if any(way != ways[0] for way in ways):
            return FieldCuts(nothing, True), rest
        ranges, ambiguous = ways[0]
        cuts: list[list[Range]] = [[] for _ in strings]
        for start, end in ranges:
            for node in field.nodes_within(start, end):
                cuts[node.string].append(field.source(node, start, end))
        # Of several places that it may come from, all must say the same of a value.
        values = [set(self._values_in(field, way)) for way in alike] if kind == "html" else [set()]
        sure = set.intersection(*values)
        for number, start, end in (*sure, *self._comments_in(field)):
            cuts[number].append((start, end))
        ambiguous = ambiguous or page.holds_any(rest) or any(each != sure for each in values)
        return FieldCuts([merged(each) for each in cuts], ambiguous), rest

    def _stream(self, kind: StreamKind) -> _PageStream:
        if kind not in self._made:
            stream = Stream([self.html], kind, next((page.stream.tokens for page in self._made.values()), None))
            found = [
                stream.range_of(node, start, end)
                for node in stream.nodes
                for start, end in overlapping(self.spans, node.start, node.end)
            ]
            ranges = [(start, end) for start, end in found if start < end]
            texts = dict.fromkeys(stream.text[start:end] for start, end in ranges)
            self._made[kind] = _PageStream(stream, ranges, list(islice(texts, _MANY)))
        return self._made[kind]

    def _values_in(self, field: Stream, stretches: list[Stretch]) -> Iterator[tuple[int, int, int]]:
        """Yield (string, start, end) of what is transient of the values of a field's tags, which stand where those of the page do."""
        page = self._stream("html").stream
        for stretch in stretches:
            there = page.nodes_within(stretch.page, stretch.page + stretch.length)
            for node in there:
                if not node.is_tag:
                    continue
                # What covers the tag is no matter of its values.
                *_, last = page.tokens[0][node.token : node.token + 2]
                inside = [span for span in overlapping(self.spans, node.start, last.end) if span[0] > node.start]
                if not inside:
                    continue
                (other,) = field.nodes_within(*[place - stretch.page + stretch.field for place in (node.at, node.stop)])
                source = field.strings[other.string]
                own = field.values_of(other) if other.is_tag else {}
                for name, (start, end) in page.values_of(node).items():
                    cuts = _inside(inside, start, end)
                    if cuts and name in own:
                        for cut in _in_other(
                            self.html[start:end], cuts, source, own[name], is_script=name == SCRIPT_NAME
                        ):
                            yield other.string, *cut

    @cached_property
    def _comments(self) -> dict[str, list[Range]]:
        """The comments with what of them is transient, where that is the same wherever they stand."""
        found: dict[str, list[Range]] = {}
        for token in self._stream("html").stream.tokens[0]:
            if token.kind is TokenKind.COMMENT:
                cuts = _inside(self.spans, token.start, token.end)
                if found.setdefault(_written(token), cuts) != cuts:
                    found[_written(token)] = []
        return found

    def _comments_in(self, field: Stream) -> Iterator[tuple[int, int, int]]:
        """Yield (string, start, end) of what is transient of the comments in a field."""
        for number, tokens in enumerate(field.tokens):
            for token in tokens:
                if token.kind is TokenKind.COMMENT:
                    for start, end in self._comments.get(_written(token), ()):
                        yield number, token.start + start, token.start + end


def _written(token: Token) -> str:
    return token.source[token.start : token.end]


def _inside(spans: list[Range], start: int, end: int) -> list[Range]:
    """Return the parts of *spans* that lie in [start, end), counted from its start."""
    return [(max(low, start) - start, min(high, end) - start) for low, high in overlapping(spans, start, end)]


def _transient(field: Stream, page: _PageStream, stretches: list[Stretch]) -> tuple[list[Range], bool]:
    """Return the transient ranges of the field's stream, and whether any is left in doubt.

    Where several stretches cover a character, they must agree.
    """
    transient: set[Range] = set()
    lasting: list[Range] = []
    for stretch in stretches:
        offset = stretch.field - stretch.page
        low, high = stretch.page, stretch.page + stretch.length
        at = low
        for start, end in overlapping(page.ranges, low, high):
            # A piece is transient as a whole, or as much of it as the field has at one of its ends.
            cut_before = start < low and low + offset > 0
            cut_after = end > high and high + offset < len(field.text)
            if cut_before or cut_after:
                continue
            start, end = max(start, low), min(end, high)
            lasting.append((at + offset, start + offset))
            transient.add((start + offset, end + offset))
            at = end
        lasting.append((at + offset, high + offset))
    lasting = merged([each for each in lasting if each[0] < each[1]])
    agreed = [each for each in transient if not overlapping(lasting, *each)]
    return merged(agreed), len(agreed) < len(transient)


def _rest_of(field: Stream, stretches: list[Stretch]) -> str:
    """Return what stretches do not cover of a field, in lines."""
    covered = merged([(stretch.field, stretch.field + stretch.length) for stretch in stretches])
    return "\n".join(field.text[start:end] for start, end in between(covered, len(field.text)))


def _in_other(value: str, cuts: list[Range], source: str, place: Range, *, is_script: bool) -> Iterator[Range]:
    """Yield where the *cuts* of a value stand in the way in which a field has it, at a *place* of its source."""
    start, end = place
    other = source[start:end]
    if other == value:
        found = cuts
    elif is_script:
        found = []
    elif cuts == [(0, len(value))] and decoded_attribute(other) == decoded_attribute(value):
        found = [(0, len(other))]
    else:  # An address that was made absolute, say, or one in which references are written otherwise.
        forms = [(text, escape(unescape(text), quote=False)) for low, high in cuts for text in [value[low:high]]]
        texts = [next((form for form in each if other.count(form) == 1), "") for each in forms]
        found = [(other.index(text), other.index(text) + len(text)) for text in texts if text]
    for low, high in found:
        span = start + low, start + high
        yield whole_value(source, *span) if span == place and not is_script else span
