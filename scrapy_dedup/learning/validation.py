"""Whether rules are safe: one judgement, whichever learner proposed them (design, validation).

The function that would be deployed is compiled and run on the observed URLs. URLs that get one key
are a group; an informative group has two URLs or more, a bad one two contents or more. A rule may
have no bad group, or a share of them that is bounded like noise.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ..rules import Rule, RuleBook
from ..urls import DeepSplit, values_of
from .clusters import NO_EVIDENCE, Clusters
from .combining import rules_of
from .emission import Proposal
from .evidence import tolerable

ROUNDS = 20
MAX_CLEAN = 2_000
"""Clean groups that are looked at to count what speaks for a proposal; of more, every n-th is."""
MAX_MEMBERS = 20
"""URLs of a group that are looked at."""

Deep = Mapping[str, DeepSplit]


@dataclass(frozen=True, slots=True)
class Sample:
    """Observed URLs of one site, in normal form, and the duplicate cluster of each."""

    site: str
    urls: Sequence[str]
    content: Sequence[int]
    groups: Mapping[str, Sequence[str]] | None = None
    """The declared site groups."""
    remembered: dict[str, "Judgement"] = field(default_factory=dict, repr=False, compare=False)
    """The last judgement, by the digest of its rules."""

    @classmethod
    def of(cls, site: str, found: Clusters, groups: Mapping[str, Sequence[str]] | None) -> "Sample":
        """Return the URLs of clusters that are evidence."""
        chosen = [i for i, number in enumerate(found.content) if number != NO_EVIDENCE]
        return cls(site, [found.urls[i] for i in chosen], [found.content[i] for i in chosen], groups)

    def part(self, chosen: Sequence[int]) -> "Sample":
        """Return some of the URLs."""
        return Sample(self.site, [self.urls[i] for i in chosen], [self.content[i] for i in chosen], self.groups)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a function does to a sample: groups of URL numbers by canonical key."""

    sample: Sample
    by_key: Mapping[str, Sequence[int]]

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

    def _is_one_page(self, members: Sequence[int]) -> bool:
        return len({self.sample.content[i] for i in members}) == 1

    @property
    def lost(self) -> int:
        """Return the number of pages that no first URL of a key leads to."""
        content = self.sample.content
        return len(set(content)) - len({content[members[0]] for members in self.by_key.values()})

    @property
    def removed(self) -> int:
        """Return the number of URLs that lead to the page of the first URL of their key."""
        content = self.sample.content
        return sum(content[i] == content[members[0]] for members in self.merged for i in members[1:])


def judged(book: RuleBook, sample: Sample) -> Judgement:
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


def book_of(rules: Sequence[Rule], sample: Sample, deep: Deep) -> RuleBook:
    """Return the compiled rules of the sample's site."""
    return RuleBook(rules, deep={sample.site: deep} if deep else None, groups=sample.groups)


def validated(proposals: Sequence[Proposal], sample: Sample, deep: Deep) -> list[Proposal]:
    """Return the proposals that stay when the function is judged as a whole.

    Proposals that are part of bad groups are taken out, the worst first, until each rule that is left
    is free of counterexamples or within what noise can explain. To take one out divides groups and
    joins none, so that from the second round on only what was in bad groups is looked at.
    """
    kept = list(proposals)
    looked_at = sample
    for _ in range(ROUNDS):
        book = book_of(rules_of(sample.site, kept), sample, deep)
        judgement = judged(book, looked_at)
        rejected = refuted(kept, book, judgement)
        if not rejected:
            return kept
        looked_at = looked_at.part(sorted(i for members in judgement.bad for i in members))
        for proposal in rejected:
            kept = without(kept, proposal)
    return []


def without(proposals: Sequence[Proposal], rejected: Proposal) -> list[Proposal]:
    """Return the proposals less a rejected one, and less those that only hold together with it."""
    return [
        other
        for other in proposals
        if other != rejected and not (rejected.joint and other.joint and other.match == rejected.match)
    ]


def refuted(proposals: Sequence[Proposal], book: RuleBook, judgement: Judgement) -> list[Proposal]:
    """Return proposals with more counterexamples than noise explains, the worst first.

    A bad group is held against the worst of those that brought it together; the others are asked
    again when that one is gone.
    """
    bad = judgement.bad
    if not bad:
        return []
    against = blamed(proposals, book, judgement, bad)
    clean = judgement.clean
    step = len(clean) // MAX_CLEAN + 1
    for_it = Counter(
        {proposal: len(groups) * step for proposal, groups in blamed(proposals, book, judgement, clean[::step]).items()}
    )
    rejected: list[Proposal] = []
    open_groups = set(range(len(bad)))
    while True:
        counts = {proposal: len(groups & open_groups) for proposal, groups in against.items()}
        wrong = {
            proposal: count for proposal, count in counts.items() if not tolerable(count, count + for_it[proposal])
        }
        if not wrong:
            return rejected
        worst = max(wrong, key=lambda p: (wrong[p] / (wrong[p] + for_it[p]), wrong[p], repr(p)))
        rejected.append(worst)
        open_groups -= against.pop(worst)


def blamed(
    proposals: Sequence[Proposal], book: RuleBook, judgement: Judgement, groups: Sequence[Sequence[int]]
) -> dict[Proposal, set[int]]:
    """Return, per proposal, the numbers of those *groups* whose URLs it brought together.

    A proposal has a part in a group when its rule matches one of the URLs and these differ in its
    key (or when no key of any rule differs, as where paths move).
    """
    urls = judgement.sample.urls
    by_rule: defaultdict[str, list[Proposal]] = defaultdict(list)
    for proposal in proposals:
        (rule,) = rules_of(judgement.sample.site, [proposal])
        by_rule[_pattern(rule)].append(proposal)
    parts_of = {rule.id: by_rule[_pattern(rule)] for rule in book}
    found: defaultdict[Proposal, set[int]] = defaultdict(set)
    for number, members in enumerate(groups):
        some = members[:MAX_MEMBERS]
        views = [values_of(urls[i], groups=judgement.sample.groups) for i in some]
        matching = {rule.id for i in some for rule in book.matching(urls[i])}
        parts = [proposal for name in sorted(matching) for proposal in parts_of[name]]
        keys = {_base(proposal.key) for proposal in parts}
        differing = {key for key in keys if len({view.get(key) for view in views}) > 1}
        for proposal in parts:
            if not differing or _base(proposal.key) in differing:
                found[proposal].add(number)
    return dict(found)


def _base(key: str) -> str:
    """Return the key of a deep token's whole value."""
    return key.removesuffix(".head").removesuffix(".tail")


def _pattern(rule: Rule) -> str:
    return repr(rule.match)
