"""From a cluster of URLs to a rule for each of its parameters, as the document does it.

Source: url-parameter-relevance, FIG. 3 to 5 without the test requests of FIG. 5 (512-520).
"""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from ...urls import GroupsLike
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
    nothing of the page, ``nested`` that its values are URLs, to be canonicalized themselves.
    """

    key: str
    relevance: Relevance
    information: Information | None = None
    tuples: tuple[tuple[str, ...], ...] = field(default=())
    lower: bool = False
    nested: bool = False


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

    Each is analysed by itself; then tuples of up to *largest_tuple*, and all members of a relevant
    tuple are relevant. *skipped* keys are left out. O(n x (parameters + tuples)).
    """
    thresholds = thresholds or Thresholds()
    found = columns(pages, kinds, groups=groups, skipped=skipped)
    fingerprints = [page.fingerprint for page in pages]
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
            nested=holds_urls(values),
        )
        for key, values in found.items()
    }


def _case_insensitive(values: Column, fingerprints: Sequence[Hashable], thresholds: Thresholds) -> bool:
    return has_capitals(values) and case_information(values, fingerprints) < thresholds.case


def holds_urls(values: Column) -> bool:
    """Tell whether some value of a parameter is a URL by itself, raw or escaped.

    >>> holds_urls(["http%3A%2F%2Fabc.com%2Fvideo"]), holds_urls(["http"])
    (True, False)
    """
    return any(
        isinstance(value, str) and value[:4].lower() == "http" and any(mark in value for mark in _MARKS)
        for value in set(values)
    )
