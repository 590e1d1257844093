"""Sites that change between two crawls: what was learned of them before goes, and is learned anew."""

from typing import Any

from .conftest import Serve
from .crawling import Outcome, crawl_again, in_reactor, let_days_pass, observed, statuses
from .server import Asked, page, prose

PAGES = 24
REFERRERS = "abc"
LEARNING: dict[str, Any] = {"DEDUP_LEARN": "close", "DEDUP_SAMPLE": 0.02, "DEDUP_EVIDENCE_DAYS": 30}


class Changing:
    """Each page is linked under several referrers, which say nothing at first.

    Later each is another page, from page number *matter* on. *Redesigned*, the site has other URLs and other texts.
    """

    def __init__(self, matter: int = PAGES) -> None:
        self.matter = matter
        self.redesigned = False

    def links(self) -> list[str]:
        target = "/item/{}?from={}" if self.redesigned else "/p?id={}&ref={}"
        return [target.format(number, referrer) for number in range(PAGES) for referrer in REFERRERS]

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links())
        if self.redesigned != asked.path.startswith("/item/"):
            return 404
        matters = not self.redesigned and int(asked.query["id"]) >= self.matter
        name = f"new {asked.path}" if self.redesigned else asked.query["id"]
        return page(prose(f"{name} {asked.query['ref'] if matters else ''}"), "/")


@in_reactor
async def test_what_was_learned_of_a_site_that_changes(serve: Serve) -> None:
    """No page is lost to a parameter that begins to matter, on all pages or the last ones, nor to rules of the site that was."""
    sites = {name: Changing() for name in ("all", "last", "redesigned")} | {"settled": Changing(0)}
    servers = {name: serve(site) for name, site in sites.items()}
    await crawl_again(servers, DEDUP_LEARN="close")
    let_days_pass(40)  # what was seen is no evidence any more
    rules = {name: statuses(server.site) for name, server in servers.items()}
    assert rules == {name: {} if name == "settled" else {"q.ref": "active"} for name in sites}

    sites["all"].matter, sites["last"].matter, sites["settled"].matter = 0, PAGES - PAGES // 4, PAGES
    sites["redesigned"].redesigned = True
    second: dict[str, Outcome] = await crawl_again(servers, **LEARNING)
    assert second["all"].stat("refuted") == 2
    rules = {name: statuses(server.site) for name, server in servers.items()}
    acting = {name: {key for key, status in each.items() if status == "active"} for name, each in rules.items()}
    assert acting == {"all": set(), "last": set(), "redesigned": {"q.ref", "q.from"}, "settled": {"q.ref"}}
    late = [link for link in sites["last"].links() if int(link.partition("id=")[2].partition("&")[0]) >= PAGES * 3 // 4]
    for name, expected in (("all", sites["all"].links()), ("last", late), ("redesigned", sites["redesigned"].links())):
        assert set(expected) <= set(second[name].urls), f"{name}: no page is lost"
        assert second[name].fetched.total() <= 2 + PAGES * len(REFERRERS), "never more than plain Scrapy"
    assert not [url for url in observed() if servers["redesigned"].is_of(url) and "/p?" in url], "it is forgotten"

    third = await crawl_again(servers, **LEARNING)
    assert third["all"].stat("refuted") == 0
    assert set(sites["all"].links()) <= set(third["all"].urls)
    for name in ("redesigned", "settled"):
        assert {url.partition("ref")[0].partition("?from")[0] for url in third[name].urls} >= {
            link.partition("ref")[0].partition("?from")[0] for link in sites[name].links()
        }
        assert third[name].fetched.total() < 2 + 2 * PAGES, "and saved again"
