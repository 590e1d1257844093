"""On which kinds of pages a place acts: where it was seen to change, and where what stands there fits; not where it was seen to last."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise
from typing import Final

from ..chance import at_most
from .observe import Fetch, Observations, Sighting, Where
from .slots import Slot, hidden, is_typed, pieces

LUCK: Final = 0.05
"""Probability from which on it may be luck that so many responses have shown the same."""
OFTEN: Final = 0.5
"""Share of the changes that are expected by those on other kinds of pages, under which what stands there is the pages' own."""
RARE: Final = 0.02
"""Probability under which it is no luck."""
COMMON: Final = 0.5
"""Share of the pages that show the same from which on that is no luck."""
NEARLY_ALL: Final = 0.9
SEVERAL: Final = 3


_number = re.compile(r"\d+(?:[., ]\d{3})*").sub
_token = re.compile(r"(?=[A-Za-z]*\d)[A-Za-z\d_+/=-]{8,}(?=\S*[A-Za-z])\S*|\d*[a-fA-F\d]{8,}").fullmatch


@dataclass(frozen=True, slots=True)
class Part:
    """What changes at a place: all of its texts, or the one at a position, and of this the words in the gaps of a slot."""

    where: Where
    position: int = 0
    slot: Slot | None = None

    def of(self, texts: Sequence[str]) -> tuple[str, ...] | None:
        """Return what it is of some texts; None where it says nothing of them."""
        if not texts:
            return ()
        if self.position:
            at = self.position - (self.position > 0)
            texts = texts[at:][:1] if -len(texts) <= at < len(texts) else ()
        if self.slot is None:
            return tuple(texts) or None
        if len(texts) == 1:
            words = pieces(texts[0], self.where[1])
            ranges = hidden(words, self.slot, self.where[1])
            if ranges is not None:
                return (" ".join([word for start, end in ranges for word in words[start:end]]),)
        return None


@dataclass(frozen=True, slots=True)
class Pair:
    """Two responses that show a page, one after the other."""

    one: Sighting
    other: Sighting
    changed: bool

    @property
    def gap(self) -> float:
        """Seconds between them."""
        return self.other.at - self.one.at

    @property
    def visits(self) -> bool:
        """Whether what stands there has come or gone."""
        return not (self.one.texts and self.other.texts)

    @property
    def is_soon(self) -> bool:
        """Whether they are of one crawl."""
        return self.one.fetch.crawl == self.other.fetch.crawl


def pairs_of(shown: Sequence[Sighting]) -> list[Pair]:
    """Return the pairs that say something of a change: a pair of one crawl says nothing of what goes with the day."""
    pages: defaultdict[str, list[Sighting]] = defaultdict(list)
    for each in shown:
        pages[each.page].append(each)
    both = [pair for page in pages.values() for pair in pairwise(page)]
    # What only comes has grown, and what only goes was moved for good; what does both comes and goes.
    visits = {bool(one.texts) for one, other in both if bool(one.texts) != bool(other.texts)} == {True, False}
    pairs = [Pair(*pair, _has_changed(*pair)) for pair in both if (any if visits else all)(each.texts for each in pair)]
    least = min([pair.gap for pair in pairs if pair.changed and pair.is_soon], default=None)
    changes_later = any(pair.changed for pair in pairs)
    return [
        pair
        for pair in pairs
        if pair.changed or not pair.is_soon or not changes_later or (least is not None and pair.gap >= least)
    ]


def _has_changed(one: Sighting, other: Sighting) -> bool:
    """Return whether texts went and others came: what only came has grown, and of numbers that pass none stays."""
    before, after = {*one.texts}, {*other.texts}
    if before and after and (before <= after or after <= before):
        return False
    return not before & after or not all(map(is_typed, {*_words(one)} ^ {*_words(other)}))


@dataclass
class Trials:
    """The pairs of one part, by kind of pages."""

    pairs: Sequence[Pair]
    #: Share of the pages that show the same by chance.
    luck: float = 0.0

    @cached_property
    def by_kind(self) -> dict[str, tuple[int, int]]:
        """Kind of pages -> changes, and pairs in which it could have changed."""
        changes, all_ = Counter[str](), Counter[str]()
        for pair in self.pairs:
            for kind in {pair.one.kind, pair.other.kind}:
                changes[kind] += pair.changed
                all_[kind] += 1
        return {kind: (changes[kind], all_[kind]) for kind in all_}

    @property
    def changed(self) -> list[Pair]:
        """The pairs in which it changed."""
        return [pair for pair in self.pairs if pair.changed]

    @property
    def sightings(self) -> list[Sighting]:
        """The responses of the pairs in which it changed."""
        return [each for pair in self.changed for each in (pair.one, pair.other)]

    @cached_property
    def changing(self) -> frozenset[str]:
        """The kinds of pages on which it was seen to change, as often as elsewhere."""
        return frozenset([kind for kind, (changes, _) in self.by_kind.items() if changes]) - self.lasting

    @cached_property
    def lasting(self) -> frozenset[str]:
        """The kinds of pages on which it stays more often than by luck: what stands there is theirs."""
        changes = sum(some for some, _ in self.by_kind.values())
        all_ = sum(number for _, number in self.by_kind.values())
        most = 1 - max(RARE / 2, self._stays)
        found = set()
        for kind, (some, number) in self.by_kind.items():
            elsewhere = min(most, (changes - some) / (all_ - number) if all_ > number else 0.0)
            if some < OFTEN * elsewhere * number and at_most(some, number, elsewhere) < RARE:
                found.add(kind)
        return frozenset(found)

    @property
    def still(self) -> frozenset[str]:
        """The kinds of pages on which it was seen to stay, and what is drawn for each response would hardly do so."""
        stayed = {kind for kind, (_, number) in self.by_kind.items() if self._stays**number < LUCK}
        return frozenset(stayed) - self.changing

    @property
    def _stays(self) -> float:
        """How often what is drawn anew is by luck what it was."""
        return self.luck if self.luck < COMMON else 0.0

    @cached_property
    def is_typed(self) -> bool:
        """Whether all that went and came are numbers, codes and words of the calendar."""
        words = set().union(*[{*_words(pair.one)} ^ {*_words(pair.other)} for pair in self.changed])
        return bool(words) and all(map(is_typed, words))


def _words(shown: Sighting) -> list[str]:
    return " ".join(shown.texts).split()


def unfit(part: Part, trials: Trials, seen: Observations) -> frozenset[str]:
    """Return the kinds of pages on which other texts stand than those that were seen to change.

    Where several pages of a kind show such texts, others may say it in other words, as in another language. What did not change of
    them, as the date of a clock, stands on all pages of these crawls: the date of something else is the page's own.
    """
    changed = [text for each in trials.sightings for text in each.texts]
    shapes, signs = {_shape(text) for text in changed}, {_signs(text) for text in changed}
    crawls = {each.fetch.crawl for each in trials.sightings}
    kept = frozenset.intersection(*[frozenset(filter(is_typed, text.split())) for text in changed])
    found = [(fetch, part.of(texts) or ("",)) for fetch, texts in seen.shown[part.where]]
    fit = [
        (
            fetch.kind,
            shapes.issuperset(map(_shape, texts)) and (fetch.crawl not in crawls or kept <= {*" ".join(texts).split()}),
        )
        for fetch, texts in found
    ]
    like = [(fetch.kind, len(texts) == 1 and _signs(texts[0]) in signs) for fetch, texts in found]
    several = {kind for kind, number in Counter(kind for kind, is_fit in fit if is_fit).items() if number >= SEVERAL}
    return seen.kinds_with(part.where) - _nearly_all(fit) - (several & _nearly_all(like))


def like_texts(part: Part, trials: Trials, seen: Observations) -> list[str]:
    """Return the single texts of pages, but of kinds on which they last, with such numbers as were seen to change, in whatever words."""
    signs = {_signs(text) for each in trials.sightings for text in each.texts}
    found = [part.of(texts) or () for fetch, texts in seen.shown[part.where] if fetch.kind not in trials.lasting]
    return [texts[0] for texts in found if len(texts) == 1 and _signs(texts[0]) in signs]


def alike(trials: Trials, still: AbstractSet[str], seen: Observations) -> frozenset[str]:
    """Return the kinds of pages that are laid out as pages that were seen to change, and not as those of kinds that stood *still*."""
    layouts = {seen.layouts[each.fetch.url] for each in trials.sightings}
    layouts -= {seen.layouts[fetch.url] for fetch in seen.latest if fetch.kind in still}
    return _nearly_all([(fetch.kind, seen.layouts[fetch.url] in layouts) for fetch in seen.latest])


def _nearly_all(found: Sequence[tuple[str, bool]]) -> frozenset[str]:
    """Return the names of which nearly all that was found is true."""
    met, right = Counter(name for name, _ in found), Counter(name for name, is_right in found if is_right)
    return frozenset([name for name in met if right[name] >= NEARLY_ALL * met[name]])


def agreement(shown: Sequence[tuple[Fetch, tuple[str, ...] | None]]) -> float:
    """Return the share of the pages that show what another one does, which was fetched much earlier or later."""
    pairs = zip(shown, shown[(len(shown) + 1) // 2 :], strict=False)
    equal = [one == other for (fetch, one), (later, other) in pairs if abs(fetch.at - later.at) >= 1]
    return sum(equal) / len(equal) if equal else 1.0


def is_all_over(part: Part, without: AbstractSet[str], seen: Observations) -> bool:
    """Return whether a part stands on nearly all pages, of several kinds, and hardly ever shows the same twice."""
    found = [(fetch, part.of(texts)) for fetch, texts in seen.shown[part.where] if fetch.kind not in without]
    found = [each for each in found if each[1]]
    return (
        len(found) >= NEARLY_ALL * len(seen.latest)
        and len({fetch.kind for fetch, _ in found}) >= min(SEVERAL, len(seen.kinds))
        and agreement(found) <= LUCK
    )


@lru_cache(maxsize=16_384)
def _shape(text: str) -> str:
    """Return a text with its numbers, tokens and words of the calendar as signs."""
    return " ".join([_sign(word) for word in text.split()])


def _signs(text: str) -> str:
    """Return the signs of the numbers, tokens and words of the calendar in a text."""
    return _shape(" ".join([word for word in text.split() if is_typed(word)]))


def _sign(word: str) -> str:
    if _token(word):
        return "X"
    return _number("0", word) if any(map(str.isdigit, word)) else "D" if is_typed(word) else word
