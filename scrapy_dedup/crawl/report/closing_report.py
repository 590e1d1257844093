"""The closing report of a crawl: what was saved, on which sites, and how sure that is."""

from typing import TYPE_CHECKING, Final

import attrs

from ...learning.evidence_phrases import shown_by
from ...learning.lifetime.spot_checks import UNINFORMATIVE, share_lost
from ...learning.phrases import counted, not_evidence
from ...rules.canonical import NORMAL_FORM
from ..identity.suspended_rules import rule_by_id
from ..support.tally import SiteTally, Tally

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..identity.identities import Identities
    from ..identity.suspended_rules import SuspendedRules
    from ..observe.excluded_responses import ExcludedResponses
    from ..verify.choosing import SpotChecks

#: Sites that are named, those with most savings.
SHOWN: Final = 5
#: Sites that have stats of their own.
COUNTED: Final = 20


@attrs.define(eq=False, repr=False, kw_only=True)
class ClosingReport:
    """The report of one crawl."""

    _stats: "StatsCollector"
    _tally: "Tally"
    _excluded: "ExcludedResponses"
    _identities: "Identities"
    _suspended: "SuspendedRules"
    _spot_checks: "SpotChecks"

    def lines(self) -> list[str]:
        """Return the lines of the report; the first one is there whatever has happened, unless nothing has."""
        total = self._tally.total
        excluded = not_evidence(self._excluded.counts)
        head = _head(self._stats, total, excluded)
        if not head:
            return []
        return [head, *([excluded] if excluded else []), *self._details(total)]

    def count(self) -> None:
        """Set the stats that are known at the close only."""
        total = self._tally.total
        stats = self._stats
        for reason, number in self._excluded.counts.items():
            stats.set_value(f"dedup/not_evidence/{reason.replace(' ', '_')}", number)
        if total.discarded:
            stats.set_value("dedup/avoided", total.avoided)
            stats.set_value("dedup/avoided/bytes", sum(each.avoided_bytes for each in self._tally.sites.values()))
            seconds = sum(each.avoided_seconds for each in self._tally.sites.values())
            stats.set_value("dedup/avoided/seconds", round(seconds, 1))
            for site, counts in self._best(COUNTED):
                stats.set_value(f"dedup/avoided/site/{site}", counts.avoided)
        if total.avoided and total.samples:
            stats.set_value("dedup/avoided/lost_at_most", round(self._most_lost(total), 1))

    def _details(self, total: SiteTally) -> list[str]:
        lines = []
        if total.avoided:
            each = [f"{site} {counts.avoided}" for site, counts in self._best(SHOWN) if counts.avoided]
            more = sum(1 for counts in self._tally.sites.values() if counts.avoided) - len(each)
            sites = ", ".join(each) + (f" and {counted(more, 'more site')}" if more > 0 else "")
            lines.append(
                f"{counted(total.avoided, 'download')} avoided, about {_bytes(total.avoided_bytes)} and "
                f"{total.avoided_seconds:.0f} s of waiting for the sites ({sites})"
            )
        if total.samples:
            lines.append(self._spot_check_line(total))
        for (site, rule), why in self._suspended.found.items():
            lines.append(f"rule {rule} of {site} is suspended: {why.url} is not the same page as {why.page}")
        revisits = self._stats.get_value("dedup/revisits", 0)
        if revisits:
            lines.append(f"extra requests: {counted(revisits, 'refetch', 'refetches')}")
        retracted = self._stats.get_value("dedup/retracted", 0)
        owed = self._stats.get_value("dedup/owed", 0)
        if retracted or owed:
            line = f"{counted(retracted, 'request')} that suspended rules had filtered scheduled after all"
            lines.append(line + (f"; {owed} will be in the next crawl" if owed else ""))
        return lines

    def _spot_check_line(self, total: SiteTally) -> str:
        """Return what the spot checks of the crawl have shown, with a bound where it says something."""
        filtered = counted(total.avoided + total.samples, "filtered URL")
        were = "was" if total.samples == 1 else "were"
        line = f"spot checks: {total.samples} of {filtered} {were} fetched to check: "
        line += shown_by(total.confirmed, total.differing, total.undecided)
        if not total.avoided:
            return line
        lost = self._most_lost(total)
        if total.differing or lost < UNINFORMATIVE * total.avoided:
            line += f"; of those not fetched at most {lost:.0f} may be other pages (95 %)"
        return line

    def _most_lost(self, total: SiteTally) -> float:
        """Return the upper 95 % bound of the number of avoided downloads that are other pages.

        By all that is known of the rules: their witness groups, the spot checks of earlier crawls, and those of this one.
        What a suspended rule has filtered is fetched.
        """
        lost = 0.0
        for site, counts in self._tally.sites.items():
            for rules, number in counts.by_rules.items():
                named = [rule for rule in rules if rule != NORMAL_FORM]
                if not any((site, rule) in self._suspended for rule in named):
                    lost += number * min(1.0, sum(self._share_lost(site, rule) for rule in named))
        return min(lost, float(total.avoided))

    def _share_lost(self, site: str, name: str) -> float:
        rule = rule_by_id(self._identities.book, site, name)
        trial = self._spot_checks.trials[site].trials.get(name) if site in self._spot_checks.trials else None
        evidence = rule.evidence if rule is not None else None
        return share_lost(evidence, *(trial.possibly_lost if trial is not None else ()))

    def _best(self, number: int) -> list[tuple[str, SiteTally]]:
        """Return the sites with most savings."""
        return sorted(self._tally.sites.items(), key=lambda each: (-each[1].avoided, each[0]))[:number]


def _head(stats: "StatsCollector", total: SiteTally, excluded: str) -> str:
    recorded = stats.get_value("dedup/recorded", 0)
    discarded = stats.get_value("dedup/discarded/urls", 0)
    foreseen = stats.get_value("dedup/shadow/discarded", 0)
    dropped = stats.get_value("dedup/store/dropped", 0)
    scheduled = stats.get_value("dedup/released/scheduled", 0) + stats.get_value("dedup/replayed", 0)
    if not (recorded or discarded or foreseen or dropped or scheduled or total.samples or excluded):
        return ""
    parts = [f"{counted(recorded, 'response')} recorded", f"{counted(discarded, 'URL')} filtered as duplicates"]
    if foreseen:
        parts.append(f"{foreseen} more would have been (shadow mode)")
    if scheduled:
        parts.append(f"{scheduled} of these scheduled after all")
    if dropped:
        parts.append(f"{dropped} observations or filtered URLs lost, since the store could not be written")
    return ", ".join(parts)


def _bytes(number: float) -> str:
    """Write a number of bytes.

    >>> _bytes(512), _bytes(20_480), _bytes(3_000_000)
    ('512 B', '20 kB', '3 MB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} TB"
