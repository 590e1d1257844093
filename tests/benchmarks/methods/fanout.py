"""The fan-out baseline: Dasgupta, Kumar and Sasturkar (KDD 2008), re-implemented from the abstract.

The full text was not at hand. What the abstract and the pattern-tree paper (sections 2 and 6.1) say of
it: URLs as keys and values, rules induced from pairs of duplicates, and generalised one key at a time
where a key takes ``fan_out`` values or more. As in the pattern-tree paper, the rules are filtered by
their false-positive rate and selected by its straightforward strategy.
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from random import Random

from scrapy_dedup.learning.methods.pattern_tree.tree import composed, view_of
from scrapy_dedup.urls import normal_form

MAX_SOURCES = 50
MAX_TARGETS = 10
"""URLs of a cluster that are paired: all ordered pairs of a small one, 50 x 10 of a large one."""
MIN_REFERENCE = 2
"""Characters of a value that is taken for a reference to another key."""
MIN_SUPPORT = 2
MAX_STEPS = 10

View = Mapping[str, str]
ANY = object()
"""In a context: any value."""
WILD = ("wild", "")
Context = tuple[tuple[str, object], ...]
"""Key -> value, None (absent) or ``ANY``; sorted by key."""
Transform = tuple[tuple[str, tuple[str, str | None]], ...]
"""Key -> ("ref", key), ("lit", value or None) or ``WILD``; sorted by key."""


@dataclass(frozen=True, slots=True)
class FanOutRule:
    """URLs whose keys are those of ``context`` are rewritten by ``transform``."""

    context: Context
    transform: Transform
    support: int = 0
    fpr: float = 0.0

    def covers(self, other: "FanOutRule") -> bool:
        """Whether every URL of the other context is one of this."""
        theirs = dict(other.context)
        return len(theirs) == len(self.context) and all(
            key in theirs and (value is ANY or value == theirs[key]) for key, value in self.context
        )

    def result(self, view: View) -> dict[str, str]:
        """The rewritten keys and values."""
        found = {}
        for key, (kind, text) in self.transform:
            value = "*" if kind == "wild" else view.get(text or "") if kind == "ref" else text
            if value is not None:
                found[key] = value
        return found


class Rules:
    """Rules by the shape of their contexts: one look-up per shape, however many rules there are."""

    def __init__(self, rules: Sequence[FanOutRule]) -> None:
        self._shapes: defaultdict[tuple[tuple[str, ...], tuple[str, ...]], dict[tuple[object, ...], list[FanOutRule]]]
        self._shapes = defaultdict(dict)
        for rule in rules:
            keys = tuple(key for key, _ in rule.context)
            fixed = tuple(key for key, value in rule.context if value is not ANY)
            values = tuple(value for _, value in rule.context if value is not ANY)
            self._shapes[keys, fixed].setdefault(values, []).append(rule)

    def matching(self, view: View) -> Iterator[FanOutRule]:
        """The rules whose context a URL has."""
        for (keys, fixed), by_values in self._shapes.items():
            found = by_values.get(tuple([view.get(key) for key in fixed]))
            if found and all(key in keys for key in view):
                yield from found


@dataclass(frozen=True, slots=True)
class FanOut:
    """What was learned: the deployed rules, and the number of raw and qualified ones."""

    rules: tuple[FanOutRule, ...] = ()
    raw: int = 0
    qualified: int = 0
    _index: Rules = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", Rules(self.rules))

    @property
    def deployed(self) -> int:
        """The number of deployed rules."""
        return len(self.rules)

    def canonical(self, url: str) -> str:
        """The URL rewritten until no rule changes it; its normal form where there is none."""
        view = view_of(url)
        last = way_of(view, self._index)[0][-1] if view else view
        return composed(last, url) if last != view else normal_form(url)


def way_of(view: View, index: Rules) -> tuple[list[View], list[FanOutRule]]:
    """The forms that a URL takes one after the other, and the rules that gave them."""
    way, used = [view], []
    for _ in range(MAX_STEPS):
        rule = min(index.matching(way[-1]), key=lambda r: (r.fpr, -r.support, str(r.context)), default=None)
        following = rule.result(way[-1]) if rule is not None else way[-1]
        if rule is None or following == way[-1]:
            break
        used.append(rule)
        if following in way:
            return [*way, following], used
        way.append(following)
    return way, used


def learn_fanout(urls: Sequence[str], content: Sequence[int], fan_out: int = 5, fpr_max: float = 0.05) -> FanOut:
    """Learn from URLs of one site and the duplicate cluster of each.

    Raw rules are those generalised in at least one key that no other rule of the same transform covers.
    """
    views = {normal_form(url): view_of(url) for url in urls}
    pages = {normal_form(url): page for url, page in zip(urls, content, strict=True)}
    clusters: defaultdict[int, list[View]] = defaultdict(list)
    for url, view in views.items():
        if view and pages[url] >= 0:
            clusters[pages[url]].append(view)
    contexts: defaultdict[Transform, set[Context]] = defaultdict(set)
    rng = Random(0)
    for members in clusters.values():
        if len(members) > 1:
            for context, transform in pair_rules(members, rng):
                contexts[transform].add(context)
    raw = [
        FanOutRule(context, transform)
        for transform, found in contexts.items()
        if len(found) >= fan_out
        for context in generalised(found, fan_out)
    ]
    training = [(view, page) for page, members in clusters.items() for view in members]
    qualified = [rule for rule in measured(raw, training) if rule.support >= MIN_SUPPORT and rule.fpr <= fpr_max]
    return FanOut(tuple(selected_naively(qualified, [view for view, _ in training])), len(raw), len(qualified))


def pair_rules(members: Sequence[View], rng: Random) -> Iterator[tuple[Context, Transform]]:
    """The rule of each ordered pair of a cluster's URLs: the context is all of the source."""
    if len(members) > MAX_SOURCES:
        members = rng.sample(members, MAX_SOURCES)
    irrelevant = irrelevant_keys(members)
    for number, source in enumerate(members):
        others = [view for place, view in enumerate(members) if place != number]
        for target in others if len(others) <= MAX_TARGETS else rng.sample(others, MAX_TARGETS):
            keys = sorted(source.keys() | target.keys())
            yield (
                tuple((key, source.get(key)) for key in keys),
                tuple((key, transform_of(key, source, target, irrelevant)) for key in keys),
            )


def irrelevant_keys(members: Sequence[View]) -> set[str]:
    """The keys in which URLs of a cluster differ that are the same in all other keys."""
    found = set()
    for key in {key for view in members for key in view}:
        seen: dict[object, str | None] = {}
        for view in members:
            rest = frozenset(item for item in view.items() if item[0] != key)
            if seen.setdefault(rest, view.get(key)) != view.get(key):
                found.add(key)
                break
    return found


def transform_of(key: str, source: View, target: View, irrelevant: set[str]) -> tuple[str, str | None]:
    """What gives the target's value of a key: the wildcard, a key of the source, or a literal."""
    value = target.get(key)
    if key in irrelevant:
        return WILD
    if source.get(key) == value:
        return "ref", key
    if value is not None and len(value) >= MIN_REFERENCE:
        for other in sorted(source):
            if source[other] == value:
                return "ref", other
    return "lit", value


def generalised(contexts: set[Context], fan_out: int) -> list[Context]:
    """The most general contexts: a key becomes ``ANY`` where it takes *fan_out* values, the others equal."""
    known = set(contexts)
    fresh = set(contexts)
    while fresh:
        values: defaultdict[str, set[object]] = defaultdict(set)
        for context in fresh:
            for key, value in context:
                values[key].add(value)
        added: set[Context] = set()
        for key in sorted(values, key=lambda name: (len(values[name]), name)):
            groups: defaultdict[Context, set[object]] = defaultdict(set)
            for context in known | added:
                rest = tuple((name, ANY if name == key else value) for name, value in context)
                groups[rest].add(dict(context).get(key, ANY))
            added |= {rest for rest, seen in groups.items() if len(seen - {ANY}) >= fan_out}
        fresh = added - known
        known |= fresh
    general = [context for context in known if any(value is ANY for _, value in context)]
    general.sort(key=lambda context: (-sum(value is ANY for _, value in context), str(context)))
    found: list[FanOutRule] = []
    for context in general:
        rule = FanOutRule(context, ())
        if not any(other.covers(rule) for other in found):
            found.append(rule)
    return [rule.context for rule in found]


def measured(rules: Sequence[FanOutRule], training: Sequence[tuple[View, int]]) -> Iterator[FanOutRule]:
    """The rules with their support and false-positive rate (equation 3 of the pattern-tree paper)."""
    index = Rules(rules)
    forms: defaultdict[int, defaultdict[frozenset[tuple[str, str]], list[int]]] = defaultdict(lambda: defaultdict(list))
    for view, page in training:
        for rule in index.matching(view):
            forms[id(rule)][frozenset(rule.result(view).items())].append(page)
    untouched = {frozenset(view.items()): page for view, page in training}
    for rule in rules:
        wrong = pairs = support = 0
        for form, pages in forms[id(rule)].items():
            support += len(pages)
            if form in untouched and not rule.covers(FanOutRule(_as_context(form, rule), ())):
                pages = [*pages, untouched[form]]
            pairs += len(pages) * (len(pages) - 1) // 2
            same = sum(count * (count - 1) // 2 for count in (pages.count(page) for page in set(pages)))
            wrong += len(pages) * (len(pages) - 1) // 2 - same
        if pairs:
            yield FanOutRule(rule.context, rule.transform, support, wrong / pairs)


def _as_context(form: frozenset[tuple[str, str]], rule: FanOutRule) -> Context:
    values = dict(form)
    return tuple((key, values.get(key)) for key in sorted({key for key, _ in rule.context} | values.keys()))


def selected_naively(rules: Sequence[FanOutRule], views: Sequence[View]) -> list[FanOutRule]:
    """Per source the rule with the least rate; ancestors before descendants; circles are broken."""
    kept: list[FanOutRule] = []
    by_shape: defaultdict[tuple[str, ...], list[FanOutRule]] = defaultdict(list)
    for rule in sorted(rules, key=lambda r: (-_wildcards(r), r.fpr, -r.support, str(r.context), str(r.transform))):
        shape = tuple(key for key, _ in rule.context)
        if not any(other.covers(rule) for other in by_shape[shape]):
            by_shape[shape].append(rule)
            kept.append(rule)
    while circle := next(_circles(kept, views), None):
        kept.remove(min(circle, key=lambda r: (r.support, str(r.context))))
    return kept


def _wildcards(rule: FanOutRule) -> int:
    return sum(value is ANY for _, value in rule.context)


def _circles(rules: Sequence[FanOutRule], views: Sequence[View]) -> Iterator[list[FanOutRule]]:
    """The rules by which a URL comes back to a form that it had."""
    index = Rules(rules)
    seen: set[int] = set()
    for view in views:
        for rule in islice(index.matching(view), 1):
            if id(rule) in seen:
                continue
            way, used = way_of(view, index)
            if way[-1] in way[:-1]:
                yield used[way.index(way[-1]) :]
            seen.add(id(rule))
