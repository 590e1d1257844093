"""Make the pictures of the report in docs/images: crawl the demo shop, and look at its report in Chromium.

Run by ``make screenshots``; it needs /usr/bin/chromium. The shop is served on loopback at one port each time, so that
the pictures change with the report alone.
"""

import argparse
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from playwright.sync_api import Page, sync_playwright

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
EXAMPLE = ROOT / "example_project"
IMAGES = HERE / "images"
sys.path[:0] = [str(ROOT), str(EXAMPLE)]

from demo_site.server import Shop

from tests.browsing import CHROMIUM, QUIET

#: Bytes of a picture.
_MOST = 250_000
_DAY = 86_400.0


def scrapy(*args: str) -> None:
    command = [sys.executable, "-m", "scrapy", *args]
    subprocess.run(command, cwd=EXAMPLE, check=True, capture_output=True)  # noqa: S603 (our own command)


def make_report(folder: Path, port: int) -> Path:
    """Crawl the shop twice, a day apart by its own clock, and write the report."""
    where = ("-s", f"DEDUP_DIR={folder / 'rules'}", "-s", f"DEDUP_STORE={folder / 'store.sqlite'}")
    report = folder / "report.html"
    with Shop(port, passing=True) as shop:
        for _ in range(2):
            shop.time += _DAY
            scrapy("crawl", "shop", "-a", f"start={shop.url}", "-s", "DEDUP_REPORT=", *where)
    scrapy("dedup", "report", "-o", str(report), *where)
    # The folder of this run is nobody's business.
    report.write_text(report.read_text(encoding="utf-8").replace(str(folder), ".scrapy/dedup"), encoding="utf-8")
    return report


def picture(page: Page, name: str, section: str, *, height: int = 760) -> None:
    """Take a picture that begins with a section."""
    page.evaluate("id => document.getElementById(id).scrollIntoView({behavior: 'instant'})", section)
    page.set_viewport_size({"width": 1100, "height": height})
    path = IMAGES / f"report-{name}.png"
    page.screenshot(path=path)
    assert path.stat().st_size < _MOST, f"{path.name} is too large"


def take(report: Path) -> None:
    """Take all pictures of a report."""
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = browser.new_page(viewport={"width": 1100, "height": 860})
        page.goto(report.as_uri())
        page.evaluate("scrollTo(0, 0)")
        page.screenshot(path=IMAGES / "report-overview.png")
        picture(page, "sites", "sites", height=900)
        picture(page, "rules", "rules")
        page.fill("#ledger-search", "spot check")
        page.wait_for_timeout(300)
        picture(page, "ledger", "ledger")
        page.emulate_media(color_scheme="dark")
        rule = page.locator("#rules article:has(details.evidence)").first
        rule.locator("details.evidence > summary").click()
        picture(page, "evidence-dark", rule.get_attribute("id") or "rules", height=640)
        browser.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--port", type=int, default=8099, help="where the shop is served")
    options = parser.parse_args()
    if not CHROMIUM.exists():
        sys.exit(f"there is no {CHROMIUM}: install it (apt-get install chromium)")
    IMAGES.mkdir(exist_ok=True)
    with TemporaryDirectory() as folder:
        take(make_report(Path(folder), options.port))


if __name__ == "__main__":
    main()
