"""What a browser does with a report, as a process of its own: ``python -m tests.browsing REPORT``.

The browser's driver has an event loop, which does not go with the reactor of the other tests. Prints one line of JSON.
"""

import json
import sys
from pathlib import Path
from typing import Any

from playwright.sync_api import Page, sync_playwright

CHROMIUM = Path("/usr/bin/chromium")
#: So that the browser asks no network for anything of its own.
QUIET = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
)

#: What keeps a page from being used with a keyboard or a screen reader, as far as a script can tell.
BARRIERS = """() => {
  const named = (each) => (each.getAttribute("aria-label") || each.labels?.[0]?.textContent || each.textContent
    || each.getAttribute("title") || document.getElementById(each.getAttribute("aria-labelledby"))?.textContent || "").trim();
  const found = [];
  const all = (selector) => [...document.querySelectorAll(selector)];
  if (document.documentElement.lang !== "en") found.push("no language");
  if (all("main").length !== 1 || all("nav[aria-label]").length !== 1 || all("h1").length !== 1) found.push("landmarks");
  let level = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6")) {
    const now = Number(heading.tagName[1]);
    if (now > level + 1) found.push(`${heading.tagName} "${heading.textContent}" after H${level}`);
    level = now;
  }
  for (const each of all("a, button, input, select, summary, svg")) if (!named(each)) found.push(`no name: ${each.outerHTML.slice(0, 80)}`);
  for (const table of all("table")) if (!table.caption) found.push(`no caption: ${table.outerHTML.slice(0, 80)}`);
  for (const head of all("th")) if (!head.scope) found.push(`no scope: ${head.outerHTML.slice(0, 80)}`);
  const ids = all("[id]").map((each) => each.id);
  for (const id of new Set(ids)) if (ids.filter((each) => each === id).length > 1) found.push(`twice: ${id}`);
  for (const link of all('a[href^="#"]')) {
    if (!document.getElementById(link.getAttribute("href").slice(1))) found.push(`leads nowhere: ${link.outerHTML.slice(0, 80)}`);
  }
  return found;
}"""

#: Words of table cells, URLs and texts of pages apart, that stand in two lines.
BROKEN_WORDS = """() => {
  document.querySelectorAll("details").forEach((each) => { each.open = true; });
  const broken = [];
  for (const cell of document.querySelectorAll("th, td")) {
    if (cell.querySelector(".url")) continue;
    const walker = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      for (const word of walker.currentNode.textContent.matchAll(/\\S+/g)) {
        const range = document.createRange();
        range.setStart(walker.currentNode, word.index);
        range.setEnd(walker.currentNode, word.index + word[0].length);
        if (new Set([...range.getClientRects()].map((box) => box.top)).size > 1) broken.push(word[0]);
      }
    }
  }
  document.querySelectorAll("details.evidence").forEach((each) => { each.open = false; });
  return broken;
}"""


def broken_words(page: Page) -> list[str]:
    """The words of tables that are broken in a narrow window."""
    usual = page.viewport_size
    page.set_viewport_size({"width": 640, "height": 720})
    found: list[str] = page.evaluate(BROKEN_WORDS)
    if usual is not None:
        page.set_viewport_size(usual)
    return found


def rows(page: Page) -> list[list[str]]:
    """The rows of the ledger that are shown."""
    script = "trs => trs.map(tr => [...tr.cells].map(cell => cell.textContent))"
    found: list[list[str]] = page.eval_on_selector_all("#ledger-table tbody tr", script)
    return found


def searched(page: Page, text: str) -> dict[str, Any]:
    """What the table shows when somebody looks for a text."""
    before = page.text_content("#ledger-count")
    page.fill("#ledger-search", text)
    page.wait_for_function("before => document.querySelector('#ledger-count').textContent !== before", arg=before)
    return {"count": page.text_content("#ledger-count"), "rows": rows(page)}


def used(page: Page) -> dict[str, Any]:
    """Use a report as a reader does."""
    seen: dict[str, Any] = {
        "barriers": page.evaluate(BARRIERS),
        "all": rows(page),
        "broken": broken_words(page),
    }
    page.keyboard.press("Tab")
    seen["first focus"] = page.evaluate("document.activeElement.textContent")
    seen["count"] = page.text_content("#ledger-count")
    seen["searched"] = searched(page, "id=3 filtered")
    seen["nothing"] = searched(page, "no such URL")
    searched(page, "")
    page.click("text=Next")
    seen["second page"] = {"place": page.text_content("#ledger-page"), "rows": rows(page)}
    url = page.locator("#ledger-table thead button", has_text="URL")
    url.focus()
    for direction in ("ascending", "descending"):
        page.keyboard.press("Enter")
        sort = page.get_attribute("#ledger-table th:nth-child(2)", "aria-sort")
        seen[direction] = {"sort": sort, "urls": [row[1] for row in rows(page)]}
    details = page.locator("#rules details.evidence").first
    seen["closed"] = details.evaluate("each => each.open")
    details.locator("summary").focus()
    page.keyboard.press("Enter")
    seen["open"] = details.evaluate("each => each.open")
    seen["pair is visible"] = details.locator("mark").first.is_visible()
    page.keyboard.press("Enter")
    seen["closed again"] = not details.evaluate("each => each.open")
    return seen


def colours(page: Page, scheme: Any) -> list[str]:
    """The colours of page and text."""
    page.emulate_media(color_scheme=scheme)
    script = "() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]"
    found: list[str] = page.evaluate(script)
    return found


def main(report: Path) -> None:
    asked: list[str] = []
    said: list[str] = []
    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=list(QUIET))
        page = browser.new_page()
        page.on("request", lambda request: asked.append(request.url))
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(report.absolute().as_uri())
        seen = used(page)
        seen["colours"] = {scheme: colours(page, scheme) for scheme in ("light", "dark")}
        page.emulate_media(media="print")
        seen["printed nav"] = page.locator("nav").is_visible()
        browser.close()
    sys.stdout.write(json.dumps({**seen, "asked": asked, "said": said}) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
