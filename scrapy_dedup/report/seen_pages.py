"""The URLs of a site as the store has seen them: which of them are one page, and pairs of them that a rule makes one."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import TYPE_CHECKING, Any, Final

from ..rules.canonical import NORMAL_FORM

if TYPE_CHECKING:
    from ..rules.book import RuleBook
    from ..rules.canonical import Canonical
    from ..store.page_queries import SeenUrl
    from ..store.rows import DiscardRow

#: Pages of fewer words say too little to be one by them.
_FEW_WORDS: Final = 6
#: Pairs of a rule that are shown.
SHOWN: Final = 3

_parts_of = re.compile(r"[^/?&=;:,.#]+|[/?&=;:,.#]").findall


@dataclass(frozen=True, slots=True)
class SeenPages:
    """The URLs of a site, the latest first, and those that are pages with content, the first fetched first."""

    urls: "Sequence[SeenUrl]"
    pages: "Sequence[SeenUrl]"
    #: URL of a page -> its key.
    keys: "Mapping[str, Canonical]"
    #: Pages that are one neither by their keys, by the rules that act, nor by their texts.
    distinct: int


def seen_pages(urls: "Iterable[SeenUrl]", book: "RuleBook") -> SeenPages:
    """Return which of the URLs of a site are one page."""
    found = tuple(urls)
    pages = sorted(
        (url for url in found if url.status == 200 and url.bag is not None), key=lambda url: (url.time, url.url)
    )
    keys = {page.url: book.canonical(page.url) for page in pages}
    leader: dict[str, str] = {}

    def lead(name: str) -> str:
        path = []
        while (above := leader.setdefault(name, name)) != name:
            path.append(name)
            name = above
        leader.update(dict.fromkeys(path, name))
        return name

    for page in pages:
        key = lead(f"key {keys[page.url].key}")
        if (page.words or 0) >= _FEW_WORDS:
            leader[lead(f"bag {page.bag}")] = key
    distinct = len({lead(f"key {key.key}") for key in keys.values()})
    return SeenPages(found, pages, keys, distinct)


def pairs_of_rules(seen: SeenPages, ledger: "Iterable[DiscardRow]") -> dict[str, list[dict[str, Any]]]:
    """Return id of a rule -> pairs of URLs of a site, those first that were both fetched; *ledger* are rows of the site."""
    found: defaultdict[str, dict[tuple[str, str], None]] = defaultdict(dict)
    for rule, pair in (*_fetched(seen), *_filtered(ledger)):
        if len(found[rule]) < SHOWN:
            found[rule].setdefault(pair)
    return {
        rule: [dict(zip(("one", "two"), marked_urls(*pair), strict=True)) for pair in pairs]
        for rule, pairs in found.items()
    }


def _fetched(seen: SeenPages) -> Iterator[tuple[str, tuple[str, str]]]:
    """Yield (rule, pair) of pages that were all fetched."""
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for url, canonical in seen.keys.items():
        by_key[canonical.key].append(url)
    for first, *others in by_key.values():
        for other in others[:SHOWN]:
            for rule in seen.keys[other].filtering_rules(seen.keys[first]):
                if rule != NORMAL_FORM:
                    yield rule, (first, other)


def _filtered(ledger: "Iterable[DiscardRow]") -> Iterator[tuple[str, tuple[str, str]]]:
    for row in ledger:
        if row.taken_for and row.taken_for != row.url:
            yield row.rule, (row.taken_for, row.url)


def marked_urls(one: str, two: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Return two URLs in pieces, and whether each is where they differ.

    >>> one, two = marked_urls("http://a.test/p?id=1&sid=a", "http://a.test/p?id=1&sid=b")
    >>> one[-1], two[-1], len(one)
    ({'text': 'a', 'marked': True}, {'text': 'b', 'marked': True}, 2)
    """
    parts = _parts_of(one), _parts_of(two)
    pieces: tuple[list[dict[str, Any]], list[dict[str, Any]]] = ([], [])
    for tag, low, high, low2, high2 in SequenceMatcher(None, *parts, autojunk=False).get_opcodes():
        for side, start, end in ((0, low, high), (1, low2, high2)):
            if start < end:
                pieces[side].append({"text": "".join(parts[side][start:end]), "marked": tag != "equal"})
    return pieces
