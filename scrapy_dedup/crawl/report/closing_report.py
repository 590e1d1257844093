"""What a crawl tells at its close: what was saved, on which sites, and how sure that is."""

from typing import TYPE_CHECKING, Final

from ...learning.lifetime.spot_checks import UNINFORMATIVE, share_lost
from ...learning.phrases import counted, not_evidence
from ..decide.discards import NORMAL_FORM
from .tally import SiteTally

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from ..shared import Shared

#: Sites that are named, those with most savings.
SHOWN: Final = 5
#: Sites that have stats of their own.
COUNTED: Final = 20


def report(shared: "Shared") -> list[str]:
    """Return the lines of the report; the first one is there whatever has happened, unless nothing has."""
    total = shared.tally.total
    left_out = not_evidence(shared.left_out.counts)
    head = _head(shared.stats, total, left_out)
    if not head:
        return []
    return [head, *([left_out] if left_out else []), *_details(shared, total)]


def count(shared: "Shared") -> None:
    """Set the stats that are known at the close only."""
    total = shared.tally.total
    stats = shared.stats
    for reason, number in shared.left_out.counts.items():
        stats.set_value(f"dedup/not_evidence/{reason.replace(' ', '_')}", number)
    if total.discarded:
        stats.set_value("dedup/avoided", total.avoided)
        stats.set_value("dedup/avoided/bytes", sum(each.avoided_bytes for each in shared.tally.sites.values()))
        seconds = sum(each.avoided_seconds for each in shared.tally.sites.values())
        stats.set_value("dedup/avoided/seconds", round(seconds, 1))
        for site, counts in _best(shared, COUNTED):
            stats.set_value(f"dedup/avoided/site/{site}", counts.avoided)
    if total.avoided and total.samples:
        stats.set_value("dedup/avoided/lost_at_most", round(most_lost(shared, total), 1))


def _head(stats: "StatsCollector", total: SiteTally, left_out: str) -> str:
    recorded = stats.get_value("dedup/recorded", 0)
    discarded = stats.get_value("dedup/discarded/urls", 0)
    foreseen = stats.get_value("dedup/shadow/discarded", 0)
    dropped = stats.get_value("dedup/store/dropped", 0)
    scheduled = stats.get_value("dedup/released/scheduled", 0) + stats.get_value("dedup/replayed", 0)
    if not (recorded or discarded or foreseen or dropped or scheduled or total.samples or left_out):
        return ""
    told = [f"{counted(recorded, 'response')} recorded", f"{counted(discarded, 'URL')} filtered as duplicates"]
    if foreseen:
        told.append(f"{foreseen} more would have been (shadow mode)")
    if scheduled:
        told.append(f"{scheduled} of these scheduled after all")
    if dropped:
        told.append(f"{dropped} observations or filtered URLs lost, since the store could not be written")
    return ", ".join(told)


def _details(shared: "Shared", total: SiteTally) -> list[str]:
    lines = []
    if total.avoided:
        each = [f"{site} {counts.avoided}" for site, counts in _best(shared, SHOWN) if counts.avoided]
        more = sum(1 for counts in shared.tally.sites.values() if counts.avoided) - len(each)
        sites = ", ".join(each) + (f" and {counted(more, 'more site')}" if more > 0 else "")
        lines.append(
            f"{counted(total.avoided, 'download')} avoided, about {_bytes(total.avoided_bytes)} and "
            f"{total.avoided_seconds:.0f} s of waiting for the sites ({sites})"
        )
    if total.samples:
        lines.append(_spot_checks(shared, total))
    for (site, rule), suspension in shared.retraction.suspended.items():
        lines.append(f"rule {rule} of {site} is suspended: {suspension.url} is not the same page as {suspension.page}")
    probes = shared.stats.get_value("dedup/probes/requests", 0)
    revisits = shared.stats.get_value("dedup/revisits", 0)
    if probes or revisits:
        lines.append(f"extra requests: {counted(probes, 'probe')}, {counted(revisits, 'refetch', 'refetches')}")
    retracted = shared.stats.get_value("dedup/retracted", 0)
    owed = shared.stats.get_value("dedup/owed", 0)
    if retracted or owed:
        line = f"{counted(retracted, 'request')} that suspended rules had filtered scheduled after all"
        lines.append(line + (f"; {owed} will be in the next crawl" if owed else ""))
    return lines


def _spot_checks(shared: "Shared", total: SiteTally) -> str:
    """Return what the spot checks of the crawl have shown, with a bound where it says something."""
    filtered = counted(total.avoided + total.samples, "filtered URL")
    were = "was" if total.samples == 1 else "were"
    line = f"spot checks: {total.samples} of {filtered} {were} fetched to check: "
    if total.differing:
        line += f"{counted(total.confirmed, 'duplicate')}, {counted(total.differing, 'other page')}"
    else:
        line += "a duplicate" if total.samples == 1 else "all duplicates"
    if not total.avoided:
        return line
    lost = most_lost(shared, total)
    if total.differing or lost < UNINFORMATIVE * total.avoided:
        line += f"; of those not fetched at most {lost:.0f} may be other pages (95 %)"
    return line


def most_lost(shared: "Shared", total: SiteTally) -> float:
    """Return the upper 95 % bound of the number of avoided downloads that are other pages.

    By all that is known of the rules: their witness groups, the spot checks of earlier crawls, and those of this one.
    What a suspended rule has filtered is fetched.
    """
    lost = 0.0
    for site, counts in shared.tally.sites.items():
        for rules, number in counts.by_rules.items():
            named = [rule for rule in rules if rule != NORMAL_FORM]
            if not any((site, rule) in shared.retraction.suspended for rule in named):
                lost += number * min(1.0, sum(_share_lost(shared, site, rule) for rule in named))
    return min(lost, float(total.avoided))


def _share_lost(shared: "Shared", site: str, rule: str) -> float:
    found = shared.monitor.rule(site, rule)
    trial = shared.monitor.suspects[site].trials.get(rule) if site in shared.monitor.suspects else None
    evidence = found.evidence if found is not None else None
    return share_lost(evidence, *((trial.samples, trial.differing) if trial is not None else ()))


def _best(shared: "Shared", number: int) -> list[tuple[str, SiteTally]]:
    """Return the sites with most savings."""
    return sorted(shared.tally.sites.items(), key=lambda each: (-each[1].avoided, each[0]))[:number]


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
