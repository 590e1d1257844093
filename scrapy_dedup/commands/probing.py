"""``scrapy learn-rules --probe N``: the site is asked about the parameters whose relevance is uncertain."""

from typing import TYPE_CHECKING, Any

from ..learning.phrases import counted
from .terminal.console import print_json
from .terminal.problems import Mistake

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..learning.asking.doubts import Doubt
    from ..learning.asking.probe_outcomes import ProbedParameter


def in_doubt(settings: "DedupSettings", names: list[str]) -> "list[Doubt]":
    """Return what is worth a probe, by what the store holds. Raises Nothing, Mistake and StoreError."""
    from ..learning.asking.doubts import doubts
    from ..masks.loading import load_masks
    from .inputs.observation_sources import evidence_in_store

    book = settings.load_rules()
    masks = load_masks(settings.rule_directories)
    found = []
    with evidence_in_store(settings, names) as evidence:
        for site in evidence.named():
            if settings.mode_of(site) is not None:
                mask = masks.get(site)
                seen = evidence.observations(site, versions=mask is not None)
                found += doubts(
                    site, seen, book, band=settings.probe_band, acting=True, mask=mask, names=settings.names
                )
    return found


def probe(process: Any, spider: Any, found: "list[Doubt]", most: int) -> "list[ProbedParameter]":
    """Probe these in a small crawl, at most *most* requests to each site; return what was found. Raises Mistake."""
    from ..crawl.composition import CrawlComponents
    from ..crawl.own_requests.probe_spider import probe_spider

    crawler = process.create_crawler(probe_spider(spider))
    process.crawl(crawler, found=found, most=most)
    process.start()
    if process.bootstrap_failed:
        raise Mistake("the site could not be asked: the log says why")
    return CrawlComponents.of(crawler).idle_work.prober.tried


def print_probes(tried: "list[ProbedParameter]", *, json: bool = False) -> None:
    """Print what the probes have shown of each parameter."""
    if json:
        for each in tried:
            print_json(
                {
                    "type": "probe",
                    "site": each.doubt.site,
                    "key": each.doubt.key,
                    "said": each.said,
                    "pages": len(each.verdicts),
                }
            )
        return
    said = {
        "irrelevant": "irrelevant",
        "required": "irrelevant, but it must be there",
        "relevant": "relevant",
        "undecided": "still in doubt",
    }
    for each in tried:
        if each.verdicts:
            print(
                f"{each.doubt.site}: {each.doubt.key} is {said[each.said]} (by {counted(len(each.verdicts), 'page')})"
            )
    if not any(each.verdicts for each in tried):
        print("There was nothing to probe.")
