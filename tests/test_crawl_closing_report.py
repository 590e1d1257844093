"""What a crawl says when it closes: spot checks with a bound where it informs, and what was no evidence."""

from dataclasses import replace
from typing import Any

import pytest
from scrapy import FormRequest

from scrapy_dedup.rules import Evidence, Ignore, Status

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, messages, rule, write_rules
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
