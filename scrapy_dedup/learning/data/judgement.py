"""The effect of rules on a site's observed URLs: the function that would be deployed, run on all of them.

URLs that get one key are a group; an informative group has two URLs or more, a bad one two contents
or more.
"""

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...rules import Operation, Replace, Rule, RuleBook, SetOfValues
from ...urls import DeepSplit
from ..evidence.judge import Judge, Verdict
from ..evidence.user_names import Names
from ..evidence.value_kinds import ORDER, WHOLE, ValueKind
from ..evidence.witnesses import witnesses
from .clusters import NO_EVIDENCE, Clusters

Deep = Mapping[str, DeepSplit]


@dataclass(frozen=True, slots=True)
class SiteUrls:
    """Observed URLs of one site, in normal form, and the duplicate cluster of each."""

    site: str
    urls: Sequence[str]
    content: Sequence[int]
    site_groups: Mapping[str, Sequence[str]] | None = None
    """The declared site groups."""
    lone: AbstractSet[int] = frozenset()
    """Contents that one URL of the site has, and had once only; of a part: of the whole."""
    confirmed: AbstractSet[str] | None = None
    """URLs that were the same page in two crawls; None where crawls are not known."""
    times: Sequence[float] | None = field(default=None, repr=False, compare=False)
    """When each URL was last seen, in seconds since 1970; None where no times are known."""
    passwords: AbstractSet[int] | None = field(default=None, repr=False, compare=False)
    """Contents that have a password field; None where nobody looked for one."""
    constant: Sequence[int] | None = field(default=None, repr=False, compare=False)
    """The number of the constant page that each URL is of, -1 for none; None where nobody has looked for them."""
    names: Names = field(default_factory=Names, repr=False, compare=False)
    """Names of parameters whose meaning the user tells."""
    others: RuleBook | None = field(default=None, repr=False, compare=False)
    """The rules of other sites whose URLs are nested in these."""
    judge: Judge = field(default_factory=Judge, repr=False, compare=False)
    """What is believed of the site's error rate."""
    kinds: Mapping[str, ValueKind] = field(default_factory=dict, repr=False, compare=False)
    """Of the values of each key of the site's URLs."""
    remembered: dict[str, "Judgement"] = field(default_factory=dict, repr=False, compare=False)
    """The last judgement, by the digest of its rules."""

    @classmethod
    def of(
        cls,
        site: str,
        found: Clusters,
        site_groups: Mapping[str, Sequence[str]] | None,
        others: RuleBook | None = None,
        names: Names | None = None,
    ) -> "SiteUrls":
        """Return the URLs of clusters that are evidence."""
        chosen = [i for i, number in enumerate(found.content) if number != NO_EVIDENCE]
        content = [found.content[i] for i in chosen]
        # What one URL showed twice is a page, and no clock nor an odd response.
        sure = (found.confirmed or frozenset()) | found.stable
        passing = {found.content[i] for i in chosen if found.urls[i] not in sure}
        lone = {number for number, count in Counter(content).items() if count == 1 and number in passing}
        urls, times = [found.urls[i] for i in chosen], _of(found.times, chosen)
        return cls(
            site,
            urls,
            content,
            site_groups,
            lone,
            found.confirmed,
            times=times,
            passwords=found.passwords,
            names=names or Names(),
            others=others,
        )

    def confirmed_urls(self) -> npt.NDArray[np.bool_]:
        """Return which URLs were the same page in two crawls: all, where observations tell no times.

        Then they are no crawl's but the user's, who knows what is a page.
        """
        known = self.confirmed
        return np.array([known is None or url in known for url in self.urls], dtype=np.bool_)

    def part(self, chosen: Sequence[int]) -> "SiteUrls":
        """Return some of the URLs."""
        urls, content = [self.urls[i] for i in chosen], [self.content[i] for i in chosen]
        constant = None if self.constant is None else [self.constant[i] for i in chosen]
        times = _of(self.times, chosen)
        return replace(self, urls=urls, content=content, times=times, constant=constant, remembered={})

    def shown(self, rows: Sequence[int]) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
        """Return what some URLs show, and whether each is the only one of the site."""
        content = [self.content[row] for row in rows]
        return np.array(content, dtype=np.int32), np.array([each in self.lone for each in content], dtype=np.bool_)

    def kind_of(self, key: str, operation: Operation) -> ValueKind:
        """Return the kind of what an operation on a key makes no difference of: its values, or their order."""
        return ORDER if isinstance(operation, SetOfValues) else self.kinds.get(key, ValueKind.OTHER)


def _of(times: Sequence[float] | None, chosen: Sequence[int]) -> Sequence[float] | None:
    """Return the times of some URLs, where any are known."""
    return None if times is None else array("d", (times[i] for i in chosen))


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a function does to a sample: groups of URL numbers by canonical key."""

    sample: SiteUrls
    by_key: Mapping[str, Sequence[int]]

    @property
    def numbers(self) -> npt.NDArray[np.intp]:
        """Return the number of each URL's group."""
        found = np.zeros(len(self.sample.urls), dtype=np.intp)
        for number, members in enumerate(self.by_key.values()):
            found[members] = number
        return found

    @property
    def merged(self) -> list[Sequence[int]]:
        """Return the informative groups."""
        return [members for members in self.by_key.values() if len(members) > 1]

    @property
    def bad(self) -> list[Sequence[int]]:
        """Return the informative groups with two contents or more."""
        return [members for members in self.merged if not self._is_one_page(members)]

    @property
    def clean(self) -> list[Sequence[int]]:
        """Return the informative groups of one content."""
        return [members for members in self.merged if self._is_one_page(members)]

    def verdict(self) -> Verdict:
        """Return the expected outcome of the function as a whole."""
        merged = self.merged
        sizes = [len(members) for members in merged]
        content, lone = self.sample.shown([i for members in merged for i in members])
        return self.sample.judge.verdict(witnesses(np.repeat(np.arange(len(sizes)), sizes), content, lone, WHOLE))

    def witnessed(self) -> set[str]:
        """Return the keys whose URLs are rather one page for the judge, and of which two or more show the same.

        There may be odd responses among them.
        """
        content = self.sample.content
        keys = [key for key, members in self.by_key.items() if len(members) > 1]
        agreeing = (len({content[i] for i in self.by_key[key]}) < len(self.by_key[key]) for key in keys)
        bad = self.verdict().bad if keys else ()
        return {key for key, wrong, agree in zip(keys, bad, agreeing, strict=True) if agree and wrong <= 0.5}

    def _is_one_page(self, members: Sequence[int]) -> bool:
        return len({self.sample.content[i] for i in members}) == 1

    @property
    def lost_pages(self) -> set[int]:
        """Return the contents that no first URL of a key leads to."""
        content = self.sample.content
        return set(content) - {content[members[0]] for members in self.by_key.values()}

    @property
    def lost(self) -> int:
        """Return the number of pages that no first URL of a key leads to."""
        return len(self.lost_pages)

    @property
    def removed(self) -> int:
        """Return the number of URLs that lead to the page of the first URL of their key."""
        content = self.sample.content
        return sum(content[i] == content[members[0]] for members in self.merged for i in members[1:])


def judged(book: RuleBook, sample: SiteUrls) -> Judgement:
    """Return what the rules of a book do to the URLs of a sample.

    The last judgement of a sample is remembered, since one step often asks what the one before asked.
    """
    digest = book.digest()
    if digest not in sample.remembered:
        by_key: defaultdict[str, list[int]] = defaultdict(list)
        for number, url in enumerate(sample.urls):
            by_key[book.canonical_key(url)].append(number)
        sample.remembered.clear()
        sample.remembered[digest] = Judgement(sample, by_key)
    return sample.remembered[digest]


def rules_acting(book: RuleBook, operations: Iterable[Operation]) -> Callable[[str], list[Rule]]:
    """Return what tells the rules that act on a URL: with what leads to other forms, also on what others make of it."""
    leads = any(isinstance(operation, Replace) for operation in operations)
    return book.acting if leads else book.matching


def book_of(rules: Sequence[Rule], sample: SiteUrls, deep: Deep) -> RuleBook:
    """Return the compiled rules of the sample's site, beside those of sites whose URLs are nested in its own."""
    book = RuleBook(rules, deep={sample.site: deep} if deep else None, groups=sample.site_groups)
    return book if sample.others is None else book.beside(sample.others)
