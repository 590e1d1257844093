"""The report in a browser: its table can be searched and sorted, it asks no network, and keyboard and screen reader can use it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup.report.data import ReportSource
from scrapy_dedup.report.writing import write_report
from scrapy_dedup.rules import Evidence, Ignore, Rule, RuleBook, Status
from scrapy_dedup.store.rows import CrawlRow
from scrapy_dedup.store.store import Store

from .store_rows import discarded, seen
from .waiting import PATIENCE

CHROMIUM = Path("/usr/bin/chromium")
ROOT = Path(__file__).resolve().parent.parent
MISSING = [
    name
    for name, there in (
        ("the package playwright", importlib.util.find_spec("playwright") is not None),
        (str(CHROMIUM), CHROMIUM.exists()),
    )
    if not there
]
pytestmark = [
    pytest.mark.browser,
    pytest.mark.slow,
    pytest.mark.skipif(bool(MISSING), reason=f"no browser to drive: {' and '.join(MISSING)} missing"),
]
SITE = "example.com"
ROWS = 60


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What a browser saw in a report."""
    folder = tmp_path_factory.mktemp("report")
    sid = Rule(SITE, {}, {"q.sid": Ignore()}, Status.ACTIVE, Evidence(groups=12))
    candidate = Rule(SITE, {}, {"q.ref": Ignore()}, Status.CANDIDATE, Evidence(groups=3))
    RuleBook([sid, candidate]).save(folder / "rules")
    pages = [seen(f"p?id={number}&sid={sid}", time=number) for number in range(20) for sid in "ab"]
    rows = [discarded(f"p?id={number}&sid=c", rule=sid.id, time=number) for number in range(ROWS)]
    rows[-1] = rows[-1]._replace(rule="0badcafe")
    crawl = CrawlRow("", SITE, "shop", "job", 0, 1, "finished", 40, filtered=ROWS, avoided=ROWS)
    with Store.open(folder / "store.sqlite") as store:
        store.add([*pages, *rows, crawl])
    write_report(ReportSource(str(folder / "store.sqlite"), "", (folder / "rules",)), folder / "report.html")
    done = subprocess.run(
        [sys.executable, "-m", "tests.browsing", str(folder / "report.html")],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_nothing_is_asked_of_a_network_and_nothing_goes_wrong(used: dict[str, Any]) -> None:
    assert [url for url in used["asked"] if not url.startswith(("file:", "data:"))] == []
    assert used["said"] == []


def test_the_ledger_is_shown_page_by_page(used: dict[str, Any]) -> None:
    assert used["count"] == f"{ROWS} rows"
    assert len(used["all"]) == 25
    assert used["all"][0][1] == f"http://example.com/p?id={ROWS - 1}&sid=c"
    assert used["second page"]["place"] == "page 2 of 3"
    assert used["second page"]["rows"][0][1] == f"http://example.com/p?id={ROWS - 26}&sid=c"


def test_a_rule_that_is_gone_says_so(used: dict[str, Any]) -> None:
    assert used["all"][0][3] == "0badcafe no longer there"


def test_search_narrows_it(used: dict[str, Any]) -> None:
    urls = [row[1] for row in used["searched"]["rows"]]
    assert sorted(urls) == sorted(f"http://example.com/p?id={number}&sid=c" for number in (3, *range(30, 40)))
    assert used["searched"]["count"] == f"11 rows of {ROWS}"
    assert used["nothing"] == {"count": f"0 rows of {ROWS}", "rows": []}


@pytest.mark.parametrize("direction", ["ascending", "descending"])
def test_a_head_sorts_by_its_column_with_the_keyboard(used: dict[str, Any], direction: str) -> None:
    assert used[direction]["sort"] == direction
    urls = sorted(
        (f"http://example.com/p?id={number}&sid=c" for number in range(ROWS)), reverse=direction != "ascending"
    )
    assert used[direction]["urls"] == urls[:25]


def test_details_open_and_close_with_the_keyboard(used: dict[str, Any]) -> None:
    assert (used["closed"], used["open"], used["pair is visible"], used["closed again"]) == (False, True, True, True)


def test_no_word_of_a_table_is_broken(used: dict[str, Any]) -> None:
    assert used["broken"] == []


def test_nothing_stands_in_the_way_of_keyboard_and_screen_reader(used: dict[str, Any]) -> None:
    assert used["barriers"] == []
    assert used["first focus"] == "Skip to the report"


def test_it_is_dark_where_the_reader_likes_that_and_prints_without_its_menu(used: dict[str, Any]) -> None:
    light, dark = used["colours"]["light"], used["colours"]["dark"]
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    assert used["printed nav"] is False
