"""Which parameters of a URL are relevant, by the entropies of values and fingerprints.

Source: url-parameter-relevance. The steps in their order: two conditional entropies of a parameter, in bits, each below
its threshold (equations (9) to (11), Tables 1 to 4); a cluster of URLs as columns of values, and a rule for each (FIG. 3
to 5 without the test requests of FIG. 5); clusters of URLs, merged to the rules of a host; and what these say of a site.

Parameters are the keys of the key-value view: query parameters, path components (``path.0``), labels of the host before its
domain (``host.1``), matrix parameters and key=value segments. Values are in normal form: escapes make no difference.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from enum import Enum
from itertools import combinations
from math import log2
from typing import Any
from urllib.parse import urlsplit

from ...rules import Absent, Ignore, Literal, Lower, Nested, Operation, Predicate, RuleBook
from ...rules.actions import inner_url
from ...rules.model import operation_problem
from ...urls import GroupsLike, normal_form, registrable, site_of_url, values_of
from ...urls.percent import lower_value
from ..choices import IRRELEVANT
from ..data.judgement import SiteUrls
from ..proposals.combining import rules_of
from ..proposals.proposal import Match, Proposal
from .affixes import significant_prefixes, uniform
from .formations import Decision, Formation
from .options import EntropyOptions

Column = list[str | None]
"""The value of a parameter in each URL of a cluster, None (the document: "unused") where the URL does not have it."""

# The relevancy calculation module: equations (9) to (11)


def entropy(values: Iterable[Hashable]) -> float:
    """Return H(V) of observed values, in bits; 0.0 for none.

    >>> entropy("aabb"), entropy([])
    (1.0, 0.0)
    """
    counts = Counter(values)
    total = counts.total()
    return max(0.0, log2(total) - _weighted(counts) / total) if total else 0.0


def conditional_entropy(of: Sequence[Hashable], given: Sequence[Hashable]) -> float:
    """Return H(of|given) of values observed together, in bits, by equation (9); 0.0 for none.

    >>> conditional_entropy([1, 2, 3, 4], "AAAA"), conditional_entropy("AAAA", [1, 2, 3, 4])
    (2.0, 0.0)

    Raises ValueError when there are more of the one than of the other.
    """
    joint = Counter(zip(of, given, strict=True))
    # The probabilities of the formula multiplied out, which makes a certainty exactly 0.
    return max(0.0, _weighted(Counter(given)) - _weighted(joint)) / len(of) if of else 0.0


def _weighted(counts: Mapping[Any, int]) -> float:
    return sum(count * log2(count) for count in counts.values())


@dataclass(frozen=True, slots=True)
class Information:
    """What the values V of a parameter and the fingerprints F of the content say of each other.

    All in bits. ``fingerprint_given_value`` is H(F|V): high where the value says little about the
    page; ``value_given_fingerprint`` is H(V|F): high where the value is random to the page;
    ``fingerprint`` is H(F) and ``value`` H(V), the most that the two can be.
    """

    fingerprint_given_value: float
    value_given_fingerprint: float
    fingerprint: float = 0.0
    value: float = 0.0


def information(values: Sequence[Hashable], fingerprints: Sequence[Hashable]) -> Information:
    """Return the information content of a parameter: ``values[i]`` led to ``fingerprints[i]``. O(n).

    The document prints the values of its Case 2 the wrong way round, and those of the path of its URLs (15) to (18); what
    is computed here is its formula. Raises ValueError when there are more of the one than of the other.
    """
    return Information(
        conditional_entropy(fingerprints, values),
        conditional_entropy(values, fingerprints),
        entropy(fingerprints),
        entropy(values),
    )


class Relevance(str, Enum):
    """What the rule of a parameter says: ``<ParameterName: IGNORE>`` or ``<ParameterName: ACCEPT>``."""

    ACCEPT = "accept"
    IGNORE = "ignore"

    __str__ = str.__str__


def relevance(found: Information, options: EntropyOptions) -> Relevance:
    """Return ACCEPT if and only if both entropies are below their thresholds.

    Relevant means that the parameter alone tells the pages apart, one to one. Its contrary is not "safe to drop": the
    entropies of any parameter with few values grow with the site (H(F|V) of ``lang`` is near log2 of the number of pages).

    >>> relevance(Information(0.0, 0.0), EntropyOptions()), relevance(Information(0.0, 2.0), EntropyOptions())
    (<Relevance.ACCEPT: 'accept'>, <Relevance.IGNORE: 'ignore'>)
    """
    of_fingerprint, of_value = found.fingerprint_given_value, found.value_given_fingerprint
    if options.relative:
        of_fingerprint = of_fingerprint / found.fingerprint if found.fingerprint else 0.0
        of_value = of_value / found.value if found.value else 0.0
    both = of_fingerprint < options.fingerprint_given_value and of_value < options.value_given_fingerprint
    return Relevance.ACCEPT if both else Relevance.IGNORE


# Rules made by hand, which trump: lists of names


def name_of(key: str) -> str:
    """Return the name of the parameter that a key stands for: ``q.sid`` is ``sid``."""
    kind, dot, name = key.partition(".")
    return name if dot and kind in {"q", "m", "s"} else key


@dataclass(frozen=True, slots=True)
class NameList:
    """Names of parameters, without regard to case; one that ends in ``*`` stands for all of that beginning.

    >>> NameList(relevant=["file"], irrelevant=["utm_*"]).relevance("q.utm_source")
    <Relevance.IGNORE: 'ignore'>
    """

    relevant: Collection[str] = ()
    irrelevant: Collection[str] = ()

    def relevance(self, key: str) -> Relevance | None:
        """Return what the list says of a key, None where it says nothing; relevant beats irrelevant."""
        name = name_of(key).lower()
        if _among(name, self.relevant):
            return Relevance.ACCEPT
        return Relevance.IGNORE if _among(name, self.irrelevant) else None


def _among(name: str, listed: Iterable[str]) -> bool:
    return any(
        name == entry or (entry.endswith("*") and name.startswith(entry[:-1])) for entry in map(str.lower, listed)
    )


DOCUMENT_NAMES = NameList(relevant=["vid", "file", "path"], irrelevant=["sessionid"])
"""The names that the document gives as examples."""

KNOWN_NAMES = NameList(relevant=DOCUMENT_NAMES.relevant, irrelevant=IRRELEVANT)
"""The document's, with session ids and tracking parameters whose names are unmistakable."""

# One cluster of URLs: FIG. 2 on the keys that a significant prefix settles, FIG. 3 to 5

MAX_KEYS = 200
"""Parameters of a cluster that are looked at, those that most URLs have."""
MAX_MEMBERS = 12
"""Parameters that tuples are made of, those that say most of the fingerprint: 12 make 66 pairs and 220 triples."""
PARTS = {"query": ("q.",), "path": ("path.", "ext", "m.", "s."), "host": ("host.",)}
"""How the keys of each part of a URL begin."""
_NOT_A_PART = frozenset({"path.len", "path.trail"})


@dataclass(frozen=True, slots=True)
class FingerprintedUrl:
    """A URL, and the fingerprint of the content it led to."""

    url: str
    fingerprint: Hashable


def columns(
    pages: Sequence[FingerprintedUrl],
    parts: Iterable[str] = ("query",),
    *,
    groups: GroupsLike = None,
    skipped: AbstractSet[str] = frozenset(),
) -> dict[str, Column]:
    """Return, per parameter of some *parts* of URLs, its value in each URL.

    *skipped* are keys that need no analysis (see :func:`settled_keys`). O(URLs x parameters).
    """
    kinds = tuple(kind for part in parts for kind in PARTS[part])
    views = [values_of(page.url, groups=groups) for page in pages]
    seen = Counter(key for view in views for key in view if key.startswith(kinds) and key not in _NOT_A_PART | skipped)
    chosen = sorted(seen, key=lambda key: (-seen[key], key))[:MAX_KEYS]
    return {key: [(view[key] or "") if key in view else None for view in views] for key in sorted(chosen)}


def settled_keys(pages: Sequence[FingerprintedUrl], *, groups: GroupsLike = None) -> frozenset[str]:
    """Return the keys that a significant prefix of all URLs of a cluster settles: they need no analysis.

    >>> pages = [FingerprintedUrl(f"http://site.com/show?id={i}&lang=en", i) for i in range(9)]
    >>> sorted(settled_keys(pages)), sorted(settled_keys(pages[:1]))
    (['path.0', 'scheme'], [])
    """
    urls = [normal_form(page.url) for page in pages]
    shared = [affix for affix in significant_prefixes(urls, model=uniform()) if affix.count == len(urls)]
    return keys_inside(max((affix.text for affix in shared), key=len, default=""), groups=groups)


def keys_inside(prefix: str, *, groups: GroupsLike = None) -> frozenset[str]:
    """Return the keys whose values a prefix of URLs holds whole.

    >>> sorted(keys_inside("http://www.site.com/app/show?lang=en&id=1"))
    ['host.1', 'path.0', 'path.1', 'q.lang', 'scheme']
    >>> sorted(keys_inside("http://site.com/ap"))
    ['scheme']
    """
    end = max(prefix.rfind(mark) for mark in "/?&;")
    if end < len("https://"):
        return frozenset()
    whole = values_of(prefix[:end], groups=groups)
    if prefix[end] == "/" and "?" not in prefix:
        whole.pop("ext", None)  # of a folder
    return frozenset(whole) - _NOT_A_PART


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """What was found of one parameter.

    ``lower`` says whether the case of its values tells nothing of the page, None where they have no capitals; ``inner`` is
    what is done to its values where they are URLs, to be canonicalized themselves.
    """

    key: str
    relevance: Relevance
    lower: bool | None = None
    inner: Nested | None = None


def analysed(
    pages: Sequence[FingerprintedUrl], options: EntropyOptions | None = None, *, groups: GroupsLike = None
) -> dict[str, ParameterRule]:
    """Return a rule for each parameter of a cluster of URLs.

    Each is analysed by itself, one whose values are URLs by the canonical ones, one whose case tells nothing in lower case;
    then tuples, and all members of a relevant tuple are relevant. O(n x (parameters + tuples)).
    """
    options = options or EntropyOptions()
    skipped = settled_keys(pages, groups=groups) if options.prefixes else frozenset[str]()
    found = columns(pages, options.parts, groups=groups, skipped=skipped)
    fingerprints = [page.fingerprint for page in pages]
    nested = [key for key, values in found.items() if key.startswith("q.") and holds_urls(values)]
    inner = {key: _inner_rules(key, found[key], fingerprints, options, groups) for key in nested}
    found |= {key: _canonicalized(key, found[key], operation, groups) for key, operation in inner.items()}
    lower = {
        key: case_information(values, fingerprints) < options.case
        for key, values in found.items()
        if key not in inner and lowered(values) != values
    }
    # What the case does not tell is no difference of values: they are analysed as the rule shows them.
    found |= {key: lowered(found[key]) for key, tells_nothing in lower.items() if tells_nothing}
    alone = {key: information(values, fingerprints) for key, values in found.items()}
    together = {key for keys in relevant_tuples(found, fingerprints, alone, options) for key in keys}
    return {
        key: ParameterRule(
            key,
            Relevance.ACCEPT if key in together else relevance(alone[key], options),
            lower.get(key),
            inner.get(key),
        )
        for key in found
    }


def _inner_rules(
    key: str, values: Column, fingerprints: Sequence[Hashable], options: EntropyOptions, groups: GroupsLike
) -> Nested:
    """Return what is irrelevant in the URLs that a parameter holds: each site's are analysed as pages of their own."""
    by_site: dict[str, list[FingerprintedUrl]] = {}
    for value, fingerprint in zip(values, fingerprints, strict=True):
        url = inner_url(key, value) if value is not None else None
        if url is not None:
            by_site.setdefault(site_of_url(url, groups=groups), []).append(FingerprintedUrl(url, fingerprint))
    options = replace(options, parts=("query",), prefixes=False)
    ignored = {}
    for site, pages in by_site.items():
        rules = analysed(pages, options, groups=groups).values()
        dropped = [rule.key for rule in rules if rule.relevance is Relevance.IGNORE]
        ignored[site] = {name: Ignore() for name in dropped if not name.endswith("]")}
    return Nested(ignored)


def _canonicalized(key: str, values: Column, operation: Nested, groups: GroupsLike) -> Column:
    """Return the values of a parameter, those that are URLs by their canonical keys."""
    book = RuleBook(groups=groups)
    urls = [inner_url(key, value) if value is not None else None for value in values]
    return [value if url is None else book.nested_key(url, operation) for value, url in zip(values, urls, strict=True)]


def holds_urls(values: Column) -> bool:
    """Return whether some value of a query parameter is a URL by itself.

    >>> holds_urls(["http%3A%2F%2Fabc.com%2Fvideo"]), holds_urls(["http"])
    (True, False)
    """
    return any(value is not None and inner_url("q.", value) is not None for value in set(values))


def case_information(values: Column, fingerprints: Sequence[Hashable]) -> float:
    """Return H(F|lower(V)) - H(F|V), in bits: what the case adds to what is known of the page.

    >>> case_information(["video.mpg", "VIDEO.mpg"], [1, 1])
    0.0
    """
    return conditional_entropy(fingerprints, lowered(values)) - conditional_entropy(fingerprints, values)


def lowered(values: Column) -> Column:
    """Return values without their case information; percent-escapes stay as they are."""
    return [value if value is None else lower_value(value) for value in values]


def relevant_tuples(
    columns: Mapping[str, Column],
    fingerprints: Sequence[Hashable],
    alone: Mapping[str, Information],
    options: EntropyOptions,
) -> Iterator[tuple[str, ...]]:
    """Yield the tuples of two parameters or more that are relevant as one value.

    *alone* is the information of each parameter. Only tuples with a member that is irrelevant alone
    are asked, since the others change nothing.
    """
    accepted = {key for key, found in alone.items() if relevance(found, options) is Relevance.ACCEPT}
    informative = sorted(columns, key=lambda key: (alone[key].fingerprint_given_value, key))[:MAX_MEMBERS]
    for size in range(2, options.largest_tuple + 1):
        for keys in combinations(informative, size):
            if accepted.issuperset(keys):
                continue
            together = list(zip(*(columns[key] for key in keys), strict=True))
            if relevance(information(together, fingerprints), options) is Relevance.ACCEPT:
                yield keys


# Clusters of URLs, and one set of rules for a host


def cluster_name(url: str, scope: str) -> str:
    """Return what *url* shares with the other URLs of its cluster; "" for all URLs, and for no URL.

    >>> [cluster_name("http://www.site.com/a/b?c=1", scope) for scope in ("host/path", "host", "domain", "any")]
    ['www.site.com/a/b', 'www.site.com', 'site.com', '']
    """
    try:
        parts = urlsplit(normal_form(url))
        host = parts.hostname or ""
    except ValueError:
        return ""
    return {"any": "", "host": host, "host/path": host + parts.path}.get(scope, registrable(host))


def clusters(pages: Iterable[FingerprintedUrl], scope: str, minimum: int) -> dict[str, list[FingerprintedUrl]]:
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


def merged(clusters: Mapping[str, Mapping[str, ParameterRule]], options: EntropyOptions) -> HostRules:
    """Return the rules of a host from those of its *clusters* (path -> key -> rule).

    What is said of a name by hand holds whatever was found. A key that only some paths have is no conflict. Case is
    dropped, and a nested URL followed, only where no cluster objects.
    """
    manual = NameList(options.relevant, options.irrelevant)
    everywhere: dict[str, ParameterRule] = {}
    by_path: dict[str, dict[str, ParameterRule]] = {}
    for key in sorted({key for rules in clusters.values() for key in rules}):
        own = {path: rules[key] for path, rules in clusters.items() if key in rules}
        common = manual.relevance(key) or _without_conflict([rule.relevance for rule in own.values()], options)
        if common is None:
            for path, rule in own.items():
                by_path.setdefault(path, {})[key] = rule
        else:
            inner = [rule.inner for rule in own.values() if rule.inner is not None]
            cases = {rule.lower for rule in own.values()} - {None}
            everywhere[key] = ParameterRule(key, common, cases == {True}, _ignored_by_all(inner) if inner else None)
    return HostRules(everywhere, by_path)


def _without_conflict(found: Sequence[Relevance], options: EntropyOptions) -> Relevance | None:
    """Return what a parameter is on a host where it is relevant under one path and irrelevant under another.

    None where each path keeps its own rule ("path-specific"); else it is relevant if it is so under some path
    ("relevant-anywhere"), or if paths where it is / paths where it is not is above a ratio ("ratio").
    """
    relevant = found.count(Relevance.ACCEPT)
    irrelevant = len(found) - relevant
    if options.conflict == "path-specific" and relevant and irrelevant:
        return None
    ratio = options.ratio if options.conflict == "ratio" else 0
    return Relevance.ACCEPT if relevant > ratio * irrelevant else Relevance.IGNORE


def _ignored_by_all(operations: Sequence[Nested]) -> Nested:
    """Return what is ignored in nested URLs by each of some operations."""
    return Nested({place: dict(keys) for place, keys in set.intersection(*(set(one.ignore) for one in operations))})


def host_rules(
    pages: Iterable[FingerprintedUrl], options: EntropyOptions | None = None, *, groups: GroupsLike = None
) -> HostRules:
    """Return the rules that the URLs of one host (or domain), with their fingerprints, make.

    No rules are made of clusters below the minimum size, other than what the names in them are known
    for. Odd input gives no rules and raises nothing.
    """
    options = options or EntropyOptions()
    pages = list(pages)
    large = clusters(pages, options.scope, options.minimum)
    rules = merged({name: analysed(members, options, groups=groups) for name, members in large.items()}, options)
    known = {key for part in (rules.everywhere, *rules.by_path.values()) for key in part}
    manual = NameList(options.relevant, options.irrelevant)
    everywhere = dict(rules.everywhere)
    for key in columns(pages, options.parts, groups=groups).keys() - known:
        if (by_hand := manual.relevance(key)) is not None:
            everywhere[key] = ParameterRule(key, by_hand)
    return HostRules(dict(sorted(everywhere.items())), rules.by_path)


def proposals_of(rules: HostRules) -> list[Proposal]:
    """Return the rules of a host in the common representation: what is ignored, lowered, nested."""
    places: list[tuple[Match, Mapping[str, ParameterRule]]] = [((), rules.everywhere)]
    places += [(path_match(path), own) for path, own in rules.by_path.items()]
    return [
        Proposal(match, rule.key, operation)
        for match, own in places
        for rule in own.values()
        if (operation := _operation(rule)) is not None
    ]


def _operation(rule: ParameterRule) -> Operation | None:
    if rule.relevance is Relevance.IGNORE:
        return Ignore()
    return rule.inner if rule.inner is not None else Lower() if rule.lower else None


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
    pages = list(map(FingerprintedUrl, sample.urls, sample.content))
    found = proposals_of(host_rules(pages, options, groups=sample.site_groups))
    # No rule speaks of one repeat of a parameter alone.
    sayable = [one for one in found if operation_problem(one.key, one.operation) is None]
    rules = rules_of(sample.site, sayable)
    book = RuleBook(rules, groups=sample.site_groups)
    if sample.others is not None:
        book = book.beside(sample.others)
    return Decision(
        canonical=book.canonical_key,
        formations=[Formation(one.match, {one.key: one.operation}) for one in sayable],
        left_out=Counter({"one repeat of a parameter": len(found) - len(sayable)}),
        exclusive=False,
        deployed=len(rules),
    )
