"""Which proposals brought URLs together: what a group speaks for, and what against."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import pairwise

from ...rules import AnyOrder, Replace, Rule, RuleBook
from ...rules.model import BARE
from ...rules.order import in_order
from ...urls import normal_parts, values_of
from ...urls.deep_tokens import whole_key
from ...urls.query_paths import is_segment_key
from ..data.judgement import Judgement, rules_acting
from ..data.url_table import joined_repeats
from .combining import rules_of
from .dropping import adds_value, changes
from .proposal import Match, Proposal

MAX_MEMBERS = 20
"""URLs of a group of one page that are looked at."""
MAX_CLEAN = 2_000
"""Clean groups that are looked at to count what speaks for a proposal; of more, every n-th is."""
MAX_ODD = 8
"""URLs of the rarer pages of a group of several pages that are looked at."""
MAX_OTHERS = 64
"""URLs of a group of several pages that are compared: those of its rarer pages, with those of another."""

View = Mapping[str, str]


def blamed(
    proposals: Sequence[Proposal], book: RuleBook, judgement: Judgement, groups: Sequence[Sequence[int]]
) -> dict[Proposal, set[int]]:
    """Return, per proposal, the numbers of those *groups* whose URLs it brought together.

    A proposal has a part in a group of one page when it changes the value of one of the URLs and
    these differ in its key (or when no key of any proposal differs, as where paths move). A group of several pages takes as
    many steps from page to page, and each asks only the two nearest URLs: of a thousand URLs that differ in everything, one
    that holds another page would tell against every key there is.
    """
    urls, site_groups = judgement.sample.urls, judgement.sample.site_groups
    acting_on = rules_acting(book, [one.operation for one in proposals])
    parts_of = _parts_by_rule(proposals, book, judgement.sample.site)
    found: defaultdict[Proposal, set[int]] = defaultdict(set)
    for number, members in enumerate(groups):
        views = {i: dict(joined_repeats(values_of(urls[i], groups=site_groups))) for i in _chosen(members, judgement)}
        for some in _steps(views, judgement) or [list(views)]:
            for proposal in _concerned(some, views, parts_of, acting_on, judgement):
                found[proposal].add(number)
    return dict(found)


def _concerned(
    some: Sequence[int],
    views: Mapping[int, View],
    parts_of: Mapping[str, "_Parts"],
    acting_on: Callable[[str], Iterable[Rule]],
    judgement: Judgement,
) -> set[Proposal]:
    """Return the proposals that brought *some* of the URLs of a group together."""
    urls = judgement.sample.urls
    first, *others = (views[i] for i in some)
    differing = {key for view in others for key in first.keys() | view.keys() if first.get(key) != view.get(key)}
    differing = _telling(differing, views, judgement)
    acting = {i: [parts_of[rule.id] for rule in acting_on(urls[i])] for i in some}
    concerned = {
        proposal
        for i, rules in acting.items()
        for parts in rules
        for proposal in parts.about(differing)
        if _changes(proposal, views[i])
    }
    together = {urls[i] for i in some}
    concerned |= {
        one for rules in acting.values() for parts in rules for one in parts.orders if is_arranged(one, together)
    }
    return concerned or {proposal for rules in acting.values() for parts in rules for proposal in parts.every}


@dataclass(slots=True)
class _Parts:
    """The proposals that a rule was made of, and where they are found by the key that they are about."""

    every: list[Proposal] = field(default_factory=list)
    by_key: dict[str, list[Proposal]] = field(default_factory=dict)
    families: list[Proposal] = field(default_factory=list)
    """Those whose key is a beginning of keys."""
    orders: list[Proposal] = field(default_factory=list)
    """Those that an order makes no difference."""

    def add(self, proposal: Proposal) -> None:
        self.every.append(proposal)
        if isinstance(proposal.operation, AnyOrder):
            self.orders.append(proposal)
        elif proposal.key.endswith("*"):
            self.families.append(proposal)
        else:
            self.by_key.setdefault(whole_key(proposal.key), []).append(proposal)

    def about(self, differing: AbstractSet[str]) -> Iterator[Proposal]:
        """Yield the proposals whose key is, or covers, one of those that differ."""
        for key in differing:
            yield from self.by_key.get(key, ())
        if any(key.startswith("q.") for key in differing):
            yield from self.by_key.get(BARE, ())
        for proposal in self.families:
            if any(key.startswith(proposal.key[:-1]) for key in differing):
                yield proposal


def _parts_by_rule(proposals: Sequence[Proposal], book: RuleBook, site: str) -> dict[str, _Parts]:
    names: dict[Match, str] = {}
    by_name: defaultdict[str, _Parts] = defaultdict(_Parts)
    for proposal in proposals:
        if proposal.match not in names:
            (rule,) = rules_of(site, [proposal])
            names[proposal.match] = repr(rule.match)
        by_name[names[proposal.match]].add(proposal)
    return {rule.id: by_name[repr(rule.match)] for rule in book}


def _chosen(members: Sequence[int], judgement: Judgement) -> list[int]:
    """Return the URLs of a group to look at: of several pages, some of the rarer ones first.

    Pages that only one URL of the site shows, and may be noise, are left out where others differ.
    """
    content = judgement.sample.content
    counts = Counter(content[i] for i in members)
    if len(counts) == 1:
        return list(members[:MAX_MEMBERS])
    shared = counts.keys() - judgement.sample.lone
    if len(shared) > 1:
        counts = Counter({page: counts[page] for page in shared})
    (main, _), *_ = counts.most_common(1)
    odd = [i for i in members if content[i] in counts and content[i] != main]
    odd.sort(key=lambda i: counts[content[i]])
    return odd[:MAX_ODD] + [i for i in members if content[i] == main][:MAX_OTHERS]


def _steps(views: Mapping[int, View], judgement: Judgement) -> list[list[int]]:
    """Return the pairs of URLs of different pages that lead from each page to all others, those that differ in fewest keys.

    None where all are one page: a spanning tree of the pages.
    """
    content = judgement.sample.content
    if len({content[i] for i in views}) < 2:
        return []
    items = {i: set(view.items()) for i, view in views.items()}
    odd = list(views)[:MAX_ODD]
    pairs = sorted((len(items[i] ^ items[j]), i, j) for i in odd for j in views if content[i] != content[j])
    tree = {content[i]: content[i] for i in views}
    found = []
    for _, one, other in pairs:
        if tree[content[one]] != tree[content[other]]:
            old, new = tree[content[one]], tree[content[other]]
            tree = {page: new if root == old else root for page, root in tree.items()}
            found.append([one, other])
    return found


def _telling(differing: set[str], views: Mapping[int, View], judgement: Judgement) -> set[str]:
    """Return those of some keys that tell the pages of a group apart best: URLs of one page hardly differ in them.

    A key whose value is another one on every URL tells nothing beside one that is the same on those of a page.
    """
    by_page: defaultdict[int, list[View]] = defaultdict(list)
    for i, view in views.items():
        by_page[judgement.sample.content[i]].append(view)
    pairs = [pair for members in by_page.values() for pair in pairwise(members)] if len(by_page) > 1 else []
    if not pairs or len(differing) < 2:
        return differing
    cost = {key: sum(one.get(key) != other.get(key) for one, other in pairs) / len(pairs) for key in differing}
    least = min(cost.values())
    return {key for key, share in cost.items() if share == least}


def _changes(proposal: Proposal, view: View) -> bool:
    """Return whether a proposal's operation says something of the value that a URL has for its key."""
    if proposal.key.endswith("*"):
        return any(key.startswith(proposal.key[:-1]) and changes(proposal.operation, view[key]) for key in view)
    if proposal.key == BARE:
        return any(changes(proposal.operation, text) for text in bare_texts(view))
    value = view.get(proposal.key)
    if value is None:
        if isinstance(proposal.operation, Replace) or adds_value(proposal.operation):
            return True
        return proposal.key != whole_key(proposal.key) and whole_key(proposal.key) in view
    return changes(proposal.operation, value)


def bare_texts(view: Mapping[str, str | None]) -> list[str]:
    """Return the texts of the parameters of a URL that have no value.

    >>> bare_texts({"path.0": "a", "q.1690839133": "", "q.id": "7"})
    ['1690839133']
    """
    return [
        key.removeprefix("q.")
        for key, value in view.items()
        if not value and key.startswith("q.") and not is_segment_key(key)
    ]


def is_arranged(proposal: Proposal, urls: AbstractSet[str]) -> bool:
    """Return whether a proposal about an order has a part in that some URLs are one: they differ in it, and it changes one."""
    operation = proposal.operation
    if not isinstance(operation, AnyOrder) or len({arrangement(url, proposal.key) for url in urls}) < 2:
        return False
    if proposal.key == "query":
        return any(";" in normal_parts(url)[2] for url in urls)
    paths = (normal_parts(url)[1] for url in urls)
    return any(in_order(path, proposal.key, operation) != path for path in paths)


def arrangement(url: str, key: str) -> str:
    """Return in which order things stand in a URL: the path, or the names of its parameters with what divides them.

    >>> arrangement("http://a.example/?b=1;a=2", "query"), arrangement("http://a.example/x/y", "path")
    ('b;a', '/x/y')
    """
    _, path, query = normal_parts(url)
    if key == "path":
        return path
    if key == "matrix":
        return "/".join(_names(text, ";") for text in path.split("/"))
    return "&".join(_names(piece, ";") for piece in query.split("&"))


def _names(text: str, divider: str) -> str:
    return divider.join([part.partition("=")[0] for part in text.split(divider)])
