"""The whole method of the document for one host: clusters, rules of each, one set of rules."""

from collections.abc import Iterable
from dataclasses import dataclass, field

from ....rules import Absent, Ignore, Literal, Lower, Operation, Predicate, Rule
from ....urls import GroupsLike, values_of
from ...proposals.combining import rules_of
from ...proposals.proposal import Match, Proposal
from .analysis import ParameterRule, analysed
from .cluster_merging import Conflict, HostRules, merged
from .columns import QUERY, FingerprintedUrl, columns, settled_keys
from .name_lists import NameList, name_of
from .priors import Priors
from .relevance import Relevance, RelevanceThresholds
from .scopes import MINIMUM_SIZE, Scope, clusters


@dataclass(frozen=True, slots=True)
class EntropyChoices:
    """What the document leaves open: its implementations and thresholds.

    ``kinds`` are the parts of a URL that are parameters (``QUERY``, ``PATH``, ``HOST`` of
    :mod:`~scrapy_dedup.learning.methods.entropy.columns`, added); ``priors`` decide where no cluster was
    large enough; ``manual`` beats all that was found. With ``prefixes`` what a significant prefix of all URLs of a
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
    priors: Priors | None = None


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
        relevance = _known_for(key, options)
        if relevance is not None:
            everywhere[key] = ParameterRule(key, relevance)
    return HostRules(dict(sorted(everywhere.items())), rules.by_path)


def _known_for(key: str, options: EntropyChoices) -> Relevance | None:
    relevance = options.manual.relevance(key) if options.manual is not None else None
    if relevance is None and options.priors is not None:
        relevance = options.priors.relevance(name_of(key))
    return relevance


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
