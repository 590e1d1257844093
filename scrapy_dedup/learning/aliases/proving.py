"""What pairs of URL and page prove of a kind of aliases, or of the parts of one that is refuted as a whole."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...rules.alias_kinds import has_digit, page_shape
from ...rules.model import DECLARATIONS, FRAGMENT
from ..config import current
from ..evidence.judge import Judge, is_proven
from ..evidence.splits import Split
from ..evidence.value_kinds import VALUES_UNLIKE, WHOLE
from ..evidence.witnesses import remembered
from .fetched import Fetched
from .pairs import Pair

__all__ = ["GONE", "MAX_SPLITS", "PAGE", "PRESENT", "Proof", "ProvenPart", "parts_of", "prove", "shapes_of"]

MAX_SPLITS = 2
"""Columns by which a kind that is refuted as a whole is divided, one after the other."""

PAGE = "page"
_PLACE = PAGE + ".{}"
GONE, PRESENT = "\0", "\1"

Where = Mapping[str, frozenset[str]]
"""What a part of a kind is confined to: key (it begins with ``page`` if it is of the shape of the page) -> values."""


@dataclass(frozen=True, slots=True)
class Proof:
    """What speaks for a kind of aliases.

    ``pages``: distinct pages on which every URL of the kind that was fetched was that page;
    ``counterexamples``: pages with one that was not, URLs that name two pages, and elements that stand
    on two; ``urls``: distinct URLs; ``saved``: fetched ones that were the page.
    """

    pages: int
    counterexamples: int
    urls: int
    saved: int

    @property
    def proven(self) -> bool:
        """Whether the kind may act."""
        return is_proven(self.pages, self.counterexamples, WHOLE)


@dataclass(frozen=True, slots=True)
class ProvenPart:
    """A kind, or the part of one that is proven."""

    pairs: Sequence[Pair]
    proof: Proof
    where: Where = field(default_factory=dict)


def prove(pairs: Iterable[Pair], fetched: Fetched) -> Proof:
    """Return what *pairs*, all of one kind, prove.

    A page whose own text changes from one response to the next is no evidence, nor is a pair of which
    one URL was not fetched.
    """
    good: defaultdict[int, set[str]] = defaultdict(set)
    bad: set[int] = set()
    contents: defaultdict[str, set[int]] = defaultdict(set)
    elements: defaultdict[str, set[int]] = defaultdict(set)
    tokens: defaultdict[str, set[str]] = defaultdict(set)
    wrong: set[str] = set()
    for pair in pairs:
        if pair.row.key == FRAGMENT:
            tokens[pair.link].add(pair.row.token)
        page = fetched.content(pair.row.page)
        if page is None:
            continue
        contents[pair.link].add(page)
        if pair.row.token:
            elements[pair.row.token].add(page)
        # That a redirect leads where it leads proves nothing: only a URL that was also answered itself.
        link = fetched.own(pair.row.link) if pair.row.key == "redirect" else fetched.content(pair.row.link)
        if link is None:
            continue
        if link == page:
            good[page].add(pair.link)
        else:
            bad.add(page)
            wrong.add(pair.link)
    ambiguous = {link for link, pages in contents.items() if len(pages) > 1}
    # A URL whose fragments name several elements is not the URL of any one of them.
    ambiguous |= {link for link, names in tokens.items() if len(names) > 1}
    return Proof(
        pages=len(good.keys() - bad),
        # An element that stands on several pages names none of them.
        counterexamples=len(bad) + len(ambiguous - wrong) + sum(len(pages) > 1 for pages in elements.values()),
        urls=len(contents),
        saved=len({link for links in good.values() for link in links}),
    )


def parts_of(pairs: Sequence[Pair], fetched: Fetched, splits: int) -> list[ProvenPart]:
    """Return the proven parts of a kind, each for the patterns that its evidence reaches; the whole where it may yet be proven."""
    return [_supported(part, fetched) if part.proof.proven else part for part in _divided_parts(pairs, fetched, splits)]


def _divided_parts(pairs: Sequence[Pair], fetched: Fetched, splits: int) -> list[ProvenPart]:
    """Return the parts of a kind that are not refuted.

    One that is refuted as a whole is divided by the column that saves most: the values that may be
    believed in are one part, each of the others may be divided again.
    """
    proof = prove(pairs, fetched)
    if proof.proven or (proof.pages >= current().least_contents and not proof.counterexamples):
        return [ProvenPart(pairs, proof)]
    if not splits or proof.saved < current().least_contents:
        return []
    best: tuple[tuple[int, int, int], list[ProvenPart]] = (0, 0, 0), []
    divisions = set()
    for name, column in _columns(pairs):
        by_value = _divided(pairs, column)
        numbers = {value: number for number, value in enumerate(by_value)}
        division = tuple(numbers[value] for value in column)
        if not 2 <= len(by_value) <= current().named_values or division in divisions:
            continue
        divisions.add(division)
        believed, _ = _believed(by_value, fetched)
        together = [pair for pair, value in zip(pairs, column, strict=True) if value in believed]
        found = _confined(_divided_parts(together, fetched, 0), name, believed) if believed else []
        for value, part in by_value.items():
            if value not in believed or not found:
                found = found + _confined(_divided_parts(part, fetched, splits - 1), name, frozenset({value}))
        proven = {pair.link for part in found if part.proof.proven for pair in part.pairs}
        merit = len(proven), len({pair.link for part in found for pair in part.pairs}), -len(found)
        if found and merit > best[0]:
            best = merit, found
    return best[1]


def _supported(part: ProvenPart, fetched: Fetched) -> ProvenPart:
    """Return a proven part for the patterns that its evidence reaches: what others show says little of a few.

    Posts of one board are what those of many others are; print pages need not be what posts are.
    """
    pairs, where = part.pairs, dict(part.where)
    columns = dict(_columns(pairs))
    for name in list(columns):
        by_value = _divided(pairs, columns[name]) if name in columns else {}
        if not 2 <= len(by_value) <= current().named_values:
            continue
        kept, others_too = _believed(by_value, fetched)
        if kept and (len(kept) < len(by_value) or not (others_too or kept <= {GONE, PRESENT})):
            where[name] = kept
        if kept and len(kept) < len(by_value):
            pairs = [pair for value in kept for pair in by_value[value]]
            columns = dict(_columns(pairs))
    return ProvenPart(pairs, part.proof if pairs is part.pairs else prove(pairs, fetched), where)


def _believed(by_value: Mapping[str, Sequence[Pair]], fetched: Fetched) -> tuple[frozenset[str], bool]:
    """Return the values for which a kind may act, by their own evidence and that of the others; and whether others may, too."""
    proofs = [prove(part, fetched) for part in by_value.values()]
    found = remembered([each.pages for each in proofs], [each.counterexamples for each in proofs], WHOLE)
    split = Split.of(Judge(), found, np.repeat(np.arange(len(proofs)), 2), len(proofs), VALUES_UNLIKE)
    kept = frozenset(value for value, each in zip(by_value, split.strata, strict=True) if each.may_act)
    return kept, split.unseen.may_act


def shapes_of(part: ProvenPart) -> tuple[str, ...]:
    """Return the shapes of the pages of *part*: ``*`` is any name, where that may be another one."""
    alike: defaultdict[tuple[int, str], set[tuple[str, ...]]] = defaultdict(set)
    for page in {pair.page for pair in part.pairs}:
        path, _, query = page_shape(page).partition("?")
        places = tuple(path.split("/"))
        alike[len(places), query].add(places)
    shapes = set()
    for (length, query), paths in alike.items():
        several = [len({places[number] for places in paths}) > 1 for number in range(length)]
        open_ones = [several[number] and _PLACE.format(number) not in part.where for number in range(length)]
        for places in paths:
            shape = "/".join("*" if is_open else name for is_open, name in zip(open_ones, places, strict=True))
            shapes.add(f"{shape}?{query}" if query else shape)
    return tuple(sorted(shapes))


def _divided(pairs: Sequence[Pair], column: Sequence[str]) -> dict[str, list[Pair]]:
    by_value: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair, value in zip(pairs, column, strict=True):
        by_value[value].append(pair)
    return by_value


def _confined(parts: Sequence[ProvenPart], name: str, values: frozenset[str]) -> list[ProvenPart]:
    return [ProvenPart(part.pairs, part.proof, {**part.where, name: values}) for part in parts]


def _columns(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[str]]]:
    """Yield what a kind may be divided by: the values of the keys, and the names in the shape of the page."""
    first = pairs[0].row
    for key in sorted({key for pair in pairs for key in pair.values}):
        if key != first.key and not key.startswith(("host.", "scheme")):
            column = [pair.values.get(key) or ("" if key in pair.values else GONE) for pair in pairs]
            many = len(set(column)) > current().named_values
            numbers = [
                value != GONE and (many or (key != "path.len" and has_digit(value) is not None)) for value in column
            ]
            yield key, [PRESENT if is_number else value for is_number, value in zip(numbers, column, strict=True)]
    if first.key in DECLARATIONS:
        return
    shapes = [page_shape(pair.page).partition("?") for pair in pairs]
    paths = [path.split("/") for path, _, _ in shapes]
    for number in range(1, max(map(len, paths))):
        column = [path[number] if number < len(path) else GONE for path in paths]
        many = len(set(column)) > current().named_values
        yield (
            _PLACE.format(number),
            [PRESENT if value != GONE and (many or value == "*") else value for value in column],
        )
    parameters = [frozenset(query.split("&")) for _, _, query in shapes]
    for name in sorted(frozenset[str]().union(*parameters) - {""}):
        yield f"{PAGE}?{name}", [PRESENT if name in each else GONE for each in parameters]
