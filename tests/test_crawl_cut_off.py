"""Responses that end with the connection: evidence like any other, unless closing tags show that they were cut off."""

import json
from dataclasses import replace
from typing import Any

import pytest

from scrapy_dedup import RuleBook

from .conftest import Project, Serve
from .crawling import (
    Links,
    crawl,
    crawl_again,
    crawl_site,
    ignore,
    in_reactor,
    messages,
    observed,
    save_rules,
    spot_checks,
    statuses,
)
from .server import Answer, Asked, as_json, page, prose

PAGES = 24


def closing(asked: Asked) -> Answer:
    """Pages, each under three session ids; no answer has a length."""
    if asked.path == "/":
        text = page(prose("start"), *(f"/p?id={i}&sid=s{i}x{j}" for i in range(PAGES) for j in range(3)))
    else:
        text = page(prose(asked.query["id"]))
    return Answer(text, close=True)


def without_end(asked: Asked) -> Answer:
    """Closing tags may be left out in HTML: where no page has them, none was cut off for their want."""
    return Answer(str(closing(asked).body).partition("</body>")[0], close=True)


def cut_off(asked: Asked) -> Answer:
    """Under every third URL a page comes in part; the parts are all alike."""
    if not asked.query.get("sid", "").endswith("x2"):
        return closing(asked)
    return Answer(page("the head of all pages " + prose("frame")).partition("</p>")[0], close=True)


class Halves:
    """Every second fetch of a page ends too soon."""

    def __init__(self) -> None:
        self.whole = set[str]()

    def __call__(self, asked: Asked) -> Answer:
        answer = closing(asked)
        if asked.path == "/" or asked.query["id"] not in self.whole:
            self.whole.add(asked.query.get("id", ""))
            return answer
        return replace(answer, body=answer.body[: len(answer.body) // 3])


@in_reactor
async def test_what_is_learned(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    servers = {name: serve(site) for name, site in {"whole": closing, "no tags": without_end, "cut": cut_off}.items()}
    with caplog.at_level("INFO"):
        first = await crawl_again(servers, DEDUP_LEARN="close", CONCURRENT_REQUESTS=1)
    left_out = first["cut"].stat("not_evidence/cut_off")
    assert f"not used as evidence: {left_out} cut off" in "\n".join(messages(caplog, 20))
    ends = {
        name: [each.ends for url, each in observed().items() if server.is_of(url)] for name, server in servers.items()
    }
    assert (set(ends["whole"]), set(ends["no tags"])) == ({True}, {False})
    assert ends["cut"].count(False) == PAGES - left_out < PAGES, "once whole pages were seen, no part is recorded"
    book = RuleBook.load("dedup-rules")
    for name, server in servers.items():
        assert statuses(server.site) == {"q.sid": "active"}, name
        assert not book.equivalent(server.url("/p?id=1&sid=s1x2"), server.url("/p?id=2&sid=s2x2"))
    second = await crawl_again({name: servers[name] for name in ("whole", "no tags")})
    for each in second.values():
        assert each.fetched.total() == len(each.items) == 1 + PAGES


@in_reactor
async def test_a_spot_check_that_was_cut_off_tells_nothing(serve: Serve) -> None:
    done = await crawl_site(serve, Halves(), ignore("q.sid", "active"), DEDUP_SAMPLE=1, CONCURRENT_REQUESTS=1)
    assert done.stat("samples") > 3
    assert (done.stat("samples/differing"), done.stat("refuted"), spot_checks()["refuted"]) == (0, 0, 0)
    assert statuses(done.server.site) == {"q.sid": "active"}
    assert all(each.ends for each in observed().values())


@in_reactor
async def test_json_that_ends_with_the_connection(serve: Serve) -> None:
    """Of JSON the last bracket tells; of what is neither nothing does."""
    whole = as_json({"a": list(range(40))})
    site: dict[str, Any] = {
        "/whole": replace(whole, close=True),
        "/part": replace(whole, body=whole.body[:-3], close=True),
        "/text": Answer("words " * 9, content_type="text/plain", close=True),
    }
    server = serve(site)
    save_rules(server.site)
    await crawl(Links, *map(server.url, site), CONCURRENT_REQUESTS=1)
    ends = {url.removeprefix(server.url("")): each.ends for url, each in observed().items()}
    assert ends == {"/whole": True, "/text": None}, "the part has a template that the whole one belongs to"


def test_what_was_left_out_is_said_by_learn_rules(project: Project) -> None:
    """Of a template without closing tags nothing is cut off; nor did one know of the first pages of a template when they came."""
    rows: list[dict[str, Any]] = [
        *(
            {"url": f"http://a.test/p?id={number}", "fingerprint": str(number), "ends": number > 1}
            for number in (1, 2, 3)
        ),
        {"url": "http://a.test/b/c/d?x=1", "fingerprint": "other", "ends": False},
        *({"url": f"http://a.test/p?id={status}", "fingerprint": "", "status": status} for status in (404, 500)),
        {"url": "http://a.test/old", "fingerprint": "", "status": 301, "redirect": "http://a.test/p?id=1"},
    ]
    project.write("seen.jsonl", "".join(json.dumps(row) + "\n" for row in rows))
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "  not used as evidence: 2 answers other than 200, 1 cut off, 1 redirect\n" in done.stdout
