"""Rules and masks together, from a store: each half teaches the other (design, section 1).

Versions of a page show what does not last on it; without that, more pages are seen to be the same, so that
more rules are learned; URLs that are one page under these rules are further versions of it. This goes on until
nothing changes, and not for ever.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from time import monotonic

from ..content.mask import Mask
from ..content.versions import Version
from ..observation import Observation
from ..rules import RuleBook
from ..store.store import Store
from ..urls import normal_form
from ..urls.templates import template_of
from .clusters import APART
from .learn import MAX_LOSS, Learned, Progress, learn
from .report import SiteReport
from .sighted import with_aliases
from .transient.crawls import crawls_of
from .transient.learn import mask_of
from .transient.visits import Passing, passing_places

MOST_ROUNDS = 3
MOST_VERSIONS = 8
"""Versions of one page that are compared, the latest ones."""
MOST_PAGES = 4_000
"""Pages of a site that are compared, those with the most versions."""


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
        return [(normal_form(url), at, version) for url, at, version in found]


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
    reports: list[SiteReport] = []
    rules = []
    deep = {}
    for site in evidence.named():
        if deadline is not None and monotonic() > deadline:
            break
        seen = evidence.versions(site)
        visits = passing_places(crawls_of(seen))
        mask = wanted = _mask(site, seen, visits, None, before.get(site))
        learned = None
        for _ in range(MOST_ROUNDS):
            fresh = learn(
                evidence.observations(site, versions=wanted is not None),
                max_loss=max_loss,
                groups=groups,
                known=known,
                learners=learners,
                masks={site: wanted} if wanted is not None else None,
                progress=progress,
                deadline=deadline,
                diagnose=diagnose,
            )
            if not fresh.reports:
                break  # out of time, or nothing to learn from: what an earlier round has found stands
            learned, mask = fresh, wanted
            if seen:
                wanted = _mask(site, seen, visits, learned.book, before.get(site))
            if _version(wanted) == _version(mask):
                break
        if learned is None:
            continue  # nothing is known of the site: what is in its files stays there
        rules += list(learned.book)
        deep[site] = learned.book.site_rules(site).deep
        reports += [_with_what_passes(report, mask) for report in learned.reports]
        if mask is not None:
            found[site] = mask
    learned = with_aliases(
        Learned(RuleBook(rules, deep, groups), tuple(reports)),
        evidence.store,
        scope=evidence.scope,
        since=evidence.since,
        known=known,
        masks=found,
        deadline=deadline,
    )
    return Both(learned, found)


def _mask(
    site: str, seen: Sequence[tuple[str, float, Version]], visits: Passing, book: RuleBook | None, before: Mask | None
) -> Mask | None:
    """Return the mask of a site, its pages told apart by their URLs or by the rules of *book*.

    None where there is nothing to say, and there was nothing *before*: the file of an older mask is to be renewed.
    """
    key_of = book.canonical_key if book is not None else str
    pages: dict[str, list[tuple[float, str, Version]]] = {}
    for url, at, version in seen:
        pages.setdefault(key_of(url), []).append((at, url, version))
    several = sorted((page for page in pages.items() if len(page[1]) > 1), key=lambda page: (-len(page[1]), page[0]))
    several = several[:MOST_PAGES]
    # Pages are named by their keys, which may be of another kind than the URLs they are seen under.
    crawl_of = _crawls([at for _, at, _ in seen])
    pages_seen = [
        (
            name,
            _compared(found),
            {template_of(url) for _, url, _ in found},
            [crawl_of[at] for at in sorted([at for at, _, _ in found])[-MOST_VERSIONS:]],
        )
        for name, found in several
    ]
    present = {block[:2] for _, _, version in seen for block in version.blocks} if before is not None else ()
    mask = mask_of(pages_seen, previous=before, site=site, present=present)
    if visits.paths:
        mask = _with_visits(mask, visits)
    return mask if mask.paths or before is not None else None


def _with_visits(mask: Mask, visits: Passing) -> Mask:
    """Return a mask with what depends on the visit; what the user said stays, and what is known of parts of places."""
    kinds = tuple(sorted(mask.templates, key=repr))
    # Kinds of pages join the mask of which the paths that are there say nothing.
    paths = [path if path.state or path.templates else replace(path, templates=kinds) for path in mask.paths]
    further = {(path.selector, path.attribute): path for path in visits.paths}
    kept = []
    for path in paths:
        place = path.selector, path.attribute
        is_part = path.slot is not None or path.position != 0
        if path.state or (path.is_hidden and is_part):
            further.pop(place, None)
    for path in paths:
        found = further.get((path.selector, path.attribute))
        if found is None or path.state:
            kept.append(path)
        elif path.is_hidden:
            both = {*path.templates, *found.templates} if path.templates else ()
            further[path.selector, path.attribute] = replace(found, templates=tuple(sorted(both, key=repr)))
    return replace(mask, paths=(*kept, *further.values()), templates=mask.templates | visits.templates)


def _crawls(times: Iterable[float]) -> dict[float, int]:
    """Number the crawls that responses at *times* are of: there is an hour between two."""
    found: dict[float, int] = {}
    number, last = 0, None
    for time in sorted(times):
        number += last is not None and time - last > APART
        found[time] = number
        last = time
    return found


def _compared(found: list[tuple[float, str, Version]]) -> list[Version]:
    """Return the versions of a page, the oldest first.

    Where they come from several URLs, only their texts: links and forms echo the URL.
    """
    found = sorted(found, key=lambda each: each[:2])[-MOST_VERSIONS:]
    if len({url for _, url, _ in found}) == 1:
        return [version for _, _, version in found]
    return [Version(tuple([block for block in version.blocks if not block[1]])) for _, _, version in found]


def _version(mask: Mask | None) -> str:
    return "" if mask is None else mask.version


def _with_what_passes(report: SiteReport, mask: Mask | None) -> SiteReport:
    hidden = [path for path in mask.paths if path.is_hidden] if mask is not None else []
    if not hidden:
        return report
    return replace(report, notes=(*report.notes, f"transient content: {len(hidden)} places on its pages"))
