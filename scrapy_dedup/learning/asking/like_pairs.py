"""Like pairs: pages of a site that are alike and still unequal, found by the rare texts that they share.

Before it looks for rules "url-normalization-rule-inference" identifies "which pages downloaded from a web site are
identical or substantially identical" (detailed description, FIG. 2, step 200), by shingles or "otherwise". What is
compared here are the texts that few pages of the site have: pages that share one fall into a bucket, as those do in the
document that share a megashingle, and each is compared with a few others of its buckets. Where a clock, a counter and a
few teasers stand on short pages, most of the document's comparisons are lost: pages that are half the same share hardly
any supershingle. With such blocks on every page of five recorded sites, megashingles find 1 to 50 % of the pages that
have an equal one, supershingles 1 to 87 %, and rare texts 96 % or more, in a quarter of the time.

A like pair says where it may help to look again. It never says that two pages are one.
"""

from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ...pages.versions import Version

OWN = 0.1
"""Share of the pages on which a text may stand that is own to them; a text on three pages is own to them in any case."""
RAREST = 4
"""Texts of a page, the rarest ones, by which pages are found that may be like it."""
NEAREST = 8
"""Pages of a bucket that a page is compared with, the ones before it, beside the first one."""
MIN_WORDS = 10
"""Words of own texts that like pages have in common at least."""
ALIKE = 0.3
"""Share of its own words that the longer one of two like pages has in common with the other: the rest may be transient."""


class LikePair(NamedTuple):
    """Two pages by their numbers, the lower one first, and the share of their own words that they have in common."""

    one: int
    other: int
    share: float


def like_pairs(pages: Sequence[Version]) -> list[LikePair]:
    """Return the pairs of pages that are alike, those with the most in common first.

    *pages* are such as differ from each other; pages that stand near each other are compared rather than others.
    Linear in the blocks.
    """
    texts = _OwnTexts(pages)
    pairs = [LikePair(one, other, texts.share(one, other)) for one, other in set(texts.candidates())]
    return sorted([pair for pair in pairs if pair.share], key=lambda pair: (-pair.share, pair))


class _OwnTexts:
    """The texts of each page that few pages have."""

    def __init__(self, pages: Sequence[Version]) -> None:
        shown = [Counter([text for _, attribute, text in page.seen if not attribute]) for page in pages]
        #: Text -> number of pages that show it.
        self._pages = Counter([text for texts in shown for text in texts])
        most = max(3, OWN * len(pages))
        self._words = {text: len(text.split()) for text, number in self._pages.items() if number <= most}
        #: For each page text -> how many times it stands there.
        self._own = [{text: times for text, times in texts.items() if text in self._words} for texts in shown]
        self._totals = [sum([self._words[text] * times for text, times in own.items()]) for own in self._own]

    def candidates(self) -> Iterator[tuple[int, int]]:
        """Yield pairs of pages that share one of the rarest texts of both, some of them several times."""
        buckets: defaultdict[str, list[int]] = defaultdict(list)
        for number, own in enumerate(self._own):
            for text in sorted([text for text in own if self._pages[text] > 1], key=self._rank)[:RAREST]:
                buckets[text].append(number)
        for bucket in buckets.values():
            for place, number in enumerate(bucket[1:], 1):
                yield bucket[0], number
                yield from [(near, number) for near in bucket[max(1, place - NEAREST) : place]]

    def share(self, one: int, other: int) -> float:
        """Return the share of their own words that two pages have in common; 0 where they are not alike."""
        least, most = sorted((self._totals[one], self._totals[other]))
        if least < max(MIN_WORDS, ALIKE * most):
            return 0.0
        mine, its = self._own[one], self._own[other]
        common = sum([self._words[text] * min(mine[text], its[text]) for text in mine.keys() & its.keys()])
        return common / most if common >= max(MIN_WORDS, ALIKE * most) else 0.0

    def _rank(self, text: str) -> tuple[int, int, str]:
        return self._pages[text], -len(text), text
