"""From a cluster of URLs, as columns of values, to a rule for each of its parameters, as the document does it.

Parameters are the keys of the key-value view: query parameters, path components (``path.0``), the
labels of the host before its domain (``host.1``), matrix parameters and key=value segments. Values
are in normal form, so that escapes which mean the same are the same. Source: url-parameter-relevance, FIG. 2 on the
keys that a significant prefix settles, FIG. 3 to 5 without the test requests of FIG. 5 (512-520).
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations

from ....rules import Ignore, Nested, RuleBook
from ....rules.actions import inner_url
from ....urls import GroupsLike, normal_form, site_of_url, values_of
from ....urls.percent import lower_value
from ..affixes import significant_prefixes, uniform
from .relevance import UNUSED, Information, Relevance, RelevanceThresholds, Unused, conditional_entropy, information

Value = str | Unused
Column = list[Value]

MAX_KEYS = 200
"""Parameters of a cluster that are looked at, those that most URLs have."""

QUERY = ("q.",)
PATH = ("path.", "ext", "m.", "s.")
HOST = ("host.",)

_NOT_A_PART = frozenset({"path.len", "path.trail"})


@dataclass(frozen=True, slots=True)
class FingerprintedUrl:
    """A URL, and the fingerprint of the content it led to."""

    url: str
    fingerprint: Hashable


def columns(
    pages: Sequence[FingerprintedUrl],
    kinds: tuple[str, ...] = QUERY,
    *,
    groups: GroupsLike = None,
    skipped: Iterable[str] = (),
) -> dict[str, Column]:
    """Return, per parameter of one of *kinds*, its value in each URL, UNUSED where it has none.

    *skipped* are keys that need no analysis (see :func:`keys_inside`). O(URLs x parameters).
    """
    views = [values_of(page.url, groups=groups) for page in pages]
    without = _NOT_A_PART.union(skipped)
    seen = Counter(key for view in views for key in view if key.startswith(kinds) and key not in without)
    chosen = sorted(seen, key=lambda key: (-seen[key], key))[:MAX_KEYS]
    return {key: [(view[key] or "") if key in view else UNUSED for view in views] for key in sorted(chosen)}


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

    In a group of URLs with this significant prefix they are the same everywhere: only the others need
    to be analysed.

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

    ``tuples`` are the relevant tuples that made it relevant; ``capitals`` says that its values have some, ``lower`` that
    they tell nothing of the page, ``nested`` that its values are URLs, to be canonicalized themselves, as ``inner`` has it.
    """

    key: str
    relevance: Relevance
    information: Information | None = None
    tuples: tuple[tuple[str, ...], ...] = field(default=())
    lower: bool = False
    capitals: bool = False
    nested: bool = False
    inner: Nested = field(default=Nested())


def analysed(
    pages: Sequence[FingerprintedUrl],
    thresholds: RelevanceThresholds | None = None,
    *,
    kinds: tuple[str, ...] = QUERY,
    largest_tuple: int = 3,
    groups: GroupsLike = None,
    skipped: Iterable[str] = (),
) -> dict[str, ParameterRule]:
    """Return a rule for each parameter of a cluster of URLs.

    Each is analysed by itself, one whose values are URLs by the canonical ones, one whose case tells nothing in lower case;
    then tuples of up to *largest_tuple*, and all members of a relevant tuple are relevant. *skipped* keys are left out.
    O(n x (parameters + tuples)).
    """
    thresholds = thresholds or RelevanceThresholds()
    found = columns(pages, kinds, groups=groups, skipped=skipped)
    fingerprints = [page.fingerprint for page in pages]
    inner = {
        key: _inner_rules(key, values, fingerprints, thresholds, groups)
        for key, values in found.items()
        if key.startswith("q.") and holds_urls(values)
    }
    found |= {key: _canonicalized(key, found[key], operation, groups) for key, operation in inner.items()}
    capitals = {key for key, values in found.items() if key not in inner and has_capitals(values)}
    lower = {key for key in capitals if case_information(found[key], fingerprints) < thresholds.case}
    # What the case does not tell is no difference of values: they are analysed as the rule shows them.
    found |= {key: [lowered_value(value) for value in found[key]] for key in lower}
    alone = {key: information(values, fingerprints) for key, values in found.items()}
    together: dict[str, list[tuple[str, ...]]] = {}
    for keys in relevant_tuples(found, fingerprints, alone, thresholds, largest_tuple):
        for key in keys:
            together.setdefault(key, []).append(keys)
    return {
        key: ParameterRule(
            key,
            Relevance.ACCEPT if key in together else thresholds.relevance(alone[key]),
            alone[key],
            tuple(together.get(key, ())),
            lower=key in lower,
            capitals=key in capitals,
            nested=key in inner,
            inner=inner.get(key, Nested()),
        )
        for key in found
    }


def _inner_rules(
    key: str, values: Column, fingerprints: Sequence[Hashable], thresholds: RelevanceThresholds, groups: GroupsLike
) -> Nested:
    """Return what is irrelevant in the URLs that a parameter holds: each site's are analysed as pages of their own."""
    by_site: dict[str, list[FingerprintedUrl]] = {}
    for value, fingerprint in zip(values, fingerprints, strict=True):
        url = inner_url(key, value) if isinstance(value, str) else None
        if url is not None:
            by_site.setdefault(site_of_url(url, groups=groups), []).append(FingerprintedUrl(url, fingerprint))
    rules = {site: analysed(pages, thresholds, groups=groups) for site, pages in by_site.items()}
    return Nested(
        {
            site: {
                name: Ignore()
                for name, rule in found.items()
                if rule.relevance is Relevance.IGNORE and not name.endswith("]")
            }
            for site, found in rules.items()
        }
    )


def _canonicalized(key: str, values: Column, operation: Nested, groups: GroupsLike) -> Column:
    """Return the values of a parameter, those that are URLs by their canonical keys."""
    book = RuleBook(groups=groups)
    urls = [inner_url(key, value) if isinstance(value, str) else None for value in values]
    return [value if url is None else book.nested_key(url, operation) for value, url in zip(values, urls, strict=True)]


def holds_urls(values: Column) -> bool:
    """Return whether some value of a query parameter is a URL by itself.

    >>> holds_urls(["http%3A%2F%2Fabc.com%2Fvideo"]), holds_urls(["http"])
    (True, False)
    """
    return any(isinstance(value, str) and inner_url("q.", value) is not None for value in set(values))


def case_information(values: Column, fingerprints: Sequence[Hashable]) -> float:
    """Return H(F|lower(V)) - H(F|V), in bits: what the case adds to what is known of the page.

    >>> case_information(["video.mpg", "VIDEO.mpg"], [1, 1])
    0.0
    """
    lowered = [lowered_value(value) for value in values]
    return conditional_entropy(fingerprints, lowered) - conditional_entropy(fingerprints, values)


def lowered_value(value: Value) -> Value:
    """Return a value without its case information; percent-escapes stay as they are."""
    return lower_value(value) if isinstance(value, str) else value


def has_capitals(values: Column) -> bool:
    """Return whether the values have any case information."""
    return any(value != lowered_value(value) for value in set(values))


MAX_MEMBERS = 12
"""Parameters that tuples are made of, those that say most of the fingerprint: 12 make 66 pairs and
220 triples."""


def relevant_tuples(
    columns: Mapping[str, Column],
    fingerprints: Sequence[Hashable],
    alone: Mapping[str, Information],
    thresholds: RelevanceThresholds,
    most: int = 3,
) -> Iterator[tuple[str, ...]]:
    """Yield the tuples of two to *most* parameters that are relevant as one value.

    *alone* is the information of each parameter. Only tuples with a member that is irrelevant alone
    are asked, since the others change nothing.
    """
    relevance = {key: thresholds.relevance(found) for key, found in alone.items()}
    informative = sorted(columns, key=lambda key: (alone[key].fingerprint_given_value, key))[:MAX_MEMBERS]
    for size in range(2, most + 1):
        for keys in combinations(informative, size):
            if all(relevance[key] is Relevance.ACCEPT for key in keys):
                continue
            together = list(zip(*(columns[key] for key in keys), strict=True))
            if thresholds.relevance(information(together, fingerprints)) is Relevance.ACCEPT:
                yield keys
