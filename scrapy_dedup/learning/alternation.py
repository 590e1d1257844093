"""Rules and masks together, from a store: each half teaches the other.

Versions of a page show what does not last on it; without that, more pages are seen to be the same, so that
more rules are learned; URLs that are one page under these rules are further versions of it. This goes on until
nothing changes, and not for ever.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from ..masks.model import Mask
from ..masks.token_changes import Options
from ..observation import APART, KeptPage, Observation
from ..rules import Rule, RuleBook
from ..store.page_queries import cut_off_pages
from ..store.store import Store
from ..urls import DeepSplit, normal_form
from .alias_learning import with_aliases, with_declared_aliases
from .asking.controls import seen_pages, undecided, unequal_pairs
from .asking.differing import differing_note
from .asking.refetching import MOST_REFETCHES_AT_ONCE, refetches
from .data.by_site import learned_again
from .learn import Elsewhere, Learned, learn
from .learning_options import DEFAULTS, LearningOptions
from .memory import Memory
from .site_masks import LearnedMask, SiteMasks
from .site_report import SiteReport

if TYPE_CHECKING:
    from .imported import ImportedEvidence

MOST_ROUNDS = 3
MOST_ASKED = 2 * MOST_REFETCHES_AT_ONCE
"""URLs of a site that are to be fetched again at once: controls and merges that wait first, odd responses after them."""


@dataclass(frozen=True, slots=True)
class StoredEvidence:
    """The part of a store to learn from: *sites* None stands for all; *since* is seconds since 1970."""

    store: Store
    scope: str = ""
    sites: Sequence[str] | None = None
    since: float | None = None
    memory: Memory = field(default_factory=Memory, repr=False, compare=False)
    """Of the process, which may have learned before."""

    def named(self) -> list[str]:
        """Return the names of the sites."""
        return (
            sorted(self.sites) if self.sites is not None else sorted(each.site for each in self.store.sites(self.scope))
        )

    def sizes(self) -> dict[str, int]:
        """Return the number of observations of each site that it is learned from, about."""
        names = frozenset(self.named())
        return {each.site: each.responses for each in self.store.sites(self.scope) if each.site in names}

    def observations(self, site: str, *, versions: bool) -> Iterable[Observation]:
        """Yield the latest observation of each URL of *site*, and those of the same crawl before it."""
        return self.store.observations(
            self.scope, site, since=self.since, versions=versions, repeats_within=APART, unpack=self.memory.version
        )

    def versions(self, site: str) -> list[KeptPage]:
        """Return the responses of *site* whose texts are stored."""
        found = self.store.versions(self.scope, site, since=self.since, unpack=self.memory.version)
        cut_off = cut_off_pages(self.store, self.scope, site)  # what these lack does not come and go
        return [page for page in found if (page.url, page.time) not in cut_off]


@dataclass(frozen=True, slots=True)
class LearnedRulesAndMasks:
    """The rules of all sites with a report of each, the masks by site, and the URLs to fetch again by site."""

    learned: Learned
    masks: Mapping[str, Mask] = field(default_factory=dict)
    refetches: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


def learn_rules_and_masks(
    evidence: "StoredEvidence | ImportedEvidence",
    options: LearningOptions = DEFAULTS,
    *,
    known: RuleBook,
    masks: Mapping[str, Mask] | None = None,
    elsewhere: Elsewhere | None = None,
    published: Options | None = None,
    compared: Collection[str] | None = None,
) -> LearnedRulesAndMasks:
    """Return the rules and masks that a store, or what was imported, supports.

    *known* and *masks* are those of before: what the user said in them stays. With *published*, masks are learned by the
    transient-content document's method, with these options. Masks are learned of the sites to be *compared*, None for all; of others
    the rules, under the masks of before. A site is learned again where it came before one whose URLs are nested in its own.
    Raises StoreError, ValueError.
    """
    before = masks or {}
    by_texts = options.policy is not None and options.policy.compares_texts
    named = evidence.named()
    names = frozenset(named)
    found: dict[str, tuple[Learned, LearnedMask]] = {}
    asked: dict[str, tuple[str, ...]] = {}

    def learn_in_turns(site: str) -> None:
        """Learn a site, with the rules of those learned already."""

        def rules_elsewhere(sites: AbstractSet[str]) -> RuleBook:
            fresh = [found[other][0].book for other in sorted(sites & found.keys())]
            rules, deep = _together(fresh)
            old = elsewhere(sites) if elsewhere is not None else known.only(sites)
            return RuleBook(rules, deep, options.site_groups).beside(old)

        kept = evidence.versions(site)
        pages = SiteMasks(site, [page._replace(url=normal_form(page.url)) for page in kept], published)
        # Of pages whose texts are nowhere kept, a mask says nothing.
        mask = before.get(site) if kept or isinstance(evidence, StoredEvidence) else None
        learns_masks = compared is None or site in compared
        old = pages.without_refuted(mask, known) if learns_masks else mask
        used = wanted = pages.mask(str, old) if learns_masks else LearnedMask(old)
        for left in range(MOST_ROUNDS - 1, -1, -1):
            fresh = learn(
                evidence.observations(site, versions=wanted.mask is not None or by_texts),
                options if not kept else replace(options, diagnose=False),
                known=known,
                masks={site: wanted.mask} if wanted.mask is not None else None,
                elsewhere=rules_elsewhere,
                memory=evidence.memory,
            )
            if not fresh.reports:
                break  # out of time, or nothing to learn from: what an earlier round has found stands
            used = wanted
            # Whatever URLs are nested in those of a site: of sites that are not learned nobody asks.
            fresh = replace(fresh, nested={each: inner & names for each, inner in fresh.nested.items()})
            found[site] = fresh, used
            if pages and left and learns_masks:
                wanted = pages.mask(fresh.book.canonical_key, old)
            if _version(wanted.mask) == _version(used.mask):
                break
        if kept and learns_masks and site in found:
            learned, used = found[site]
            urls, note = _further(kept, learned.book, used.mask)
            asked[site] = tuple(dict.fromkeys((*urls, *learned.odd.get(site, ()))))[:MOST_ASKED]
            if options.diagnose and note:
                found[site] = _with_note(learned, site, note), used

    sizes = evidence.sizes() if options.progress else {}
    done, total = 0, sum(sizes.values())

    def learn_all(sites: Sequence[str]) -> None:
        nonlocal done
        for site in sites:
            if options.deadline.passed():
                break
            if options.progress:
                options.progress(f"learning {site}", done, total)
            learn_in_turns(site)
            done += sizes.get(site, 0)

    learn_all(named)
    nested = {site: learned.nested.get(site, frozenset()) for site, (learned, _) in found.items()}
    again = learned_again(nested if isinstance(evidence, StoredEvidence) else evidence.nested)
    total += sum(sizes.get(site, 0) for site in again)
    learn_all(again)
    if options.progress:
        options.progress("learned", done, total)
    rules, deep = _together([learned.book for learned, _ in found.values()])
    reports = [_with_what_passes(report, used) for learned, used in found.values() for report in learned.reports]
    departures = [departure for learned, _ in found.values() for departure in learned.departures]
    likely = {site: keys for learned, _ in found.values() for site, keys in learned.candidates.items()}
    learned = Learned(RuleBook(rules, deep, options.site_groups), tuple(reports), tuple(departures), candidates=likely)
    found_masks = {site: used.mask for site, (_, used) in found.items() if used.mask is not None}
    if isinstance(evidence, StoredEvidence):
        learned = with_aliases(
            learned,
            evidence.store,
            scope=evidence.scope,
            since=evidence.since,
            known=known,
            masks=found_masks,
            deadline=options.deadline,
            unpack=evidence.memory.version,
        )
    else:  # nobody else records which links and elements pages have
        learned = with_declared_aliases(
            learned, evidence.declaring, known=known, masks=found_masks, deadline=options.deadline
        )
    evidence.memory.end()
    return LearnedRulesAndMasks(learned, found_masks, {site: urls for site, urls in asked.items() if urls})


def _further(kept: Sequence[KeptPage], book: RuleBook, mask: Mask | None) -> tuple[tuple[str, ...], str | None]:
    """Return the URLs of a site to fetch again, and a note on near-duplicate pages."""
    pages = seen_pages(kept, mask, book.canonical_key)
    pairs = undecided(pages, unequal_pairs(pages), masked=bool(_version(mask)))
    return refetches(pages, pairs), differing_note(pairs, pages, mask)


def _with_note(learned: Learned, site: str, note: str) -> Learned:
    """Return *learned* with a further note on a site."""
    reports = [
        replace(report, notes=(*report.notes, note)) if report.site == site else report for report in learned.reports
    ]
    return replace(learned, reports=tuple(reports))


def _together(books: Iterable[RuleBook]) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    """Return the rules and the deep tokens of some books."""
    rules: list[Rule] = []
    deep: dict[str, Mapping[str, DeepSplit]] = {}
    for book in books:
        rules += book
        deep |= {site: book.site_rules(site).deep for site in book.sites}
    return rules, deep


def _version(mask: Mask | None) -> str:
    return "" if mask is None else mask.version


def _with_what_passes(report: SiteReport, found: LearnedMask) -> SiteReport:
    places = [place for place in found.mask.places if place.state != "keep"] if found.mask is not None else []
    notes = []
    if places:
        stripped = sum(place.act == "strip" or place.state == "strip" for place in places)
        note = f"transient content: {stripped} places on its pages"
        if stripped < len(places):
            note += f", and {len(places) - stripped} whose content changes and stays in items"
        notes.append(note)
    if found.note:
        notes.append(found.note)
    return replace(report, notes=(*report.notes, *notes))
