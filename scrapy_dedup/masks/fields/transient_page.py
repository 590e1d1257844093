"""A page with its transient places, and the same places in a field that was taken from it."""

from functools import cached_property
from itertools import islice
from typing import NamedTuple

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token
from ..ranges import Range, between, merged, overlapping
from .script_texts import MANY, ScriptText, Sought, script_texts
from .text_alignment import MANY_PLACES, Stretch, alignments
from .transient_values import TagValues, TransientValue, comment_cuts, cuts_of, transient_comments, transient_values
from .visible_text import Stream, Tags, folded

#: Kinds of streams that a field of a kind is aligned with, and whether folded, after that of its own kind. "all text" is text
#: with that of scripts.
_FURTHER = {"html": (("html", True),), "text": (("all text", False), ("text", True), ("all text", True))}


class FieldCuts(NamedTuple):
    """What of a field is transient."""

    #: For each of its strings, the places, sorted and disjoint.
    cuts: list[list[Range]]
    #: Whether something may be transient that could not be told from lasting content.
    ambiguous: bool


class Reading(NamedTuple):
    """What of a field is transient if it comes from a page, which part of its characters stands there, and the others."""

    found: FieldCuts
    covered: float
    rest: str = ""


class _Pieces(NamedTuple):
    """The transient parts of a stream."""

    #: Texts and tags, sorted and disjoint.
    ranges: list[Range]
    #: Of tags, and of the scripts in them.
    values: list[TransientValue]
    #: Comments as they are written, with what of them is transient.
    comments: dict[str, tuple[Range, ...]]
    #: What stands in the ranges, each once; not more than MANY of them.
    texts: list[str]


class TransientPage:
    """The HTML of a page, and the places in it that its site's mask calls transient; with *scripts*, text may be theirs."""

    def __init__(self, html: str, spans: list[Range], *, scripts: bool = True) -> None:
        self.html = html
        #: Offsets into the page, sorted and disjoint.
        self.spans = spans
        self._reads_scripts = scripts
        self._tags = Tags()
        self._made: dict[tuple[str, bool], tuple[Stream, _Pieces]] = {}

    def find(self, strings: list[str], kind: str) -> FieldCuts:
        """Return what of a field, one string or several, is transient; *kind* is "html" or "text"."""
        nothing: FieldCuts = FieldCuts([[] for _ in strings], False)
        if not self.spans:
            return nothing
        if kind == "html" and len(strings) == 1:
            found = self._verbatim(strings[0])
            if found is not None:
                return found
        if kind == "text" and not self._sought.may_stand_in("".join(strings)):
            return nothing
        read = self._aligned(strings, kind, fold=False)
        if kind == "text" and read.covered == 1.0 and any(read.found.cuts) and self._is_in_scripts(strings):
            # It may come from there as well.
            other = self._aligned(strings, "all text", fold=False).found
            return other if other == read.found else FieldCuts(nothing.cuts, True)
        for stream, fold in _FURTHER[kind]:
            if read.covered == 1.0 or not self._sought.may_stand_in(read.rest):
                break
            if stream == "all text" and not self._in_scripts.may_stand_in(read.rest):
                continue
            other_way = self._aligned(strings, stream, fold=fold)
            if other_way.covered > read.covered:
                read = other_way
        return read.found

    def _is_in_scripts(self, strings: list[str]) -> bool:
        text = "".join("".join(strings).split())
        return any(text in each.squeezed(self.html) for each in self._scripts)

    @cached_property
    def _scripts(self) -> list[ScriptText]:
        if not self._reads_scripts:
            return []
        found = self._stream("text")[0].tokens[0]
        raw = [number for number, token in enumerate(found) if token.kind is TokenKind.RAW]
        return [text for number in raw for text in script_texts(found, number)]

    @cached_property
    def _sought(self) -> Sought:
        return Sought([*self._stream("text")[1].texts, *self._in_scripts.texts], folded)

    @cached_property
    def _in_scripts(self) -> Sought:
        """What is transient in scripts."""
        texts = [
            text.squeezed(self.html, start, end)
            for text in self._scripts
            for start, end in overlapping(self.spans, text.start, text.end)
        ]
        return Sought([text for text in texts if text], folded)

    def _aligned(self, strings: list[str], kind: str, *, fold: bool) -> Reading:
        nothing: FieldCuts = FieldCuts([[] for _ in strings], False)
        field = Stream(strings, html=kind == "html", tags=self._tags if kind == "html" else None, fold=fold)
        page, pieces = self._stream(kind, fold=fold)
        alike = list(alignments(field, page, TagValues(field, page).fit if kind == "html" else None))
        ways = [_transient(field, pieces, way) for way in alike]
        if not ways:
            return Reading(
                FieldCuts(nothing.cuts, _holds_any(field.text, pieces)), 0.0 if field.text else 1.0, field.text
            )
        rest = _rest_of(field, alike[0])
        share = 1.0 - len(rest.replace("\n", "")) / len(field.text)
        ranges, _, ambiguous = ways[0]
        if any((way[0], way[2]) != (ranges, ambiguous) for way in ways):
            return Reading(FieldCuts(nothing.cuts, True), share, rest)
        if kind != "html":
            return Reading(FieldCuts(_text_cuts(field, ranges), ambiguous), share, rest)
        # Of several places that it may come from, all must say the same of a value.
        values = [cuts_of(field, way[1]) for way in ways]
        sure = set.intersection(*values)
        cuts = _html_cuts(field, ranges)
        for number, start, end in (*sure, *comment_cuts(field, pieces.comments)):
            cuts[number].append((start, end))
        found = FieldCuts([merged(each) for each in cuts], ambiguous or any(each != sure for each in values))
        return Reading(found, share, rest)

    def _verbatim(self, field: str) -> FieldCuts | None:
        """Return what is transient of a field that is a part of the page as it is written; None if it is none."""
        if not field.strip():
            return FieldCuts([[]], False)
        found: list[list[Range]] = []
        at = self.html.find(field)
        for _ in range(MANY_PLACES):
            if at < 0:
                break
            end = at + len(field)
            cuts = [(max(a, at) - at, min(b, end) - at) for a, b in overlapping(self.spans, at, end)]
            if found and cuts != found[0]:  # which of the places it comes from, nobody knows
                return FieldCuts([[]], True)
            found = [cuts]
            at = self.html.find(field, at + 1)
        if at >= 0:
            return FieldCuts([[]], True)
        return FieldCuts(found, False) if found else None

    def _stream(self, kind: str, *, fold: bool = False) -> tuple[Stream, _Pieces]:
        key = kind, fold
        if key not in self._made:
            tags = self._tags if kind == "html" else None
            stream = Stream([self.html], html=True, tags=tags, scripts=kind == "all text", fold=fold)
            self._made[key] = stream, _pieces_of(stream, self.spans)
        return self._made[key]


def _rest_of(field: Stream, stretches: list[Stretch]) -> str:
    """Return what stretches do not cover of a field, in lines."""
    covered = merged([(stretch.field, stretch.field + stretch.length) for stretch in stretches])
    return "\n".join(field.text[start:end] for start, end in between(covered, len(field.text)))


def _pieces_of(stream: Stream, spans: list[Range]) -> _Pieces:
    ranges: list[Range] = []
    values: list[TransientValue] = []
    for node in stream.nodes:
        for start, end in overlapping(spans, node.start, node.end):
            if not stream.is_tag(node):
                found = stream.range_of(node, start, end)
                if found[0] < found[1]:
                    ranges.append(found)
            elif start <= node.start and node.end <= end:
                ranges.append((node.at, node.at + 1))
        if stream.is_tag(node):
            # What stands in a script comes right behind its tag.
            after = stream.tokens[0][node.token + 1].end if node.token + 1 < len(stream.tokens[0]) else node.end
            if near := overlapping(spans, node.start, after):
                values += transient_values(stream, node, near)
    texts = dict.fromkeys(stream.text[start:end] for start, end in ranges)
    comments = transient_comments(stream, spans) if stream.has_tags else {}
    return _Pieces(ranges, values, comments, list(islice(texts, MANY)))


def _transient(
    field: Stream, pieces: _Pieces, stretches: list[Stretch]
) -> tuple[list[Range], list[TransientValue], bool]:
    """Return (transient ranges of the field's stream, values of its tags, whether any is left in doubt).

    Where several stretches cover a character, they must agree.
    """
    transient: list[Range] = []
    lasting: list[Range] = []
    values: list[TransientValue] = []
    for stretch in stretches:
        offset = stretch.field - stretch.page
        low, high = stretch.page, stretch.page + stretch.length
        at = low
        for start, end in overlapping(pieces.ranges, low, high):
            # A piece is transient as a whole, or as much of it as the field has at one of its ends.
            cut_before = start < low and low + offset > 0
            cut_after = end > high and high + offset < len(field.text)
            if cut_before or cut_after:
                continue
            start, end = max(start, low), min(end, high)
            if at < start:
                lasting.append((at + offset, start + offset))
            transient.append((start + offset, end + offset))
            at = end
        if at < high:
            lasting.append((at + offset, high + offset))
        values += [value._replace(at=value.at + offset) for value in pieces.values if low <= value.at < high]
    lasting = merged(lasting)
    wanted = sorted(set(transient))
    agreed = [each for each in wanted if not overlapping(lasting, *each)]
    return merged(agreed), values, len(agreed) < len(wanted) or _holds_any(_rest_of(field, stretches), pieces)


def _holds_any(text: str, pieces: _Pieces) -> bool:
    """Return whether a transient text of two characters or more stands in *text*."""
    return bool(text) and any(len(piece) > 1 and piece in text for piece in pieces.texts)


def _text_cuts(field: Stream, ranges: list[Range]) -> list[list[Range]]:
    cuts: list[list[Range]] = [[] for _ in field.strings]
    for start, end in ranges:
        for node in field.nodes_within(start, end):
            low, high = max(start, node.at), min(end, node.at + node.length)
            cuts[node.string].append(field.source(node, low, high))
    return cuts


def _html_cuts(field: Stream, ranges: list[Range]) -> list[list[Range]]:
    """Return the places of transient texts, and of elements that are transient as a whole."""
    cuts: list[list[Range]] = [[] for _ in field.strings]
    for node in field.nodes:
        taken = cuts[node.string]
        if taken and taken[-1][1] >= node.end:  # in an element that is cut
            continue
        parts = overlapping(ranges, node.at, node.at + node.length)
        if not parts:
            continue
        if not field.is_tag(node):
            for start, end in parts:
                taken.append(field.source(node, max(start, node.at), min(end, node.at + node.length)))
            continue
        end = end_of(field.tokens[node.string], node.token)
        inside = field.range_in(node.string, node.start, end)
        if any(start <= inside[0] and inside[1] <= stop for start, stop in parts):
            taken.append((node.start, end))
    return cuts


def end_of(tokens: list[Token], index: int) -> int:
    """Return where the element ends whose opening tag is *index*."""
    end = tokens[index].end
    if tokens[index].kind is TokenKind.OPEN:
        for token in tokens[index + 1 :]:
            if token.parent < index:
                break
            end = token.end
            if token.kind is TokenKind.CLOSE and token.parent == index:
                break
    return end
