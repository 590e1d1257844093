"""Rules and masks together, from a store: each half teaches the other (design, section 1).

Versions of a page show what does not last on it; without that, more pages are seen to be the same, so that
more rules are learned; URLs that are one page under these rules are further versions of it. This goes on until
nothing changes, and not for ever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic
from typing import TYPE_CHECKING

from ..content.mask import Mask
from ..content.versions import Version
from ..observation import Observation
from ..rules import RuleBook
from ..store.pages import cut_off_pages
from ..store.store import Store
from ..urls import normal_form
from .learn import MAX_LOSS, Learned, Progress, learn
from .masks import SitePages
from .report import SiteReport
from .sighted import with_aliases

if TYPE_CHECKING:
    from ..rules.lifecycle import Departure

MOST_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Evidence:
    """What of a store is looked at: *sites* None stands for all; *since* is seconds since 1970."""

    store: Store
    scope: str = ""
    sites: Sequence[str] | None = None
    since: float | None = None

    def named(self) -> list[str]:
        """Return the names of the sites."""
        return (
            sorted(self.sites) if self.sites is not None else sorted(each.site for each in self.store.sites(self.scope))
        )

    def observations(self, site: str, *, versions: bool) -> Iterable[Observation]:
        """Yield the latest observation of each URL of *site*."""
        return self.store.observations(self.scope, site, since=self.since, versions=versions)

    def versions(self, site: str) -> list[tuple[str, float, Version]]:
        """Return (URL in normal form, seconds since 1970, version) of what is kept of *site*."""
        found = self.store.versions(self.scope, site, since=self.since)
        cut_off = cut_off_pages(self.store, self.scope, site)  # what these lack does not come and go
        return [(normal_form(url), at, version) for url, at, version in found if (url, at) not in cut_off]


@dataclass(frozen=True, slots=True)
class Both:
    """The rules of all sites with a report of each, and the masks by site."""

    learned: Learned
    masks: Mapping[str, Mask] = field(default_factory=dict)


def learn_both(
    evidence: Evidence,
    *,
    known: RuleBook,
    masks: Mapping[str, Mask] | None = None,
    max_loss: float = MAX_LOSS,
    groups: Mapping[str, Sequence[str]] | None = None,
    learners: Sequence[str] | None = None,
    progress: Progress | None = None,
    deadline: float | None = None,
    diagnose: bool = False,
) -> Both:
    """Return the rules and masks that a store supports.

    *known* and *masks* are those of before: what the user said in them stays. The other arguments are those of
    :func:`.learn.learn`; sites that are not begun at *deadline* are left out. Raises StoreError, ValueError.
    """
    before = masks or {}
    found: dict[str, Mask] = {}
    comparing: dict[str, Mask] = {}
    reports: list[SiteReport] = []
    rules = []
    departures: list[Departure] = []
    deep = {}
    for site in evidence.named():
        if deadline is not None and monotonic() > deadline:
            break
        pages = SitePages(site, evidence.versions(site))
        old = pages.without_refuted(before.get(site), known)
        used = wanted = pages.masks(None, old)
        learned = None
        for _ in range(MOST_ROUNDS):
            fresh = learn(
                evidence.observations(site, versions=wanted.comparing is not None),
                max_loss=max_loss,
                groups=groups,
                known=known,
                learners=learners,
                masks={site: wanted.comparing} if wanted.comparing is not None else None,
                progress=progress,
                deadline=deadline,
                diagnose=diagnose,
            )
            if not fresh.reports:
                break  # out of time, or nothing to learn from: what an earlier round has found stands
            learned, used = fresh, wanted
            if pages:
                wanted = pages.masks(learned.book, old)
            if _version(wanted.comparing) == _version(used.comparing):
                break
        if learned is None:
            continue  # nothing is known of the site: what is in its files stays there
        rules += list(learned.book)
        departures += learned.departures
        deep[site] = learned.book.site_rules(site).deep
        reports += [_with_what_passes(report, used.mask) for report in learned.reports]
        if used.mask is not None:
            found[site] = used.mask
        if used.comparing is not None:
            comparing[site] = used.comparing
    learned = with_aliases(
        Learned(RuleBook(rules, deep, groups), tuple(reports), tuple(departures)),
        evidence.store,
        scope=evidence.scope,
        since=evidence.since,
        known=known,
        masks=comparing,
        deadline=deadline,
    )
    return Both(learned, found)


def _version(mask: Mask | None) -> str:
    return "" if mask is None else mask.version


def _with_what_passes(report: SiteReport, mask: Mask | None) -> SiteReport:
    left_out = [path for path in mask.paths if path.is_left_out] if mask is not None else []
    if not left_out:
        return report
    hidden = sum(path.is_hidden for path in left_out)
    note = f"transient content: {hidden} places on its pages"
    if hidden < len(left_out):
        note += f", and {len(left_out) - hidden} whose content changes and stays in items"
    return replace(report, notes=(*report.notes, note))
