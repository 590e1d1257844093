"""Which sites are worth learning when a crawl closes that has seen little."""

from pathlib import Path

import pytest
from scrapy.settings import Settings

from scrapy_dedup.content.fingerprints import ContentKind, Fingerprints
from scrapy_dedup.crawl.learn.schedule import LEAST, MUCH, LearningSchedule, note_learned, worth_learning
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettings
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

SITE, OTHER = "a.test", "b.test"


def seen(path: str, content: str, site: str = SITE, *, redirect: str | None = None, scope: str = "") -> ObservationRow:
    prints = None if redirect else Fingerprints(ContentKind.HTML, content, content, content, 50)
    status = 302 if redirect else 200
    return ObservationRow(
        scope=scope,
        site=site,
        url=f"http://{site}{path}",
        time=1e9,
        status=status,
        redirect=redirect,
        spider="s",
        fingerprints=prints,
    )


class Crawls:
    """Crawls one after the other, with one store."""

    def __init__(self, target: Path) -> None:
        self.settings = DedupSettings.from_crawler_settings(Settings({"DEDUP_STORE": str(target)}))

    def __call__(self, *rows: ObservationRow) -> list[str]:
        """Record what a crawl has seen; return the sites that are learned then."""
        times = LearningSchedule()
        for row in rows:
            if row.status == 200:
                times.add(row.site)
        with Store.open(self.settings.store) as store:
            store.add(rows)
        worth = worth_learning(self.settings, times)
        note_learned(self.settings, worth)
        return list(worth)


@pytest.fixture
def crawls(tmp_path: Path) -> Crawls:
    return Crawls(tmp_path / "store.sqlite")


def pages(numbers: range, site: str = SITE) -> list[ObservationRow]:
    return [seen(f"/{number}", f"c{number}", site) for number in numbers]


def test_what_is_recorded_of_a_site_must_suffice_for_a_rule(crawls: Crawls) -> None:
    assert crawls(*pages(range(LEAST - 1))) == []
    assert crawls(*pages(range(LEAST - 1), OTHER)) == [], "of each site"
    assert crawls(seen("/more", "more")) == [SITE]


@pytest.mark.parametrize(
    ("fresh", "worth"),
    [
        ([seen("/1", "c1")], False),
        ([seen("/new", "new")], False),
        ([seen("/1", "changed")], False),
        ([seen("/1?sid=7", "c1")], True),
        ([seen("/one", "same"), seen("/two", "same")], True),
        ([seen("/twin/2", "twin")], False),
        ([seen("/new", "new"), seen("/old", "", redirect="http://a.test/1")], True),
        ([seen("/new", "new"), seen("/moved", "", redirect="http://a.test/1")], False),
        ([seen("/new", "new"), seen("/b", "c1", OTHER)], False),
        ([seen("/new", "new"), seen("/members", "c1", scope="members")], False),
        ([*pages(range(100, 116))], True),
        ([*pages(range(100, 110))], False),
    ],
    ids=[
        *("a page that is known", "a new page", "a new version", "a known content under a new URL", "a new pair"),
        *(
            "a known pair",
            "a new redirect",
            "a known redirect",
            "another site",
            "another scope",
            "half as much",
            "less",
        ),
    ],
)
def test_a_few_pages_of_a_site_that_was_learned(crawls: Crawls, fresh: list[ObservationRow], worth: bool) -> None:
    twins = [seen("/twin/1", "twin"), seen("/twin/2", "twin"), seen("/moved", "", redirect="http://a.test/1")]
    assert crawls(*pages(range(28)), *twins) == [SITE]
    assert (SITE in crawls(*fresh)) is worth


def test_what_was_not_worth_it_counts_the_next_time(crawls: Crawls) -> None:
    crawls(*pages(range(30)))
    assert [crawls(*pages(range(100 + 5 * day, 105 + 5 * day))) for day in range(4)] == [[], [], [SITE], []]


def test_much_of_a_site_is_worth_it_in_any_case(crawls: Crawls) -> None:
    for _ in range(3):
        assert crawls(*pages(range(MUCH))) == [SITE]


def test_a_site_that_was_forgotten_begins_anew(crawls: Crawls) -> None:
    assert crawls(*pages(range(30))) == [SITE]
    assert crawls(*pages(range(30), OTHER)) == [OTHER]
    with Store.open(crawls.settings.store) as store:
        store.forget(SITE)
    assert crawls(*pages(range(LEAST))) == [SITE]
    assert crawls(*pages(range(5), OTHER)) == [], "the other one does not"


def test_all_was_too_old_and_ids_begin_anew(crawls: Crawls) -> None:
    crawls(*pages(range(39)))
    with Store.open(crawls.settings.store) as store:
        store.prune(1)
    assert crawls(*pages(range(LEAST))) == [SITE]
