"""The whole method of the document for one host: clusters of URLs, rules of each, one set of rules, and what it decides of a site.

Source: url-parameter-relevance, the passages on clusters of URLs, on merging, on the three ways out of a conflict, and on
rules made by hand, which trump.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from urllib.parse import urlsplit

from ....rules import Absent, Ignore, Literal, Lower, Nested, Operation, Predicate, Rule, RuleBook
from ....rules.model import operation_problem
from ....urls import GroupsLike, normal_form, registrable, values_of
from ...data.clusters import NO_EVIDENCE
from ...data.judgement import SiteUrls
from ...proposals.combining import rules_of
from ...proposals.proposal import Match, Proposal
from ..formations import Decision, Formation, flags
from ..options import EntropyOptions
from .analysis import HOST, PATH, QUERY, FingerprintedUrl, ParameterRule, analysed, columns, settled_keys
from .relevance import NameList, Relevance, RelevanceThresholds

MINIMUM_SIZE = 20
"""URLs that a cluster needs for rules to be made of it (the document: a fixed number)."""


class Scope(str, Enum):
    """What the URLs of a cluster have in common."""

    HOST_PATH = "host/path"
    HOST = "host"
    DOMAIN = "domain"
    ANY = "any"

    __str__ = str.__str__


def cluster_name(url: str, scope: Scope) -> str:
    """Return what *url* shares with the other URLs of its cluster; "" for all URLs, and for no URL.

    >>> [cluster_name("http://www.site.com/a/b?c=1", scope) for scope in Scope]
    ['www.site.com/a/b', 'www.site.com', 'site.com', '']
    """
    if scope is Scope.ANY:
        return ""
    try:
        parts = urlsplit(normal_form(url))
        host = parts.hostname or ""
    except ValueError:
        return ""
    if scope is Scope.HOST_PATH:
        return host + parts.path
    return host if scope is Scope.HOST else registrable(host)


def clusters(
    pages: Iterable[FingerprintedUrl], scope: Scope, minimum: int = MINIMUM_SIZE
) -> dict[str, list[FingerprintedUrl]]:
    """Return the clusters of *pages* by name, those of fewer than *minimum* URLs left out."""
    found: dict[str, list[FingerprintedUrl]] = {}
    for page in pages:
        found.setdefault(cluster_name(page.url, scope), []).append(page)
    return {name: members for name, members in found.items() if len(members) >= minimum}


class Conflict(str, Enum):
    """What is done where a parameter is relevant under one path of a host and irrelevant under another."""

    PATH_SPECIFIC = "path-specific"
    """Each path keeps its own rule."""
    RATIO = "ratio"
    """Relevant if paths where it is relevant / paths where it is not is above a threshold."""
    RELEVANT_ANYWHERE = "relevant-anywhere"
    """Relevant, since it is relevant under some path."""

    __str__ = str.__str__


@dataclass(frozen=True, slots=True)
class HostRules:
    """The rules of a host: those of all its URLs, and those of single paths, which come first."""

    everywhere: Mapping[str, ParameterRule] = field(default_factory=dict)
    by_path: Mapping[str, Mapping[str, ParameterRule]] = field(default_factory=dict)

    def of(self, path: str, key: str) -> ParameterRule | None:
        """Return the rule of a key under a path, None where there is none."""
        return self.by_path.get(path, {}).get(key) or self.everywhere.get(key)


def merged(
    clusters: Mapping[str, Mapping[str, ParameterRule]],
    conflict: Conflict = Conflict.PATH_SPECIFIC,
    ratio: float = 1.0,
    manual: NameList | None = None,
) -> HostRules:
    """Return the rules of a host from those of its *clusters* (path -> key -> rule).

    *ratio* is the threshold of ``Conflict.RATIO``: above it a parameter is relevant, at it or below
    irrelevant. What *manual* says of a name holds whatever was found. A key that only some paths
    have is no conflict. Case is dropped, and a nested URL followed, only where no cluster objects.
    """
    decide = _DECISIONS[conflict]
    by_key: dict[str, dict[str, ParameterRule]] = {}
    for path, rules in clusters.items():
        for key, rule in rules.items():
            by_key.setdefault(key, {})[path] = rule
    everywhere: dict[str, ParameterRule] = {}
    by_path: dict[str, dict[str, ParameterRule]] = {}
    for key, rules in sorted(by_key.items()):
        several = list(rules.values())
        by_hand = manual.relevance(key) if manual is not None else None
        relevance = by_hand or decide([rule.relevance for rule in several], ratio)
        if relevance is None:
            for path, rule in rules.items():
                by_path.setdefault(path, {})[key] = rule
        else:
            everywhere[key] = _common(several, relevance)
    return HostRules(everywhere, by_path)


def _common(rules: Sequence[ParameterRule], relevance: Relevance) -> ParameterRule:
    return replace(
        rules[0],
        relevance=relevance,
        information=rules[0].information if len(rules) == 1 else None,
        tuples=tuple(dict.fromkeys(keys for rule in rules for keys in rule.tuples)),
        lower=any(rule.lower for rule in rules) and all(rule.lower or not rule.capitals for rule in rules),
        nested=any(rule.nested for rule in rules),
        inner=_ignored_by_all([rule.inner for rule in rules if rule.nested]),
    )


def _ignored_by_all(operations: Sequence[Nested]) -> Nested:
    """Return what is ignored in nested URLs by each of some operations."""
    common = [set(operation.ignore) for operation in operations]
    return Nested({place: dict(keys) for place, keys in set.intersection(*common)} if common else None)


def _unanimous(found: Sequence[Relevance], ratio: float) -> Relevance | None:
    return found[0] if len(set(found)) == 1 else None


def _by_ratio(found: Sequence[Relevance], ratio: float) -> Relevance:
    relevant = found.count(Relevance.ACCEPT)
    irrelevant = len(found) - relevant
    return Relevance.ACCEPT if relevant > ratio * irrelevant else Relevance.IGNORE


def _anywhere(found: Sequence[Relevance], ratio: float) -> Relevance:
    return Relevance.ACCEPT if Relevance.ACCEPT in found else Relevance.IGNORE


_DECISIONS: dict[Conflict, Callable[[Sequence[Relevance], float], Relevance | None]] = {
    Conflict.PATH_SPECIFIC: _unanimous,
    Conflict.RATIO: _by_ratio,
    Conflict.RELEVANT_ANYWHERE: _anywhere,
}


@dataclass(frozen=True, slots=True)
class EntropyChoices:
    """What the document leaves open: its implementations and thresholds.

    ``kinds`` are the parts of a URL that are parameters (``QUERY``, ``PATH``, ``HOST`` of
    :mod:`~scrapy_dedup.learning.methods.entropy.analysis`, added); ``manual`` beats all that was found. With ``prefixes`` what a significant prefix of all URLs of a
    cluster settles is not analysed: there is no rule for it, and no tuple it could make relevant.
    """

    scope: Scope = Scope.HOST_PATH
    thresholds: RelevanceThresholds = field(default_factory=RelevanceThresholds)
    minimum: int = MINIMUM_SIZE
    conflict: Conflict = Conflict.PATH_SPECIFIC
    ratio: float = 1.0
    largest_tuple: int = 3
    kinds: tuple[str, ...] = QUERY
    manual: NameList | None = None
    prefixes: bool = False


def host_rules(
    pages: Iterable[FingerprintedUrl], options: EntropyChoices | None = None, *, groups: GroupsLike = None
) -> HostRules:
    """Return the rules that the URLs of one host (or domain), with their fingerprints, make.

    No rules are made of clusters below the minimum size, other than what the names in them are known
    for. Odd input gives no rules and raises nothing.
    """
    options = options or EntropyChoices()
    pages = list(pages)
    found = {
        name: analysed(
            members,
            options.thresholds,
            kinds=options.kinds,
            largest_tuple=options.largest_tuple,
            groups=groups,
            skipped=settled_keys(members, groups=groups) if options.prefixes else (),
        )
        for name, members in clusters(pages, options.scope, options.minimum).items()
    }
    rules = merged(found, options.conflict, options.ratio, options.manual)
    known = {key for part in (rules.everywhere, *rules.by_path.values()) for key in part}
    everywhere = dict(rules.everywhere)
    for key in columns(pages, options.kinds, groups=groups).keys() - known:
        by_hand = options.manual.relevance(key) if options.manual is not None else None
        if by_hand is not None:
            everywhere[key] = ParameterRule(key, by_hand)
    return HostRules(dict(sorted(everywhere.items())), rules.by_path)


def proposals_of(rules: HostRules) -> list[Proposal]:
    """Return the rules of a host in the common representation: what is ignored, lowered, nested."""
    found = [Proposal((), rule.key, op) for rule in rules.everywhere.values() for op in _operations(rule)]
    for path, own in rules.by_path.items():
        match = path_match(path)
        found += [Proposal(match, rule.key, op) for rule in own.values() for op in _operations(rule)]
    return found


def canonical_rules(rules: HostRules, site: str) -> list[Rule]:
    """Return the rules of a host as rules of a site, ready for a RuleBook: the canonicalization function."""
    return rules_of(site, proposals_of(rules))


def _operations(rule: ParameterRule) -> list[Operation]:
    if rule.relevance is Relevance.IGNORE:
        return [Ignore()]
    if rule.nested:
        return [rule.inner]
    return [Lower()] if rule.lower else []


def path_match(name: str) -> Match:
    """Return the pattern of the URLs of a cluster, which is called ``host/path`` or ``host``.

    >>> path_match("site.com/a/b.html")
    (('ext', Literal(value='html', optional=False)), ('host.1', Absent()), ('path.0', Literal(value='a', optional=False)),
     ('path.1', Literal(value='b', optional=False)), ('path.len', Literal(value='2', optional=False)))
    >>> path_match("www.site.com")
    (('host.1', Literal(value='www', optional=False)), ('host.2', Absent()))
    """
    whole = "/" in name
    values = values_of(f"http://{name}")
    found: dict[str, Predicate] = {
        key: Literal(value or "")
        for key, value in values.items()
        if key != "scheme" and (whole or key.startswith("host."))
    }
    labels = sum(key.startswith("host.") and key != "host.0" for key in found)
    found[f"host.{labels + 1}"] = Absent()
    if whole:
        found.setdefault("ext", Absent())
    return tuple(sorted(found.items()))


_PARTS = {"query": QUERY, "path": PATH, "host": HOST}


def in_own_terms(options: EntropyOptions) -> EntropyChoices:
    """Return the options in the document's own terms."""
    return EntropyChoices(
        scope=Scope(options.scope),
        thresholds=RelevanceThresholds(
            options.fingerprint_given_value, options.value_given_fingerprint, options.case, options.relative
        ),
        minimum=options.minimum,
        conflict=Conflict(options.conflict),
        ratio=options.ratio,
        largest_tuple=options.largest_tuple,
        kinds=tuple(kind for part in options.parts for kind in _PARTS[part]),
        manual=NameList(options.relevant, options.irrelevant) if options.relevant or options.irrelevant else None,
        prefixes=options.prefixes,
    )


def decide(sample: SiteUrls, options: EntropyOptions) -> Decision:
    """Return what the document's method decides of a site; all rules that match a URL act, those of its path first."""
    rows = [number for number, content in enumerate(sample.content) if content != NO_EVIDENCE]
    pages = [FingerprintedUrl(sample.urls[number], sample.content[number]) for number in rows]
    found = proposals_of(host_rules(pages, in_own_terms(options), groups=sample.site_groups))
    # No rule speaks of one repeat of a parameter alone.
    sayable = [one for one in found if operation_problem(one.key, one.operation) is None]
    rules = rules_of(sample.site, sayable)
    book = RuleBook(rules, groups=sample.site_groups)
    if sample.others is not None:
        book = book.beside(sample.others)
    left_out = Counter({"one repeat of a parameter": len(found) - len(sayable)})
    everywhere = flags(range(len(sample.urls)), len(sample.urls))
    return Decision(
        canonical=book.canonical_key,
        formations=[Formation(one.match, {one.key: one.operation}, everywhere) for one in sayable],
        left_out=left_out,
        exclusive=False,
        deployed=len(rules),
    )
