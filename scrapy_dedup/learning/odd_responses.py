"""Responses that were not their URL's page, left out of what is learned from.

Where a site has a noise floor, it is that of every URL. So what rules would merge is taken for one page with odd
responses in it, and these for no evidence, if they are no more than the floor is, under each rule and on each kind of
pages, and stand at no value more often than chance explains. The rules that this is asked of are learned without all that may be
odd; the others are then learned from what is left, and asked again.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from math import prod

from ..rules import RuleBook
from ..urls import values_of
from .blame import blamed
from .clusters import Clusters
from .combining import rules_of
from .deadline import Deadline
from .emission import Proposal
from .evidence import at_least_among, at_most, upper_bound
from .judgement import Deep, Judgement, Sample, book_of, judged
from .noise import MAX_GROUPS, MAX_MEMBERS, are_apart, groups_owed, said
from .noise_floor import DOUBT, MIN_ODD, Kind, NoiseFloor, kind_of
from .odd_values import MIN_ODD as SEVERAL
from .untested import KINDS

MOST_ALIKE = 3
"""URLs of one page that may all be answered with the same odd content (a test version)."""
MIN_KINDS = 5
"""Kinds of pages that an error is met on."""
MOST_OF_KIND = 0.2
"""Share of the URLs of a kind that may be answered with one and the same error; of more it is the page."""
MOST_ERRORS = 3
"""Different errors of a site."""
MAX_EXCESS = 0.4
"""Upper 95 % bound of the share of a rule's groups that may be several pages. It matters where few groups are known; where
more are, the other tests are stricter."""
MOST_SPOILED = 0.3
"""Probability that noise spoils all of some groups, below which they are several pages."""
ROUNDS = 3

Search = Callable[[Sample, Deadline], tuple[Sequence[Proposal], Deep]]
"""What is learned from some of the URLs of a sample until a deadline: proposals, and the deep tokens that they speak of."""


def without_odd_responses(sample: Sample, found: Clusters, search: Search, deadline: Deadline) -> Sample:
    """Return a sample less the URLs whose response was odd; all of it where no noise was *found*, or time is out."""
    if not found.floor.odd:
        return sample
    everywhere = found.errors | _everywhere(sample)
    inquiry = _Inquiry(sample, found.floor, lambda part: search(part, deadline), everywhere, found.steady)
    noise: set[int] = set()
    pages: set[int] = set()
    for most in range(1, MOST_ALIKE + 1):
        # Rules whose counterexamples may all be odd are found where these are left out.
        suspects = inquiry.suspects(most)
        told = inquiry.told(suspects | noise, suspects)
        fresh = told.noise - noise - pages
        pages |= told.pages
        noise |= fresh
        if deadline.passed():
            return sample
        if not fresh:
            break
    for _ in range(ROUNDS):
        noise -= pages
        told = inquiry.told(noise, suspects | noise)
        if deadline.passed():
            return sample  # what was not searched to the end has not been asked of all rules
        if not told.pages & noise:
            break
        pages |= told.pages
    return _less(sample, noise - pages)


def _less(sample: Sample, numbers: AbstractSet[int]) -> Sample:
    return sample.part([number for number in range(len(sample.urls)) if number not in numbers])


def _everywhere(sample: Sample) -> set[int]:
    """Return contents that stand here and there all over the site, such as an error in the place of a page.

    Where many do, they are pages under several directories.
    """
    counts = Counter(sample.content)
    kinds = [kind_of(url) for url in sample.urls]
    of_kind = Counter(kinds)
    met: defaultdict[int, Counter[Kind]] = defaultdict(Counter)
    for content, kind in zip(sample.content, kinds, strict=True):
        if counts[content] >= MIN_KINDS:
            met[content][kind] += 1
    found = {
        content
        for content, own in met.items()
        if len(own) >= MIN_KINDS and all(count <= max(1, MOST_OF_KIND * of_kind[kind]) for kind, count in own.items())
    }
    return found if len(found) <= MOST_ERRORS else set()


@dataclass(frozen=True, slots=True)
class _Told:
    """URLs whose response was odd, and those of which it only looked so."""

    noise: set[int]
    pages: set[int]


@dataclass(frozen=True, slots=True)
class _Inquiry:
    """What is asked of a sample; ``everywhere`` are the contents that stand all over the site."""

    sample: Sample
    floor: NoiseFloor
    search: Callable[[Sample], tuple[Sequence[Proposal], Deep]]
    everywhere: AbstractSet[int]
    steady: AbstractSet[str]

    def suspects(self, most: int) -> set[int]:
        """Return the URLs whose content may not be theirs: what is everywhere, and what at *most* so many URLs have.

        What a URL showed in two crawls is its page, and so is what it showed whenever it was asked, if not everywhere.
        """
        rows = list(enumerate(zip(self.sample.urls, self.sample.content, strict=True)))
        sure = self.sample.confirmed or frozenset()
        known = {content for _, (url, content) in rows if url in sure or url in self.steady}
        counts = Counter(self.sample.content)
        return {
            number
            for number, (url, content) in rows
            if (url not in sure if content in self.everywhere else counts[content] <= most and content not in known)
        }

    def told(self, left_out: AbstractSet[int], suspects: AbstractSet[int]) -> _Told:
        """Return what the rules tell that are learned without some URLs."""
        sample = self.sample
        proposals, deep = self.search(_less(sample, left_out))
        book = book_of(rules_of(sample.site, proposals), sample, deep)
        groups = _Groups.of(judged(book, sample), suspects, self.everywhere)
        wrong = groups.pages(self.floor) | groups.too_often(proposals, book, self.floor)
        wrong |= groups.owed(wrong)
        alone = {number for number in suspects if sample.content[number] in self.everywhere} - groups.merged
        every = range(len(groups.members))
        return _Told(alone | groups.odd_of(number for number in every if number not in wrong), groups.odd_of(wrong))


@dataclass(frozen=True, slots=True)
class _Groups:
    """The informative groups of a judgement, and which URLs of each do not show its page."""

    judgement: Judgement
    members: Sequence[Sequence[int]]
    main: Sequence[int]
    """The page of each: what most of its URLs show, and rather what may be a page."""
    odd: Sequence[Sequence[int]]
    others: Sequence[Sequence[int]]
    """Of the odd ones those whose content does not stand everywhere."""
    suspects: AbstractSet[int]
    _views_of: dict[int, Sequence[Mapping[str, str | None]]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, judgement: Judgement, suspects: AbstractSet[int], everywhere: AbstractSet[int]) -> "_Groups":
        content = judgement.sample.content
        members = judgement.merged
        main = []
        for group in members:
            counts = Counter(content[number] for number in group)
            sure = {content[number] for number in group if number not in suspects}
            main.append(max(counts, key=lambda page: (page not in everywhere, counts[page], page in sure)))
        odd = [
            [number for number in group if content[number] != page or page in everywhere]
            for group, page in zip(members, main, strict=True)
        ]
        others = [[number for number in group if content[number] not in everywhere] for group in odd]
        return cls(judgement, members, main, odd, others, suspects)

    @property
    def merged(self) -> set[int]:
        """Return all URLs of the groups."""
        return {number for group in self.members for number in group}

    def odd_of(self, numbers: Iterable[int]) -> set[int]:
        """Return the odd URLs of some groups."""
        return {url for number in numbers for url in self.odd[number] if url in self.suspects}

    def pages(self, floor: NoiseFloor) -> set[int]:
        """Return the numbers of the groups that are several pages by themselves."""
        return {number for number, odd in enumerate(self.odd) if odd and self._are_pages(number, floor)}

    def _are_pages(self, number: int, floor: NoiseFloor) -> bool:
        members, odd = self.members[number], self.odd[number]
        if any(url not in self.suspects for url in odd) or not floor.is_of(self.judgement.sample.urls[members[0]]):
            return True
        contents = {self.judgement.sample.content[url] for url in members}
        # As many contents as URLs: nothing but their number says that one of them is the page.
        doubt = DOUBT if len(contents) == len(members) > 2 else DOUBT / len(self.members)
        if 1 - at_most(len(odd) - 1, len(members), floor.share) < doubt:
            return True
        return self._is_told_by_a_value(number) or are_apart(self.judgement.sample, members)

    def _is_told_by_a_value(self, number: int) -> bool:
        """Tell whether a value tells which URLs of a group are odd, or all that have an odd content: by chance none does."""
        sample, odd = self.judgement.sample, self.others[number]
        own = [url for url in self.members[number] if sample.content[url] == self.main[number]]
        if len(odd) < SEVERAL or not own:
            return False
        both = said(sample, [*odd, *own])
        of_odd, of_all = (Counter(value for values in some for value in values) for some in (both[: len(odd)], both))
        tried = [value for value, count in of_odd.items() if count >= SEVERAL and of_all[value] < len(both)]
        if any(
            at_least_among(of_odd[value], of_all[value], len(odd), len(both)) < DOUBT / len(tried) for value in tried
        ):
            return True
        by_content: defaultdict[int, list[int]] = defaultdict(list)
        for url in odd:
            by_content[sample.content[url]].append(url)
        return any(_have_a_value(sample, urls, own) for urls in by_content.values() if len(urls) >= SEVERAL)

    def too_often(self, proposals: Sequence[Proposal], book: RuleBook, floor: NoiseFloor) -> set[int]:
        """Return the numbers of the groups of proposals that merge more that is odd than noise explains.

        That is asked of the groups under one directory, of those among them in which the key has several values (that it
        may be missing does not say that these mean nothing), of those of one host, one section named in the query or any
        other value that all URLs of several groups have, the smallest part first, and of all that are left.
        """
        wrong: set[int] = set()
        for proposal, numbers in blamed(proposals, book, self.judgement, self.members).items():
            if not any(self.odd[number] for number in numbers):
                continue
            found: set[int] = set()
            kinds, others = self._parts(proposal.key, numbers)
            for some, doubt in sorted([(some, DOUBT) for some in kinds] + others, key=lambda part: len(part[0])):
                left = some - found
                if self._is_too_often(left, floor, doubt) or (doubt == DOUBT and self._were_clean(left, floor)):
                    found |= left
            left = numbers - found
            if self._is_too_often(left, floor) or self._excess(left, floor) > MAX_EXCESS:
                found |= left
            wrong |= found
        return wrong

    def _parts(self, key: str, numbers: AbstractSet[int]) -> tuple[list[set[int]], list[tuple[set[int], float]]]:
        """Return the groups all of whose URLs have one value, for each, and those of them where a key varies or not.

        First those of one directory, then those of other values, each with the doubt that is left to it: these are many.
        """
        parts: defaultdict[tuple[str, str | None], tuple[set[int], set[int]]] = defaultdict(lambda: (set(), set()))
        for number in numbers:
            views = self._views(number)
            varies = len({view[key] for view in views if key in view}) > 1
            for shared in set.intersection(*(set(view.items()) for view in views)):
                parts[shared][varies].add(number)
        kinds: list[set[int]] = []
        others: list[set[int]] = []
        for (name, _), (same, varying) in parts.items():
            # What one group has alone is the name of its page.
            if len(same) + len(varying) > 1:
                every = same | varying
                (kinds if name in KINDS else others).extend([same, varying, every] if same and varying else [every])
        spoiled = (some for some in others if sum(bool(self.odd[number]) for number in some) >= MIN_ODD)
        return kinds, [(some, DOUBT / len(others)) for some in spoiled]

    def _views(self, number: int) -> Sequence[Mapping[str, str | None]]:
        if number not in self._views_of:
            sample = self.judgement.sample
            self._views_of[number] = [
                values_of(sample.urls[url], groups=sample.groups) for url in self.members[number][:MAX_MEMBERS]
            ]
        return self._views_of[number]

    def _is_too_often(self, numbers: AbstractSet[int], floor: NoiseFloor, doubt: float = DOUBT) -> bool:
        odd = sum(len(self.odd[number]) for number in numbers)
        others = sum(len(self.others[number]) for number in numbers)
        responses = sum(self._sizes(numbers))
        return min(floor.chance(odd, responses), floor.chance_of_others(others, responses)) < doubt / 2

    def _excess(self, numbers: AbstractSet[int], floor: NoiseFloor) -> float:
        """Return the upper 95 % bound of the share of groups that are several pages, noise apart; 0.0 where none is odd."""
        spoiled = sum(bool(self.odd[number]) for number in numbers)
        return upper_bound(spoiled, len(numbers)) - floor.usual(self._sizes(numbers)) if spoiled else 0.0

    def _were_clean(self, numbers: AbstractSet[int], floor: NoiseFloor) -> bool:
        """Tell whether all of some groups are spoiled though noise would have left one clean."""
        if not numbers or not all(self.odd[number] for number in numbers):
            return False
        return prod(floor.usual([size]) for size in self._sizes(numbers)) < MOST_SPOILED

    def _sizes(self, numbers: AbstractSet[int]) -> list[int]:
        return [len(self.members[number]) for number in numbers]

    def owed(self, wrong: AbstractSet[int]) -> set[int]:
        """Return the numbers of groups whose odd URLs stand at a value more often than chance explains."""
        spoiled = [(number, self.members[number]) for number, odd in enumerate(self.odd) if odd and number not in wrong]
        some = spoiled[:: len(spoiled) // MAX_GROUPS + 1]
        odd = {url for number, _ in some for url in self.odd[number]}
        return set[int]().union(*groups_owed(self.judgement.sample, some, odd).values()) if some else set()


def _have_a_value(sample: Sample, urls: Sequence[int], others: Sequence[int]) -> bool:
    both = said(sample, [*urls, *others])
    return bool(set.intersection(*both[: len(urls)]) - set[tuple[str, str | bool]]().union(*both[len(urls) :]))
