"""From a cluster of URLs to a rule for each of its parameters, as the document does it.

Source: url-parameter-relevance, FIG. 3 to 5 without the test requests of FIG. 5 (512-520).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from ....rules import Ignore, Nested, RuleBook
from ....rules.actions import inner_url
from ....urls import GroupsLike, site_of_url
from .case import case_information, has_capitals
from .columns import QUERY, Column, Page, columns
from .information import Information, information
from .relevance import Relevance, Thresholds
from .tuples import relevant_tuples

_MARKS = ("://", "%3A%2F%2F", ":%2F%2F", "%3a%2f%2f")


@dataclass(frozen=True, slots=True)
class ParameterRule:
    """What was found of one parameter.

    ``tuples`` are the relevant tuples that made it relevant; ``lower`` says that its case tells
    nothing of the page, ``nested`` that its values are URLs, to be canonicalized themselves, as ``inner`` has it.
    """

    key: str
    relevance: Relevance
    information: Information | None = None
    tuples: tuple[tuple[str, ...], ...] = field(default=())
    lower: bool = False
    nested: bool = False
    inner: Nested = field(default=Nested())


def analysed(
    pages: Sequence[Page],
    thresholds: Thresholds | None = None,
    *,
    kinds: tuple[str, ...] = QUERY,
    largest_tuple: int = 3,
    groups: GroupsLike = None,
    skipped: Iterable[str] = (),
) -> dict[str, ParameterRule]:
    """Return a rule for each parameter of a cluster of URLs.

    Each is analysed by itself, one whose values are URLs by the canonical ones; then tuples of up to *largest_tuple*, and all members of a relevant
    tuple are relevant. *skipped* keys are left out. O(n x (parameters + tuples)).
    """
    thresholds = thresholds or Thresholds()
    found = columns(pages, kinds, groups=groups, skipped=skipped)
    fingerprints = [page.fingerprint for page in pages]
    inner = {
        key: _inner_rules(key, values, fingerprints, thresholds, groups)
        for key, values in found.items()
        if key.startswith("q.") and holds_urls(values)
    }
    found |= {key: _canonicalized(key, found[key], operation, groups) for key, operation in inner.items()}
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
            lower=_case_insensitive(values, fingerprints, thresholds),
            nested=key in inner,
            inner=inner.get(key, Nested()),
        )
        for key, values in found.items()
    }


def _case_insensitive(values: Column, fingerprints: Sequence[Hashable], thresholds: Thresholds) -> bool:
    return has_capitals(values) and case_information(values, fingerprints) < thresholds.case


def _inner_rules(
    key: str, values: Column, fingerprints: Sequence[Hashable], thresholds: Thresholds, groups: GroupsLike
) -> Nested:
    """Return what is irrelevant in the URLs that a parameter holds: each site's are analysed as pages of their own."""
    by_site: dict[str, list[Page]] = {}
    for value, fingerprint in zip(values, fingerprints, strict=True):
        url = inner_url(key, value) if isinstance(value, str) else None
        if url is not None:
            by_site.setdefault(site_of_url(url, groups=groups), []).append(Page(url, fingerprint))
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
    """Tell whether some value of a parameter is a URL by itself, raw or escaped.

    >>> holds_urls(["http%3A%2F%2Fabc.com%2Fvideo"]), holds_urls(["http"])
    (True, False)
    """
    return any(
        isinstance(value, str) and value[:4].lower() == "http" and any(mark in value for mark in _MARKS)
        for value in set(values)
    )
