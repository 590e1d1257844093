"""The report in a browser: its table can be searched and sorted, it asks no network, and keyboard and screen reader can use it."""

import importlib.util
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .crawling import ignore, save_rules
from .store_rows import crawl_row, discarded, record, seen
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
    rules = [ignore("q.sid", "active", groups=12), ignore("q.ref", "candidate", groups=3)]
    (sid, _) = sorted(
        RuleBook.load(save_rules(SITE, *rules, directory=folder / "dedup-rules").parent),
        key=lambda rule: str(rule.ops),
        reverse=True,
    )
    rows = [discarded(f"p?id={number}&sid=c", rule=sid.id, time=number) for number in range(ROWS)]
    rows[-1] = rows[-1]._replace(rule="0badcafe")
    pages = [seen(f"p?id={number}&sid={sid}", time=number) for number in range(20) for sid in "ab"]
    record(folder / "store.sqlite", *pages, *rows, crawl_row("job", pages=40, filtered=ROWS, avoided=ROWS))
    report = [sys.executable, "-m", "scrapy", "dedup", "report", "-o", "report.html", "-s", "DEDUP_STORE=store.sqlite"]
    subprocess.run(report, cwd=folder, check=True)
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


def test_nothing_is_asked_of_a_network_and_nothing_stands_in_the_way_of_keyboard_and_screen_reader(
    used: dict[str, Any],
) -> None:
    assert [url for url in used["asked"] if not url.startswith(("file:", "data:"))] == []
    assert (used["said"], used["barriers"], used["first focus"]) == ([], [], "Skip to the report")
    assert used["broken"] == [], "no word of a table is broken"
    light, dark = used["colours"]["light"], used["colours"]["dark"]
    assert light[0] == "rgb(255, 255, 255)"
    assert dark[0] != light[0]
    assert dark[1] != light[1]
    assert used["printed nav"] is False
    assert (used["closed"], used["open"], used["pair is visible"], used["closed again"]) == (False, True, True, True)


def test_the_ledger_is_shown_page_by_page_searched_and_sorted(used: dict[str, Any]) -> None:
    urls = [f"http://example.com/p?id={number}&sid=c" for number in range(ROWS)]
    assert (used["count"], len(used["all"])) == (f"{ROWS} rows", 25)
    assert used["all"][0][1] == urls[-1]
    assert used["all"][0][3] == "0badcafe no longer there"
    assert used["second page"]["place"] == "page 2 of 3"
    assert used["second page"]["rows"][0][1] == urls[-26]
    assert sorted(row[1] for row in used["searched"]["rows"]) == sorted(urls[number] for number in (3, *range(30, 40)))
    assert used["searched"]["count"] == f"11 rows of {ROWS}"
    assert used["nothing"] == {"count": f"0 rows of {ROWS}", "rows": []}
    for direction in ("ascending", "descending"):
        assert used[direction] == {"sort": direction, "urls": sorted(urls, reverse=direction != "ascending")[:25]}
