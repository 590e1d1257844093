"""Evidence side by side: pairs of real URLs that a rule makes one."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from difflib import SequenceMatcher
from itertools import islice
from typing import TYPE_CHECKING, Final

from ..rules.canonical import NORMAL_FORM
from .data import Piece, UrlPair

if TYPE_CHECKING:
    from ..store.rows import DiscardRow
    from .seen_pages import SeenPages

#: Pairs of a rule that are shown.
SHOWN: Final = 3

_parts_of = re.compile(r"[^/?&=;:,.#]+|[/?&=;:,.#]").findall


def pairs_of_rules(pages: "SeenPages", ledger: "Iterable[DiscardRow]") -> dict[str, tuple[UrlPair, ...]]:
    """Return id of a rule -> pairs of URLs of a site, those first that were both fetched; *ledger* are rows of the site."""
    found: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for rule, pair in (*_fetched(pages), *_filtered(ledger)):
        if len(found[rule]) < SHOWN:
            found[rule].setdefault(pair)
    return {rule: tuple(UrlPair(*marked_urls(*pair)) for pair in pairs) for rule, pairs in found.items()}


def _fetched(pages: "SeenPages") -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (rule, pair) of pages that were all fetched."""
    for group in pages.by_key.values():
        first = group[0]
        for other in islice(group, 1, SHOWN + 1):
            for rule in pages.keys[other.url].filtering_rules(pages.keys[first.url]):
                if rule != NORMAL_FORM:
                    yield rule, (first.url, other.url)


def _filtered(ledger: "Iterable[DiscardRow]") -> Iterator[tuple[str, tuple[str, str]]]:
    for row in ledger:
        if row.taken_for and row.taken_for != row.url:
            yield row.rule, (row.taken_for, row.url)


def marked_urls(one: str, two: str) -> tuple[tuple[Piece, ...], tuple[Piece, ...]]:
    """Return two URLs with what differs marked.

    >>> one, two = marked_urls("http://a.test/p?id=1&sid=a", "http://a.test/p?id=1&sid=b")
    >>> one[-1], two[-1], len(one)
    (Piece(text='a', marked=True), Piece(text='b', marked=True), 2)
    """
    parts = _parts_of(one), _parts_of(two)
    pieces: tuple[list[Piece], list[Piece]] = ([], [])
    for tag, low, high, low2, high2 in SequenceMatcher(None, *parts, autojunk=False).get_opcodes():
        for side, start, end in ((0, low, high), (1, low2, high2)):
            if start < end:
                pieces[side].append(Piece("".join(parts[side][start:end]), tag != "equal"))
    return tuple(pieces[0]), tuple(pieces[1])
