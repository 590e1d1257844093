"""Kinds of aliases learned from a store or from what was imported, beside the rules learned from URLs alone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from itertools import chain

from ..masks.model import Mask
from ..observation import Observation
from ..rules import Rule, RuleBook, Status
from ..rules.lifecycle import Departure, Reason
from ..store.conversions import Unpack, version_in
from ..store.page_queries import declared
from ..store.rows import SightingRow
from ..store.store import Store
from ..urls import site_of_url
from .aliases.fetched import Fetched
from .aliases.kinds import alias_rules, proven_aliases
from .aliases.pairs import declared_sightings
from .deadline import NEVER, Deadline
from .learn import Learned

MOST_SIGHTINGS = 200_000
"""Sightings of one site that are looked at, the latest ones."""


def with_aliases(
    learned: Learned,
    store: Store,
    *,
    scope: str = "",
    since: float | None = None,
    known: RuleBook | None = None,
    masks: Mapping[str, Mask] | None = None,
    deadline: Deadline = NEVER,
    unpack: Unpack = version_in,
) -> Learned:
    """Return *learned* with the kinds of aliases that the store of observations proves.

    The kinds of the user are there already; *known* tells which were refuted or switched off. Sites
    that are not begun at *deadline* keep the kinds that they had.
    """

    def look(site: str, mask: Mask | None) -> tuple[Fetched, list[SightingRow]]:
        seen = store.observations(scope, site, since=since, versions=mask is not None, unpack=unpack)
        fetched = Fetched(seen, mask)
        if mask is None:
            fetched.unstable(store.unstable_urls(scope, site))
        return fetched, sightings_of(store, site, fetched, learned.book, scope=scope, since=since)

    return _with_kinds(learned, look, keys=learned.book, known=known, masks=masks, deadline=deadline)


def with_declared_aliases(
    learned: Learned,
    observations: Callable[[str, bool], Iterable[Observation]],
    *,
    others: RuleBook | None = None,
    known: RuleBook | None = None,
    masks: Mapping[str, Mask] | None = None,
    deadline: Deadline = NEVER,
) -> Learned:
    """Return *learned* with the kinds of declared aliases that imported observations prove: canonical URLs, redirects.

    *observations* takes a site that has such, and whether the versions of its pages are asked for. *others* are the rules of sites
    that are not learned.
    """
    book = learned.book if others is None else learned.book.beside(others)

    def look(site: str, mask: Mask | None) -> tuple[Fetched, list[SightingRow]]:
        seen = list(observations(site, mask is not None))
        fetched = Fetched(seen, mask)
        if mask is None:
            texts: dict[str, str] = {}
            pages = [each for each in seen if each.status == 200]
            fetched.unstable(
                each.url for each in pages if texts.setdefault(each.url, each.fingerprint) != each.fingerprint
            )
        return fetched, _declared(site, fetched, book)

    return _with_kinds(learned, look, keys=book, known=known, masks=masks, deadline=deadline)


def _with_kinds(
    learned: Learned,
    look: Callable[[str, Mask | None], tuple[Fetched, list[SightingRow]]],
    *,
    keys: RuleBook,
    known: RuleBook | None,
    masks: Mapping[str, Mask] | None,
    deadline: Deadline,
) -> Learned:
    """Return *learned* with the kinds that are proven by what *look* has of each site; URLs are known by *keys*."""
    book = learned.book
    before = known if known is not None else book
    rules = [rule for rule in book if not rule.is_alias or rule.status.users]
    taken = {rule.id for rule in book}
    reports = []
    departures = list(learned.departures)
    for report in learned.reports:
        if deadline.passed():
            rules += [rule for rule in before.for_site(report.site) if rule.is_alias and rule.id not in taken]
            reports.append(report)
            continue
        fetched, rows = look(report.site, (masks or {}).get(report.site))
        found = alias_rules(report.site, rows, fetched, keys.canonical_key, before.for_site(report.site))
        rules += [rule for rule in found if rule.id not in taken]
        departures += _departed(before.for_site(report.site), found)
        acting = [rule for rule in found if rule.status.acts]
        urls = sum(rule.evidence.urls for rule in acting if rule.evidence)
        notes = (*report.notes, f"aliases: {len(acting)} kinds, {urls} URLs seen") if acting else report.notes
        reports.append(replace(report, rules=report.rules + len(acting), notes=notes))
    rules += [rule for rule in book if rule.is_alias and not rule.status.users and rule not in rules]
    deep = {site: book.site_rules(site).deep for site in book.sites}
    return replace(
        learned, book=RuleBook(rules, deep, book.groups), reports=tuple(reports), departures=tuple(departures)
    )


def _departed(before: Iterable[Rule], found: Iterable[Rule]) -> list[Departure]:
    """Return the learned kinds of before that are not *found* again: of those that act, pages speak against them."""
    found = list(found)
    ids = {rule.id for rule in found}
    left = [rule for rule in before if rule.is_alias and rule.id not in ids and not rule.status.users]
    return [
        Departure(
            rule,
            Reason.COVERED if by else Reason.COUNTEREXAMPLE,
            by=by,
        )
        for rule in left
        if rule.status is not Status.SUSPENDED
        for by in [tuple(other.id for other in found if other.status.acts and other.ops == rule.ops)]
    ]


def sightings_of(
    store: Store, site: str, fetched: Fetched, book: RuleBook, *, scope: str = "", since: float | None = None
) -> list[SightingRow]:
    """Return what the store holds of aliases of *site*: sightings, and what observations declare."""
    rows = list(store.sightings(scope, site, since=since))[-MOST_SIGHTINGS:]
    return rows + _declared(site, fetched, book)


def _declared(site: str, fetched: Fetched, book: RuleBook) -> list[SightingRow]:
    declared = [each for each in fetched.declared if site_of_url(each[2], groups=book.groups) == site]
    return list(declared_sightings(site, declared, fetched.__contains__))


def aliases_in(store: Store, site: str, book: RuleBook, *, scope: str = "") -> dict[str, str]:
    """Return the aliases of *site* that the store has seen under the kinds that act.

    Canonical key of a URL -> canonical key of its page, as it was when that page was fetched last.
    """
    seen = chain(store.sightings(scope, site), declared(store, scope, site))
    return proven_aliases(book.for_site(site), seen, book.canonical_key)
