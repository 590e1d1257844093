"""Every question that is asked of a store has the same answer in a file and on a server."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.content.versions import Version
from scrapy_dedup.store import ledger_queries, news, page_queries, queries
from scrapy_dedup.store.ledger_queries import LedgerFilter
from scrapy_dedup.store.rows import CheckRow, CrawlRow, DiscardState, SightingRow, StoreRow
from scrapy_dedup.store.store import Store

from .store_rows import discarded, seen, table_counts

SITE = "example.com"
TEXTS = Version((("p", "", "text"),)).to_bytes()


def rows() -> list[list[StoreRow]]:
    """Return batches of rows of all kinds; names differ in case, and in characters that languages sort in other ways."""
    names = ["a", "B", "b", "é", "z", "Z-1", "_", "~"]
    first = [
        seen(f"{name}/{turn}", f"text {name}", time=1_000.0 + turn, spider="shop" if turn else "Älter", version=TEXTS)
        for name in names
        for turn in range(3)
    ]
    again = [
        seen(f"{name}/0", f"text {name} new", time=1_500.0, headers={"x": name}, ends=False, version=TEXTS)
        for name in names
    ]
    others = [
        seen("moved", None, status=301, redirect="http://example.com/a/0"),
        seen("whole/0", "whole", ends=True),
        seen("elsewhere", "text a", site="other.test", spider="B"),
    ]
    ledger = [
        discarded(name, rule=rule, time=2_000.0 + at, state=state, job="Job" if at % 2 else "")
        for at, (name, rule, state) in enumerate(
            zip(names * 2, ["aa", "AA", "bb"] * 6, [DiscardState.PENDING, DiscardState.OWED] * 8, strict=False)
        )
    ]
    rest = [
        SightingRow("", SITE, "http://example.com/", f"http://example.com/#{name}", "fragment", 5.0) for name in names
    ]
    checks = [CheckRow("", SITE, "aa", 3.0, samples=2), CrawlRow("", SITE, "shop", "j", 1.0, 2.0)]
    return [list(first), [*again, *others], list(ledger), [*rest, *checks]]


QUESTIONS: dict[str, Callable[[Store], Any]] = {
    "latest page": lambda s: page_queries.latest_page(s, "", SITE, "http://example.com/é/0"),
    "versions of a page": lambda s: page_queries.versions_of_page(s, "", SITE, "http://example.com/b/0"),
    "some pages": lambda s: page_queries.some_pages(s, "", SITE, 5),
    "alike": lambda s: [
        [each.url for each in page_queries.pages_like(s, "", SITE, page.bag, page.words, since=0.0)]
        for page in sorted(s.observations(), key=lambda row: (row.url, row.time))
        if page.bag
    ],
    "same text": lambda s: list(page_queries.urls_of_same_text(s, "", SITE, 50)),
    "cut off": lambda s: page_queries.cut_off_pages(s, "", SITE),
    "spiders before": lambda s: page_queries.spiders_before(s, "", SITE, "new", 5_000.0),
    "fetched twice": lambda s: sorted(
        (one.url, one.time, two.time) for one, two in page_queries.fetched_twice(s, "", SITE, 50, since=1_400.0)
    ),
    "fetched within": lambda s: sorted(page_queries.fetched_within(s, "", SITE, 900.0, before=1e9)),
    "some discards": lambda s: page_queries.some_discards(s, "", SITE, since=0.0, limit=5),
    "latest URLs": lambda s: [row.url for row in queries.latest_urls(s, "", SITE, 50)],
    "ledger states": lambda s: queries.ledger_states(s, "", [SITE]),
    "counts": table_counts,
    "crawls": lambda s: queries.crawl_rows(s, "", [SITE]),
    "ledger": lambda s: [row._replace(id=None) for row in ledger_queries.ledger_rows(s, LedgerFilter(sites=[SITE]))],
    "ledger of a rule": lambda s: ledger_queries.ledger_count(s, LedgerFilter(rule="b", since=2_001.0, until=2_009.0)),
    "ledger containing": lambda s: ledger_queries.ledger_count(s, LedgerFilter(containing="COM/B")),
    "ledger of a URL": lambda s: ledger_queries.ledger_count(s, LedgerFilter(url="http://example.com/é")),
    "ledger by rule": lambda s: ledger_queries.ledger_by_rule(s, LedgerFilter()),
    "recorded": lambda s: news.recorded(s, "", [SITE, "other.test"]),
    "news": lambda s: news.news(s, "", SITE, 20),
    "repeats": lambda s: [news.repeats(s, "", SITE, last) for last in (0, 24, 32)],
    "declares": lambda s: news.declares(s, "", SITE),
    "observations": lambda s: list(s.observations(versions=True, repeats_within=900.0)),
    "versions": lambda s: list(s.versions("", SITE, since=1_001.0)),
    "unstable": lambda s: s.unstable_urls("", SITE),
    "sites": lambda s: s.sites(),
    "discards": lambda s: [row._replace(id=None) for row in s.discards(state=None, mixed=True)],
    "sightings": lambda s: list(s.sightings("", SITE)),
    "checks": lambda s: s.checks(),
}


@pytest.mark.postgresql
def test_the_same_answers(tmp_path: Path, postgresql_url: str) -> None:
    pytest.importorskip("psycopg")
    with Store.open(tmp_path / "store.sqlite") as file, Store.open(postgresql_url) as server:
        for store in (file, server):
            for batch in rows():
                store.add(batch)
            store.note_learned("", {SITE: 9})
        found = {name: (ask(file), ask(server)) for name, ask in QUESTIONS.items()}
        assert [name for name, (one, other) in found.items() if one != other] == []
        empty = {name for name, (one, _) in found.items() if not one}
        assert empty <= {"cut off"}
        for store in (file, server):
            store.end_job("", "shop", "Job")
            store.lose_queue("", "shop", "")
            store.mark_discards([row.id for row in store.discards() if row.id is not None][:2], DiscardState.OWED)
        assert found["discards"] != (QUESTIONS["discards"](file),) * 2
        assert QUESTIONS["discards"](file) == QUESTIONS["discards"](server)
