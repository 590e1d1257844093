"""``scrapy learn-rules --probe N``: the site is asked about the parameters whose relevance is uncertain."""

from time import time
from typing import TYPE_CHECKING, Any

from ..learning.phrases import counted
from .console import show
from .problems import Mistake

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..crawl.settings.dedup_settings import DedupSettings
    from ..learning.asking.doubts import Doubt
    from ..learning.asking.probe_outcomes import ProbedParameter
    from ..rules.book import RuleBook


def in_doubt(settings: "DedupSettings", names: list[str]) -> "list[Doubt]":
    """Return what is worth a probe, by what the store holds. Raises Nothing, Mistake and StoreError."""
    from ..learning.asking.doubts import doubts
    from ..masks.files import load_masks
    from .observation_sources import evidence_in_store

    book = settings.load_rules()
    masks = load_masks(settings.rule_directories)
    found = []
    with evidence_in_store(settings, names) as evidence:
        for site in evidence.named():
            if settings.mode_of(site) is not None:
                mask = masks.get(site)
                seen = evidence.observations(site, versions=mask is not None)
                found += doubts(site, seen, book, band=settings.probe_band, mask=mask, names=settings.names)
    return found


def probe(process: Any, spider: Any, found: "list[Doubt]", most: int) -> "list[ProbedParameter]":
    """Probe these in a small crawl, at most *most* requests to each site; return what was found. Raises Mistake."""
    from ..crawl.own_requests.probe_spider import probe_spider

    crawler = process.create_crawler(probe_spider(spider))
    process.crawl(crawler, found=found, most=most)
    process.start()
    if process.bootstrap_failed:
        raise Mistake("the site could not be asked: the log says why")
    tried: list[ProbedParameter] = list(crawler.spider.tried)
    return tried


def print_probes(tried: "list[ProbedParameter]", *, json: bool = False) -> None:
    """Print what the probes have shown of each parameter."""
    said = {
        "irrelevant": "irrelevant",
        "required": "irrelevant, but it must be there",
        "relevant": "relevant",
        "undecided": "still in doubt",
    }
    for each in tried:
        site, key, pages = each.doubt.site, each.doubt.key, len(each.verdicts)
        if json or pages:
            text = f"{site}: {key} is {said[each.said]} (by {counted(pages, 'page')})"
            record = {"type": "probe", "site": site, "key": key, "said": each.said, "pages": pages}
            show(text, record, as_json=json)
    if not json and not any(each.verdicts for each in tried):
        print("There was nothing to probe.")


def note_probes(tried: "Sequence[ProbedParameter]", settings: "DedupSettings", book: "RuleBook") -> None:
    """Write into the store what probes have shown of learned rules. Raises StoreError."""
    from ..learning.asking.probe_outcomes import probes_by_rule  # what probes need takes a fifth of a second to import
    from ..store.rows import CheckRow
    from ..store.store import Store

    now = time()
    rows = [
        CheckRow(settings.scope, site, rule.id, now, probes=probes, contradicted=bad)
        for site, found in probes_by_rule(tried, book).items()
        for rule, (probes, bad) in found.items()
    ]
    if rows:
        with Store.open(settings.store) as store:
            store.add(rows)
