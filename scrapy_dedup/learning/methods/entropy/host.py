"""The whole method of the document for one host: clusters of URLs, rules of each, one set of rules, and what it decides of a site.

Source: url-parameter-relevance, the passages on clusters of URLs, on merging, on the three ways out of a conflict, and on
rules made by hand, which trump.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
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


def cluster_name(url: str, scope: str) -> str:
    """Return what *url* shares with the other URLs of its cluster; "" for all URLs, and for no URL.

    >>> [cluster_name("http://www.site.com/a/b?c=1", scope) for scope in ("host/path", "host", "domain", "any")]
    ['www.site.com/a/b', 'www.site.com', 'site.com', '']
    """
    if scope == "any":
        return ""
    try:
        parts = urlsplit(normal_form(url))
        host = parts.hostname or ""
    except ValueError:
        return ""
    if scope == "host/path":
        return host + parts.path
    return host if scope == "host" else registrable(host)


def clusters(
    pages: Iterable[FingerprintedUrl], scope: str, minimum: int = MINIMUM_SIZE
) -> dict[str, list[FingerprintedUrl]]:
    """Return the clusters of *pages* by name, those of fewer than *minimum* URLs left out."""
    found: dict[str, list[FingerprintedUrl]] = {}
    for page in pages:
        found.setdefault(cluster_name(page.url, scope), []).append(page)
    return {name: members for name, members in found.items() if len(members) >= minimum}


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
    conflict: str = "path-specific",
    ratio: float = 1.0,
    manual: NameList | None = None,
) -> HostRules:
    """Return the rules of a host from those of its *clusters* (path -> key -> rule).

    *conflict* says what is done where a parameter is relevant under one path and irrelevant under another: each path keeps
    its own rule ("path-specific"), or it is relevant everywhere if it is so under some path ("relevant-anywhere"), or if
    paths where it is / paths where it is not is above a *ratio* ("ratio"). What *manual* says of a name holds whatever was found. A key that only some paths
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


_DECISIONS: dict[str, Callable[[Sequence[Relevance], float], Relevance | None]] = {
    "path-specific": _unanimous,
    "ratio": _by_ratio,
    "relevant-anywhere": _anywhere,
}


_PARTS = {"query": QUERY, "path": PATH, "host": HOST}


def host_rules(
    pages: Iterable[FingerprintedUrl], options: EntropyOptions | None = None, *, groups: GroupsLike = None
) -> HostRules:
    """Return the rules that the URLs of one host (or domain), with their fingerprints, make.

    No rules are made of clusters below the minimum size, other than what the names in them are known
    for. Odd input gives no rules and raises nothing.
    """
    options = options or EntropyOptions()
    thresholds = RelevanceThresholds(
        options.fingerprint_given_value, options.value_given_fingerprint, options.case, options.relative
    )
    kinds = tuple(kind for part in options.parts for kind in _PARTS[part])
    manual = NameList(options.relevant, options.irrelevant)
    pages = list(pages)
    found = {
        name: analysed(
            members,
            thresholds,
            kinds=kinds,
            largest_tuple=options.largest_tuple,
            groups=groups,
            skipped=settled_keys(members, groups=groups) if options.prefixes else (),
        )
        for name, members in clusters(pages, options.scope, options.minimum).items()
    }
    rules = merged(found, options.conflict, options.ratio, manual)
    known = {key for part in (rules.everywhere, *rules.by_path.values()) for key in part}
    everywhere = dict(rules.everywhere)
    for key in columns(pages, kinds, groups=groups).keys() - known:
        if (by_hand := manual.relevance(key)) is not None:
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


def decide(sample: SiteUrls, options: EntropyOptions) -> Decision:
    """Return what the document's method decides of a site; all rules that match a URL act, those of its path first."""
    rows = [number for number, content in enumerate(sample.content) if content != NO_EVIDENCE]
    pages = [FingerprintedUrl(sample.urls[number], sample.content[number]) for number in rows]
    found = proposals_of(host_rules(pages, options, groups=sample.site_groups))
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
