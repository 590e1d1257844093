"""What a crawl says when it closes: spot checks with a bound where it informs, and what was no evidence."""

import itertools
from dataclasses import replace
from typing import Any

import pytest
from scrapy import FormRequest, Request
from scrapy.http import Response

from scrapy_dedup.crawl.support.components import components_of
from scrapy_dedup.masks.model import Mask, TransientPath
from scrapy_dedup.rules import Evidence, Ignore, Status
from scrapy_dedup.store.rows import DiscardState

from .conftest import Serve
from .crawling import Links, crawl, discarded, in_reactor, messages, rule, write_rules
from .server import Answer, Asked, page, prose, redirect

PAGES = 40


def shop(asked: Asked) -> Any:
    """Every page links to two others, under session ids of its own."""
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid=0" for i in range(PAGES)))
    number = int(asked.query["id"])
    return page(prose(number), *(f"/p?id={(number + step) % PAGES}&sid={number}" for step in (1, 2)))


async def told(caplog: pytest.LogCaptureFixture, *args: Any, **settings: Any) -> list[str]:
    """The closing lines of a crawl."""
    with caplog.at_level("INFO"):
        await crawl(Links, *args, CONCURRENT_REQUESTS=1, **settings)
    return messages(caplog, 20, "scrapy_dedup.crawl.report.closing")


@pytest.mark.parametrize(
    ("evidence", "bound"),
    [
        (None, None),
        (Evidence(groups=12), None),
        (Evidence(groups=60), 3),
        (Evidence(groups=10, samples=50), 3),
        (Evidence(groups=2_000), 0),
    ],
)
@in_reactor
async def test_a_bound_is_given_where_it_informs(
    serve: Serve, caplog: pytest.LogCaptureFixture, evidence: Evidence | None, bound: int | None
) -> None:
    """Witness groups and the spot checks of earlier crawls count with those of this one."""
    server = serve(shop)
    write_rules(replace(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE), evidence=evidence))
    lines = await told(caplog, server.url("/"), DEDUP_SAMPLE=0.02)
    (line,) = [line for line in lines if "spot check" in line]
    assert " filtered URLs were fetched to check: all duplicates" in line
    if bound is None:
        assert "at most" not in line
    else:
        assert line.endswith(f"; of those not fetched at most {bound} may be other pages (95 %)")


@in_reactor
async def test_what_differed_is_said_with_its_bound(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """``n`` is another page for each value, and the rule that says otherwise the user's own."""

    def site(asked: Asked) -> str:
        if asked.path == "/":
            return page("start", *(f"/p?id={i}&n={n}" for i in range(4) for n in range(1, 11)))
        return page(prose(f"{asked.query['id']} {asked.query['n']}"))

    server = serve(site)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.n": Ignore()}))
    lines = await told(caplog, server.url("/"), DEDUP_SAMPLE=0.4)
    (line,) = [line for line in lines if "spot check" in line]
    assert " other page" in line
    assert "; of those not fetched at most " in line
    assert "all duplicates" not in line


@in_reactor
async def test_what_was_no_evidence_is_said_in_one_line(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    links = ["/gone?a=1", "/gone?a=2", "/moved", "/short", "/long"]
    server = serve(
        {
            "/": page(prose("start"), *links),
            "/gone": 404,
            "/moved": redirect("/long?x=1"),
            "/short": "two words",
            "/long": page(prose("long")),
            "/form": Answer(page(prose("form"))),
        }
    )

    class Forms(Links):
        def parse(self, response: Any) -> Any:
            yield from super().parse(response)
            if response.url == server.url("/long"):
                yield FormRequest(server.url("/form"), formdata={"q": "1"})

    with caplog.at_level("INFO"):
        done = await crawl(Forms, server.url("/"), CONCURRENT_REQUESTS=1)
    lines = messages(caplog, 20, "scrapy_dedup.crawl.report.closing")
    (line,) = [line for line in lines if "evidence" in line]
    assert line == (
        "scrapy-dedup: not used as evidence: 2 answers other than 200, 1 with hardly any text, "
        "1 answer to a request that is no plain GET, 1 redirect"
    )
    counts = {name.rpartition("/")[2]: value for name, value in done.dedup().items() if "not_evidence" in name}
    assert counts == {"status": 2, "redirect": 1, "method": 1, "hardly_any_text": 1}
    caplog.clear()
    clean = serve({"/": page(prose("start"))})
    assert not [line for line in await told(caplog, clean.url("/")) if "evidence" in line]
    assert "1 response recorded, 0 URLs filtered as duplicates" in messages(caplog, 20)[-1]


class Slow:
    """Says of each response that it took a hundred seconds, as where all are under way at once."""

    def process_response(self, request: Request, response: Response) -> Response:
        request.meta["download_latency"] = 100.0
        return response


@in_reactor
async def test_waiting_for_several_responses_at_once_counts_once(serve: Serve) -> None:
    server = serve(shop)
    write_rules(rule(f"127.0.0.1:{server.port}", {"q.sid": Ignore()}, status=Status.ACTIVE))
    done = await crawl(Links, server.url("/"), DOWNLOADER_MIDDLEWARES={Slow: 999})
    assert done.stats["dedup/avoided"] > PAGES / 2
    assert done.stats["dedup/avoided/seconds"] < 100


def clocks(asked: Asked) -> str:
    """A shop where two pages show another time in each response."""
    shown = shop(asked)
    if asked.query.get("id") in ("3", "17"):
        shown = shown.replace("</body>", f"<p class=clock>{next(_ticks)} o clock</p></body>")
    return shown


_ticks = itertools.count()


class Learning(Links):
    """Hears in the last page that it gets of a mask, as where one was learned meanwhile."""

    mask: Any = None

    def parse(self, response: Any) -> Any:
        yield from super().parse(response)
        if self.mask is not None and self.crawler.stats.get_value("dedup/samples/undecided", 0) >= 2:
            components_of(self.crawler).masks.use({self.mask.site: self.mask})


@pytest.mark.parametrize("learned", [False, True])
@in_reactor
async def test_what_passes_on_pages_makes_no_other_pages(
    serve: Serve, caplog: pytest.LogCaptureFixture, learned: bool
) -> None:
    """As long as nothing is known of what passes nobody can tell, and nobody is alarmed; then they are the same pages."""
    server = serve(clocks)
    name = f"127.0.0.1:{server.port}"
    write_rules(rule(name, {"q.sid": Ignore()}, status=Status.ACTIVE))
    spider = type(
        "Learns", (Learning,), {"mask": Mask(name, paths=(TransientPath("html/body/p.clock"),)) if learned else None}
    )
    with caplog.at_level("INFO"):
        done = await crawl(spider, server.url("/"), DEDUP_SAMPLE=1, CONCURRENT_REQUESTS=1)
    told = messages(caplog, 20)
    stats = done.dedup()
    assert not [line for line in told if "is not the same page" in line or "other page" in line]
    assert "samples/differing" not in stats
    again = [line for line in told if "is the same page" in line]
    if learned:
        assert len(again) >= 2
        assert stats["samples/undecided"] == 0
        assert stats["samples/confirmed"] == stats["samples"]
    else:
        assert again == []
        assert stats["samples/undecided"] >= 2
    assert not discarded(state=DiscardState.DIFFERING)
    assert not [line for line in told if "suspended" in line]
