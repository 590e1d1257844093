"""Sites that change between two crawls: what was learned of them before goes, and is learned anew."""

import sqlite3
from typing import Any

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Rule, Status

from .conftest import Serve
from .crawling import STORE, Links, crawl, in_reactor, observed
from .server import Asked, Server, page, prose

PAGES = 40
REFERRERS = "abc"


class Changing:
    """Each page is linked under several referrers, which say nothing at first.

    Later each is another page, for some pages or all. *Redesigned*, the site has other URLs and other texts.
    """

    def __init__(self) -> None:
        #: The first page of those for which they matter.
        self.matter = PAGES
        self.redesigned = False

    def links(self) -> list[str]:
        target = "/item/{}?from={}" if self.redesigned else "/p?id={}&ref={}"
        return [target.format(number, referrer) for number in range(PAGES) for referrer in REFERRERS]

    def __call__(self, asked: Asked) -> Any:
        if asked.path == "/":
            return page(prose("start"), *self.links())
        if self.redesigned != asked.path.startswith("/item/"):
            return 404
        if self.redesigned:
            return page(prose(f"new {asked.path}"), "/")
        return page(
            prose(f"{asked.query['id']} {asked.query['ref'] if int(asked.query['id']) >= self.matter else ''}"), "/"
        )


def rules_of(server: Server, key: str) -> list[Rule]:
    """The rules that do something with a key."""
    book = RuleBook.load("dedup-rules", missing_ok=True)
    return [rule for rule in book.for_site(f"127.0.0.1:{server.port}") if key in rule.ops]


def let_days_pass(days: float) -> None:
    """Let all that is known be older by so many days."""
    connection = sqlite3.connect(STORE)
    with connection:
        connection.execute("UPDATE observation SET time = time - ?", (days * 86_400,))
        connection.execute("UPDATE discard SET time = time - ?", (days * 86_400,))
    connection.close()


@in_reactor
async def test_a_parameter_that_begins_to_matter_between_two_crawls(serve: Serve) -> None:
    site = Changing()
    server = serve(site)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert [rule.status for rule in rules_of(server, "q.ref")] == [Status.ACTIVE]
    server.reset()
    site.matter = 0
    # The pages are not what they were in the crawl before, which is no noise of this one.
    second = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SAMPLE=0.02)
    assert second.stats["dedup/refuted"] == 1
    assert set(site.links()) <= set(second.urls), "no page is lost"
    assert server.downloads <= 2 + len(site.links()), "never more than plain Scrapy, which fetches the start page twice"
    assert not [rule for rule in rules_of(server, "q.ref") if rule.status.acts], "nor is it learned again at its end"
    server.reset()
    third = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SAMPLE=0.02)
    assert "dedup/refuted" not in third.stats
    assert set(site.links()) <= set(third.urls)


@in_reactor
async def test_a_parameter_that_begins_to_matter_for_the_last_pages(serve: Serve) -> None:
    """Of what is discarded last there are samples, too, though the first ones have confirmed the rule."""
    site = Changing()
    server = serve(site)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    server.reset()
    site.matter = PAGES - PAGES // 4
    second = await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SAMPLE=0.02)
    assert second.stats["dedup/refuted"] == 1
    late = [link for link in site.links() if int(link.partition("id=")[2].partition("&")[0]) >= site.matter]
    assert set(late) <= set(second.urls), "no page is lost"
    assert server.downloads <= 2 + len(site.links())


@in_reactor
async def test_a_site_that_is_redesigned_is_learned_anew(serve: Serve) -> None:
    """What is older than DEDUP_EVIDENCE_DAYS is forgotten."""
    site = Changing()
    server = serve(site)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert rules_of(server, "q.ref")
    assert not rules_of(server, "q.from")
    let_days_pass(100)
    server.reset()
    site.redesigned = True
    settings: dict[str, Any] = {"DEDUP_LEARN": "close", "DEDUP_SAMPLE": 0.02, "DEDUP_EVIDENCE_DAYS": 30}
    second = await crawl(Links, server.url("/"), **settings)
    assert set(site.links()) <= set(second.urls), "no page is lost to rules of the site that was"
    assert not [url for url in observed() if "/p?" in url], "what it was is forgotten"
    assert [rule.status for rule in rules_of(server, "q.from")] == [Status.ACTIVE]
    server.reset()
    third = await crawl(Links, server.url("/"), **settings)
    assert server.downloads == 2 + PAGES + third.stats["dedup/samples"]
    assert {url.partition("?")[0] for url in third.urls} == {"/", *(f"/item/{number}" for number in range(PAGES))}


@in_reactor
async def test_what_was_seen_long_ago_is_no_evidence(serve: Serve) -> None:
    """The referrers mattered then; since nobody can tell whether they still do, it does not hinder what is learned now."""
    site = Changing()
    server = serve(site)
    site.matter = 0
    await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert not rules_of(server, "q.ref")
    let_days_pass(100)
    site.matter = PAGES
    await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_EVIDENCE_DAYS=30)
    assert [rule.status for rule in rules_of(server, "q.ref")] == [Status.ACTIVE]
