"""Why not more was filtered: what the store and the rule files tell of URLs that were fetched, without learning anew."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from ..learning.phrases import counted
from ..rules.book import RuleBook
from ..rules.model import Rule, Status
from ..store.report_queries import SeenUrl
from ..store.rows import DiscardState
from .data import SiteCounts, UnfilteredReason
from .seen_pages import SeenPages, is_page

#: What became of filtered requests that were scheduled after all.
_AFTER_ALL: Final = {
    DiscardState.SAMPLED: "filtered, and fetched as a spot check",
    DiscardState.DIFFERING: "fetched as a spot check, which showed another page",
    DiscardState.REPLAYED: "filtered, and fetched after all: the rule was refuted",
    DiscardState.RELEASED: "filtered, and fetched after all: the page it was taken for failed",
    DiscardState.OWED: "filtered, and to be fetched in the next crawl: the rule was refuted",
    DiscardState.LOST: "filtered, scheduled after all, and lost when the crawl was killed",
}
_EARLY: Final = "duplicates fetched before their rule acted"
_OTHERWISE: Final = (
    "duplicates fetched although their rule acted: with another callback, cb_kwargs or cookie jar, as start requests, as "
    "refetches, as spot checks that were fetched instead of filtered, or with dont_filter"
)
_ANEW: Final = "duplicates of what an earlier crawl has fetched: each crawl fetches a page once, under whatever URL"
_NO_RULE: Final = "duplicates with equal texts, for which no rule was found"
_FEW: Final = "duplicates by a candidate rule: too few witness groups so far"
_AGAINST: Final = "duplicates by a candidate rule that has counterexamples"
_SUSPENDED: Final = "duplicates by a rule that is suspended"
_OFF: Final = "duplicates by a rule that you have switched off"


def reasons_of(
    pages: SeenPages,
    rules: Iterable[Rule],
    since: Mapping[str, float],
    after_all: Mapping[str, DiscardState],
    begun: Sequence[float] = (),
) -> tuple[UnfilteredReason, ...]:
    """Return why URLs of a site were fetched, the most frequent reason first. Each URL counts once.

    *rules* are all those of the site, *since* says when those that act first did, *after_all* are the URLs that were
    filtered and scheduled after all, and *begun* are the times when crawls began, in order.
    """
    counts: Counter[str] = Counter()
    others = _Others(pages.site, rules)
    for url, before in pages.duplicates:
        if url.url in after_all:
            continue
        canonical = pages.keys[url.url]
        same = [one for one in before if pages.keys[one.url].key == canonical.key]
        if not same:
            counts[others.reason(url, before)] += 1
            continue
        known = [since[rule] for rule in canonical.filtering_rules(pages.keys[same[-1].url]) if rule in since]
        began = begun[at - 1] if (at := bisect_right(begun, url.time)) else 0.0
        if not known or url.time <= max(known):
            counts[_EARLY] += 1
        else:
            counts[_OTHERWISE if same[-1].time >= began else _ANEW] += 1
    for url in pages.urls:
        if not is_page(url) and url.url not in after_all:
            counts[_no_page(url)] += 1
    for state in after_all.values():
        counts[_AFTER_ALL[state]] += 1
    return tuple(UnfilteredReason(text, number) for text, number in counts.most_common() if number)


def _no_page(url: SeenUrl) -> str:
    if url.redirect is not None:
        return "redirects, which are followed: the page they lead to counts"
    if url.status != 200:
        return f"answers with status {url.status}, which are no evidence"
    return "answers without text, which are no evidence"


class _Others:
    """The rules of a site that do not act."""

    def __init__(self, site: str, rules: Iterable[Rule]) -> None:
        found = [rule for rule in rules if not rule.status.acts and not rule.is_alias]
        self._books: list[tuple[str, RuleBook]] = []
        chosen = {
            _SUSPENDED: [rule for rule in found if rule.status is Status.SUSPENDED],
            _OFF: [rule for rule in found if rule.status is Status.OFF],
            _AGAINST: [rule for rule in found if rule.status is Status.CANDIDATE and _has_counterexamples(rule)],
            _FEW: [rule for rule in found if rule.status is Status.CANDIDATE and not _has_counterexamples(rule)],
        }
        for text, some in chosen.items():
            if some:
                self._books.append((text, RuleBook().with_candidates(site, some)))

    def reason(self, url: SeenUrl, before: tuple[SeenUrl, ...]) -> str:
        """Return why a URL was fetched that shows what others had shown, which the rules that act tell apart."""
        for text, book in self._books:
            key = book.canonical_key(url.url)
            if any(book.canonical_key(one.url) == key for one in before[:20]):
                return text
        return _NO_RULE


def _has_counterexamples(rule: Rule) -> bool:
    return rule.evidence is not None and bool(rule.evidence.counterexamples or rule.evidence.refuted)


def notes_of(counts: SiteCounts, acting: int, candidates: int) -> tuple[str, ...]:
    """Return what a user should know of a site."""
    notes = []
    if not counts.urls:
        notes.append("Nothing is recorded of this site.")
    elif not counts.new + counts.duplicates:
        notes.append("Nothing to learn: no page with text was recorded.")
    elif not counts.duplicates and not counts.filtered:
        notes.append("Nothing to filter: no two URLs led to the same page, as far as their rules and their texts tell.")
    elif not acting:
        waiting = f" {counted(candidates, 'candidate rule')} wait for more evidence." if candidates > 1 else ""
        waiting = " A candidate rule waits for more evidence." if candidates == 1 else waiting
        notes.append(f"Too little evidence: {counted(counts.duplicates, 'duplicate')}, and no rule acts yet.{waiting}")
    if counts.urls < counts.stored:
        notes.append(f"The latest {counts.urls} of {counts.stored} URLs are looked at here.")
    return tuple(notes)
