"""What a crawl tells at its close: what was saved, on which sites, and how sure that is."""

from typing import TYPE_CHECKING, Final

from .tally import SiteTally

if TYPE_CHECKING:
    from scrapy.statscollectors import StatsCollector

    from .shared import Shared

#: Sites that are named, those with most savings.
SHOWN: Final = 5
#: Sites that have stats of their own.
COUNTED: Final = 20


def report(shared: "Shared") -> list[str]:
    """Return the lines of the report; the first one is there whatever has happened, unless nothing has."""
    total = shared.tally.total
    head = _head(shared.stats, total)
    return [head, *_details(shared, total)] if head else []


def count(shared: "Shared") -> None:
    """Set the stats that are known at the close only."""
    total = shared.tally.total
    stats = shared.stats
    if total.discarded:
        stats.set_value("dedup/avoided", total.avoided)
        stats.set_value("dedup/avoided/bytes", sum(each.avoided_bytes for each in shared.tally.sites.values()))
        seconds = sum(each.avoided_seconds for each in shared.tally.sites.values())
        stats.set_value("dedup/avoided/seconds", round(seconds, 1))
        for site, counts in _best(shared, COUNTED):
            stats.set_value(f"dedup/avoided/site/{site}", counts.avoided)
    if total.samples:
        stats.set_value("dedup/avoided/lost_at_most", round(total.most_lost, 1))


def _head(stats: "StatsCollector", total: SiteTally) -> str:
    recorded = stats.get_value("dedup/recorded", 0)
    discarded = stats.get_value("dedup/discarded/urls", 0)
    foreseen = stats.get_value("dedup/shadow/discarded", 0)
    dropped = stats.get_value("dedup/store/dropped", 0)
    scheduled = stats.get_value("dedup/released/scheduled", 0) + stats.get_value("dedup/replayed", 0)
    if not (recorded or discarded or foreseen or dropped or scheduled or total.samples):
        return ""
    told = [f"{recorded} responses recorded", f"{discarded} URLs discarded as duplicates"]
    if foreseen:
        told.append(f"{foreseen} more would have been (shadow mode)")
    if scheduled:
        told.append(f"{scheduled} of these scheduled after all")
    if dropped:
        told.append(f"{dropped} observations or discards lost, since the store could not be written")
    return ", ".join(told)


def _details(shared: "Shared", total: SiteTally) -> list[str]:
    lines = []
    if total.avoided:
        each = [f"{site} {counts.avoided}" for site, counts in _best(shared, SHOWN) if counts.avoided]
        more = sum(1 for counts in shared.tally.sites.values() if counts.avoided) - len(each)
        sites = ", ".join(each) + (f" and {more} more sites" if more > 0 else "")
        lines.append(
            f"{total.avoided} downloads avoided, about {_bytes(total.avoided_bytes)} and "
            f"{total.avoided_seconds:.0f} s of waiting for the sites ({sites})"
        )
    if total.samples:
        line = f"{total.samples} samples of the discards: {total.confirmed} are the page they were taken for"
        if total.differing:
            line += f", {total.differing} are not"
        if total.avoided:
            line += f"; at most {total.most_lost:.0f} of the avoided ones are pages of their own (95 %)"
        lines.append(line)
    for (site, rule), suspension in shared.retraction.suspended.items():
        lines.append(f"rule {rule} of {site} is suspended: {suspension.url} is not the same page as {suspension.page}")
    probes = shared.stats.get_value("dedup/probes/requests", 0)
    revisits = shared.stats.get_value("dedup/revisits", 0)
    if probes or revisits:
        lines.append(f"{probes} requests of probes and {revisits} revisits were made")
    retracted = shared.stats.get_value("dedup/retracted", 0)
    owed = shared.stats.get_value("dedup/owed", 0)
    if retracted or owed:
        line = f"{retracted} requests that suspended rules had discarded were scheduled after all"
        lines.append(line + (f"; {owed} will be in the next crawl" if owed else ""))
    return lines


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
