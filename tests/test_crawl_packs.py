"""Crawls of a server that looks like a wiki, with the starter pack and without: what is saved, and that no page is lost."""

from typing import Any

from scrapy_dedup import RuleBook

from .conftest import Serve
from .crawling import Links, crawl, in_reactor
from .server import Asked, prose

PAGES = 60
#: Pages that the first crawl is shown, and those of them that it is shown under their second form, too.
FEW, TWICE = 24, 2
ON: dict[str, Any] = {"DEDUP_LEARN": "close", "CONCURRENT_REQUESTS": 1, "DEDUP_PACKS": ["starter"]}


class Wiki:
    """Pages with an old version each, and each under a second form: ``action=view``, the same page up to *same*.

    ``/few`` links some of the pages, and *twice* of them under their second form; ``/`` links all.
    """

    def __init__(self, same: int = PAGES, twice: int = TWICE, script: str = "index.php") -> None:
        self.same, self.twice, self.script = same, twice, script

    def __call__(self, asked: Asked) -> Any:
        title = asked.query.get("title")
        if asked.path not in ("/", "/few", f"/{self.script}") or (title is None) != (asked.path != f"/{self.script}"):
            return 404
        text, links = prose(f"{asked.path} {title} {asked.query.get('oldid', '')}"), []
        if title is None:
            few = asked.path == "/few"
            for number in range(FEW if few else PAGES):
                links += [
                    f"/{self.script}?title=Page_{number}",
                    f"/{self.script}?title=Page_{number}&oldid={number + 1000}",
                ]
                if not few or number < self.twice:
                    links.append(f"/{self.script}?title=Page_{number}&action=view")
        elif "action" in asked.query and int(title.removeprefix("Page_")) >= self.same:
            text = prose(f"{title} in print")
        anchors = "".join(f'<a href="{link.replace("&", "&amp;")}">more</a>' for link in links)
        return f"<html><head><title>{title}</title></head><body><p>{text}</p>{anchors}</body></html>"


async def second_crawl(serve: Serve, wiki: Wiki, **settings: Any) -> tuple[int, set[str]]:
    """Crawl a few pages, learn at the close, and crawl all; return the requests of that, and the texts that it has reached."""
    server = serve(wiki)
    await crawl(Links, server.url("/few"), **{**ON, **settings})
    before = server.hits.total()
    done = await crawl(Links, server.url("/"), **{**ON, **settings, "DEDUP_LEARN": "off"})
    texts = {wiki(Asked("GET", "", url.partition(str(server.port))[2], {})) for url in done.urls}
    return server.hits.total() - before - 1, texts


ALL = 3 * PAGES
"""Requests of a crawl without rules."""


@in_reactor
async def test_three_pages_are_enough_with_the_starter_pack(serve: Serve) -> None:
    without, every = await second_crawl(serve, Wiki(), DEDUP_PACKS=[])
    requests, texts = await second_crawl(serve, Wiki())
    assert (without, requests) == (ALL, 2 * PAGES)
    assert texts == every
    (rule,) = [rule for rule in RuleBook.load("dedup-rules") if "q.action" in rule.ops]
    assert rule.evidence is not None
    assert (rule.evidence.pack, rule.evidence.groups) == ("starter", TWICE)


@in_reactor
async def test_a_site_of_other_urls_needs_what_it_needs_without_a_pack(serve: Serve) -> None:
    requests, _ = await second_crawl(serve, Wiki(script="page.php"))
    assert requests == ALL


@in_reactor
async def test_where_a_parameter_means_something_else_no_page_is_lost(serve: Serve) -> None:
    """The first pages show the same in print and all others do not: spot checks find the rule out, and what it filtered is fetched."""
    wiki = Wiki(same=TWICE)
    requests, every = await second_crawl(serve, wiki, DEDUP_PACKS=[])
    again, texts = await second_crawl(serve, wiki, DEDUP_SAMPLE=0.02, DEDUP_LEARN="close")
    assert texts == every
    assert ALL - TWICE <= again <= requests
    rules = [rule for rule in RuleBook.load("dedup-rules") if "q.action" in rule.ops]
    assert rules
    assert not any(rule.status.acts for rule in rules)
