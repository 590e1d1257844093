"""How well a mask tells what passes: by tokens, by words, and by what it is for.

A token that passes is *found* when all of its words are removed that some other version of the site shows otherwise:
"users online" may go or stay. A token that lasts is *wrong* as soon as one of its words is removed.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import astuple, dataclass
from html import escape
from typing import Protocol

from ..sites.markup import Kind, Page, Token

CONTENT = frozenset((Kind.MAIN, Kind.GROWING))
_words = re.compile(r"\S+").finditer

Passing = Mapping[tuple[str, str], frozenset[int]]
"""(path, slot) -> places of the words that differ between versions of a site."""


class Masking(Protocol):
    """What is scored."""

    def spans(self, html: str, *, url: str | None = None) -> Sequence[tuple[int, int]]:
        """The offsets that are removed."""


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of one mask on some pages; adding two of them pools the pages.

    found, missed, wrong, right: tokens that pass and are removed, or not; that last and are removed, or not. words,
    words_lost: words of main text and comments, and those of them that are removed. pairs, equal: pairs of adjacent
    versions without real change, and those of them whose masked fingerprint is one. changes, told: pairs with real
    change, and those of them whose fingerprint is not one. pages, distinct: pages of different text, and their masked fingerprints.
    """

    found: int = 0
    missed: int = 0
    wrong: int = 0
    right: int = 0
    words: int = 0
    words_lost: int = 0
    pairs: int = 0
    equal: int = 0
    changes: int = 0
    told: int = 0
    pages: int = 0
    distinct: int = 0

    def __add__(self, other: "Counts") -> "Counts":
        return Counts(*[a + b for a, b in zip(astuple(self), astuple(other), strict=True)])

    @property
    def precision(self) -> float | None:
        """Share of the removed tokens that pass; None where nothing is removed."""
        return share(self.found, self.found + self.wrong)

    @property
    def recall(self) -> float | None:
        """Share of the passing tokens that are removed; None where nothing passes."""
        return share(self.found, self.found + self.missed)

    @property
    def f1(self) -> float | None:
        """The harmonic mean of both; None where nothing passes and nothing is removed."""
        return share(2 * self.found, 2 * self.found + self.missed + self.wrong)

    @property
    def main_lost(self) -> float | None:
        """Share of the words of main text and comments that are removed."""
        return share(self.words_lost, self.words)

    @property
    def equal_share(self) -> float | None:
        """Share of the pairs without real change whose masked fingerprint is one."""
        return share(self.equal, self.pairs)

    @property
    def told_share(self) -> float | None:
        """Share of the pairs with real change whose masked fingerprint is not one."""
        return share(self.told, self.changes)

    @property
    def distinct_share(self) -> float | None:
        """Masked fingerprints of different pages / different pages."""
        return share(self.distinct, self.pages)


def share(part: int, whole: int) -> float | None:
    """*part* of *whole*, None of nothing."""
    return part / whole if whole else None


def passing_words(pages: Iterable[Page]) -> dict[tuple[str, str], frozenset[int]]:
    """Of each passing slot, the places of the words that are not the same in all of these pages; all words of what comes and goes."""
    seen: defaultdict[tuple[str, str], defaultdict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
    for page in pages:
        for token in page.tokens:
            if token.kind is Kind.TRANSIENT:
                for place, word in enumerate(token.text.split()):
                    # Where the whole comes and goes each word is missing elsewhere.
                    seen[token.path, token.slot][place] |= {word, ""} if token.whole else {word}
    return {slot: frozenset(i for i, words in places.items() if len(words) > 1) for slot, places in seen.items()}


def score(masks: Masking, versions: Mapping[str, Sequence[Page]], passing: Passing) -> Counts:
    """Tokens and words of pages (URL -> versions) under a mask; each version is taken by itself."""
    every = (
        _score_page(page, masks.spans(page.html, url=url), passing) for url, own in versions.items() for page in own
    )
    return sum(every, Counts())


def _score_page(page: Page, spans: Sequence[tuple[int, int]], passing: Passing) -> Counts:
    """Tokens and words of one page."""
    gone = bytearray(len(page.html))
    for start, end in spans:
        gone[start:end] = b"\1" * (min(end, len(gone)) - start)
    tokens: Counter[tuple[bool, bool]] = Counter()
    words = words_lost = 0
    for token in page.tokens:
        some, every = removed(token, gone)
        passes = token.kind is Kind.TRANSIENT
        if passes:
            places = passing.get((token.path, token.slot), frozenset())
            if not places:
                continue  # it never differs here, and nobody can know
            is_removed = places <= every
        else:
            is_removed = bool(some)
        tokens[passes, is_removed] += 1
        if token.kind in CONTENT:
            words += len(token.text.split())
            words_lost += len(some)
    return Counts(
        found=tokens[True, True],
        missed=tokens[True, False],
        wrong=tokens[False, True],
        right=tokens[False, False],
        words=words,
        words_lost=words_lost,
    )


def removed(token: Token, gone: Sequence[int]) -> tuple[set[int], set[int]]:
    """The places of its words of which something was removed, and of those of which all was; *gone*: 1 for each removed character.

    Punctuation may go or stay.
    """
    some, every = set(), set()
    for place, found in enumerate(_words(escape(token.text))):
        word = found[0]
        at = [i for i, letter in enumerate(word, token.start + found.start()) if letter.isalnum()]
        flags = [gone[i] for i in at or range(token.start + found.start(), token.start + found.end())]
        if any(flags):
            some.add(place)
        if all(flags):
            every.add(place)
    return some, every


def compared(
    fingerprints: Mapping[str, Sequence[str]], versions: Mapping[str, Sequence[Page]], either: Collection[str] = ()
) -> Counts:
    """What the masked fingerprints of pages (URL -> one for each version) say of adjacent versions and of pages.

    *either* are slots whose content is always new, so that pages may be compared with or without it: pairs that differ in
    nothing else do not count.
    """
    pairs: Counter[tuple[bool, bool]] = Counter()
    first: dict[str, str] = {}
    for url, pages in versions.items():
        own = fingerprints[url]
        texts = [lasting(page) for page in pages]
        firm = [lasting(page, either) for page in pages] if either else texts
        for i in range(len(pages) - 1):
            if texts[i] == texts[i + 1] or firm[i] != firm[i + 1]:
                pairs[texts[i] == texts[i + 1], own[i] == own[i + 1]] += 1
        first.setdefault(" ".join(texts[0]), own[0])
    return Counts(
        pairs=pairs[True, True] + pairs[True, False],
        equal=pairs[True, True],
        changes=pairs[False, True] + pairs[False, False],
        told=pairs[False, False],
        pages=len(first),
        distinct=len(set(first.values())),
    )


def lasting(page: Page, without: Collection[str] = ()) -> list[str]:
    """The bag of words that lasts, *without* those of some slots."""
    tokens = (token for token in page.tokens if token.kind is not Kind.TRANSIENT and token.slot not in without)
    return sorted(word for token in tokens for word in token.text.split())
