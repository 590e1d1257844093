"""Which parameters are worth a probe: those whose relevance is in doubt, and the pages to try them on.

Source: url-parameter-relevance, "only parameters whose probabilities lie within some predetermined range of
uncertainty (e.g. 10%<p<90%) would be tested by the HTTP HEAD or HTTP GET request for content referenced by a
modified URL". The probability is that of :mod:`.belief`, per kind of pages (template): a parameter that is
noise on one may be the page on another. What the site states itself, or rules of other sites drop, is hardly uncertain,
and no rule without a page that shows it: it is tried as long as too few do.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ...masks.model import Mask
from ...observation import Observation
from ...rules import Rule, RuleBook
from ...urls import GroupsLike, normal_form, values_of
from ...urls.acting import acts
from ...urls.templates import template_of
from ...urls.variation import host_of, is_parameter, raw_value, with_value, without
from ..config import Config, current
from ..contents import Contents, NoEvidence
from ..evidence.user_names import Names
from ..methods.entropy import FingerprintedUrl, NameList, ParameterRule, Relevance, analysed, name_of
from ..methods.options import EntropyOptions
from ..opinions.belief import LEAST, MOST, Opinion, belief, is_uncertain
from ..opinions.declared import Declarations, linked_opinions, stated_opinions
from ..opinions.other_sites import Priors, priors_of_rules
from ..opinions.said import SOME, known_names, manual_names

PAGES_PER_DOUBT: Final = Config().proposed_groups
"""Pages that are kept of a doubt: with as many that agree a rule can be learned."""
VALUES_PER_DOUBT: Final = 12
"""Values that are kept of a doubt, to put into other pages' URLs."""
UNIQUE_SHARE: Final = 0.9
"""Distinct values per URL of a parameter of which the entropies say nothing."""
MIN_URLS: Final = 2
"""URLs of one kind that must have a parameter: what one link has alone is not worth a request."""


@dataclass(frozen=True, slots=True)
class Doubt:
    """A parameter of one kind of pages, of which nobody knows whether it is relevant.

    ``relevant`` is the probability that it is; ``urls`` the number of URLs that have it; ``pages``
    some of these, as they were seen; ``values`` some of its values, as URLs spell them. ``hosts`` are those of the site
    where it is a label of them: others may not exist.
    """

    site: str
    key: str
    relevant: float
    urls: int
    pages: tuple[Observation, ...]
    values: tuple[str, ...]
    hosts: frozenset[str] = frozenset()

    def variants(self, url: str) -> tuple[str | None, str | None]:
        """Return *url* with another value that the site uses, and without the parameter; None where there is no such URL."""
        own = raw_value(url, self.key)
        others = (with_value(url, self.key, value) for value in self.values if value != own)
        changed = next((other for other in others if self._is_known(other)), None)
        if changed is not None and normal_form(changed) == normal_form(url):
            changed = None
        dropped = without(url, self.key)
        return changed, dropped if self._is_known(dropped) else None

    def _is_known(self, url: str) -> bool:
        return not self.hosts or host_of(url) in self.hosts


def doubts(
    site: str,
    observations: Iterable[Observation],
    book: RuleBook,
    *,
    band: tuple[float, float] = (LEAST, MOST),
    mask: Mask | None = None,
    names: Names | None = None,
) -> list[Doubt]:
    """Return the parameters of one site that are worth a probe, largest possible saving first.

    Those of the user's own rules are left alone, and nothing is tried on URLs that may do something. Parameters are those of the query and the path, the segments
    of the path, and the labels of the host (the document: "path components"). *names* are what the user says of names. O(URLs x parameters).
    """
    kinds: dict[tuple[object, ...], dict[str, Observation]] = {}
    declaring = list(observations)
    contents = Contents(declaring, mask)
    for each in declaring:
        if not isinstance(contents.of(each), NoEvidence):
            kinds.setdefault(template_of(each.url), {})[normal_form(each.url)] = each
    declarations = Declarations.of(declaring, site_groups=book.groups)
    declared = linked_opinions(declarations, book.groups)
    priors = priors_of_rules(book, site)
    manual = manual_names(names)
    search = _Search(site, book, declared, declarations, priors, manual, band, contents)
    found = [doubt for pages in kinds.values() for doubt in search.of_kind(list(pages.values()))]
    return sorted(found, key=lambda doubt: (doubt.relevant, _rank(doubt.key), -doubt.urls, doubt.key))


def _rank(key: str) -> int:
    """Rank what has a name before what has none: a segment of the path is the page more often."""
    return key.startswith(("path.", "host."))


@dataclass(frozen=True, slots=True)
class _Search:
    """The request for doubts, and the evidence of all pages of the site."""

    site: str
    book: RuleBook
    declared: dict[str, tuple[Opinion, ...]]
    declarations: Declarations
    priors: Priors
    manual: NameList
    band: tuple[float, float]
    contents: Contents

    def of_kind(self, pages: Sequence[Observation]) -> Iterator[Doubt]:
        """Yield the doubts of the pages of one kind."""
        usable = [each for each in pages if not acts(each.url)]
        if not usable or len(pages) < MIN_URLS:
            return
        site_groups = self.book.groups
        contents = [found.identity for each in pages if not isinstance(found := self.contents.of(each), NoEvidence)]
        views = [values_of(each.url, groups=site_groups) for each in pages]
        some = [normal_form(each.url) for each in pages[:SOME]]
        names = Counter(key for view in views for key in view if is_parameter(key))
        hosts = frozenset(host_of(each.url) for each in pages)
        entropy = _entropy(pages, contents, views, site_groups) if len(pages) >= EntropyOptions().minimum else {}
        for key, number in sorted(names.items()):
            if number < MIN_URLS or self._is_settled(key):
                continue
            tested = _tested(key, views, contents)
            stated = stated_opinions(self.declarations, key, some)
            declared = {key: (*self.declared.get(key, ()), *stated)}
            believed = belief(
                key,
                entropy=entropy,
                manual=self.manual,
                names=known_names(key, self.manual),
                priors=self.priors,
                declared=declared,
                tested=tested,
            )
            relevant = round(believed.relevant, 9)  # 0.9 is what the entropies alone give, and not less
            by_others = self.priors.relevance(name_of(key)) is not None
            least = current().least_contents if stated else current().proposed_groups if by_others else 0
            is_unproven = relevant < self.band[1] and tested[0] < least
            if not (is_uncertain(relevant, *self.band) or is_unproven):
                continue
            with_it = [(each, value) for each in usable if (value := raw_value(each.url, key)) is not None]
            values = tuple(dict.fromkeys(value for _, value in with_it if value))[:VALUES_PER_DOUBT]
            if with_it and len(values) >= MIN_URLS:
                bases = self._spread([each for each, _ in with_it])
                known = hosts if key.startswith("host.") else frozenset()
                yield Doubt(self.site, key, relevant, number, tuple(bases[:PAGES_PER_DOUBT]), values, known)

    def _spread(self, pages: Sequence[Observation]) -> list[Observation]:
        """Put pages of different contents first."""
        seen: Counter[object] = Counter()
        ranked = []
        for each in pages:
            content = self.contents.of(each)
            ranked.append((seen[content], each))
            seen[content] += 1
        return [each for _, each in sorted(ranked, key=lambda item: item[0])]

    def _is_settled(self, key: str) -> bool:
        """Whether a rule of the user's own says already what becomes of a parameter."""
        return any(touches(rule, key) for rule in self.book.for_site(self.site) if rule.status.users)


def _entropy(
    pages: Sequence[Observation],
    contents: Sequence[str],
    views: Sequence[Mapping[str, str | None]],
    site_groups: GroupsLike,
) -> dict[str, ParameterRule]:
    """Return the entropies' rules.

    That a parameter whose values hardly ever come again tells the page is no finding: so would a random number.
    """
    rules = analysed(
        [FingerprintedUrl(each.url, content) for each, content in zip(pages, contents, strict=True)], groups=site_groups
    )
    return {
        key: rule
        for key, rule in rules.items()
        if rule.relevance is not Relevance.ACCEPT or len({view.get(key) for view in views}) < UNIQUE_SHARE * len(views)
    }


def _tested(key: str, views: Sequence[dict[str, str | None]], contents: Sequence[str]) -> tuple[int, int]:
    """Return the groups of URLs that differ in a parameter alone, and those of them that are several pages."""
    groups: dict[tuple[tuple[str, str | None], ...], dict[str | None, str]] = {}
    for view, content in zip(views, contents, strict=True):
        rest = tuple(item for item in sorted(view.items()) if item[0] != key)
        groups.setdefault(rest, {})[view.get(key)] = content
    informative = [set(group.values()) for group in groups.values() if len(group) > 1]
    return len(informative), sum(len(group) > 1 for group in informative)


def touches(rule: Rule, key: str) -> bool:
    """Return whether a rule does something to a key."""
    return any(key == name or (name.endswith("*") and key.startswith(name[:-1])) for name in rule.ops)
