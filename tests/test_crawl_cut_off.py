"""Responses that end with the connection: evidence like any other, unless closing tags show that they were cut off."""

from dataclasses import replace
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.content.versions import Version
from scrapy_dedup.learning.alternation import StoredEvidence
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.rules import Ignore, Status
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import STORE, Links, crawl, in_reactor, messages, observed, rule, write_rules
from .server import Answer, Asked, as_json, page, prose
from .store_rows import seen

PAGES = 30


def closing(asked: Asked) -> Answer:
    """Thirty pages, each under three session ids; no answer has a length."""
    if asked.path == "/":
        text = page(prose("start"), *(f"/p?id={i}&sid=s{i}x{j}" for i in range(PAGES) for j in range(3)))
    else:
        text = page(prose(asked.query["id"]))
    return Answer(text, close=True)


def without_end(answer: Answer, keep: float = 1.0) -> Answer:
    """The answer up to its closing tags, or a part of that."""
    whole = str(answer.body).partition("</body>")[0]
    return replace(answer, body=whole[: int(keep * len(whole))])


@pytest.mark.parametrize("tags", [True, False])
@in_reactor
async def test_a_site_whose_answers_end_with_the_connection_is_learned(serve: Serve, tags: bool) -> None:
    """Closing tags may be left out in HTML: where no page has them, none was cut off for their want."""
    server = serve(closing if tags else lambda asked: without_end(closing(asked)))
    first = await crawl(Links, server.url("/"), DEDUP_LEARN="close")
    assert first.stats["dedup/recorded"] == server.downloads == 1 + 3 * PAGES
    assert {each.ends for each in observed().values()} == {tags}
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(server.url("/p?id=1&sid=s9x1"), server.url("/p?id=1&sid=s8x0"))
    server.reset()
    second = await crawl(Links, server.url("/"))
    assert server.downloads == len(second.items) == 1 + PAGES


@in_reactor
async def test_what_was_cut_off_is_no_evidence(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Under every third URL a page comes in part; the parts are all alike. Which ones come first is up to Scrapy."""
    cut = {f"/p?id={i}&sid=s{i}x2" for i in range(PAGES)}

    def site(asked: Asked) -> Answer:
        if asked.target not in cut:
            return closing(asked)
        return Answer(page("the head of all pages " + prose("frame")).partition("</p>")[0], close=True)

    server = serve(site)
    with caplog.at_level("INFO"):
        done = await crawl(Links, server.url("/"), DEDUP_LEARN="close", CONCURRENT_REQUESTS=1)
    told = "\n".join(messages(caplog, 20, "scrapy_dedup.crawl.report.closing"))
    doubtful = [each for each in observed().values() if each.ends is False]
    assert len(doubtful) < PAGES, "once whole pages were seen, the others are not recorded at all"
    assert f"not used as evidence: {PAGES - len(doubtful)} cut off" in told
    found = clusters(list(observed().values()))
    assert found.left_out == ({"cut off": len(doubtful)} if doubtful else {})
    assert found.pages == 1 + PAGES
    assert done.stats["dedup/not_evidence/cut_off"] == PAGES - len(doubtful)
    book = RuleBook.load("dedup-rules")
    assert book.equivalent(server.url("/p?id=1&sid=s9x1"), server.url("/p?id=1&sid=s8x2"))
    assert not book.equivalent(server.url("/p?id=1&sid=s1x2"), server.url("/p?id=2&sid=s2x2"))


def test_the_first_pages_of_a_template_are_looked_at_again_by_learning() -> None:
    """When they came, nobody knew yet that pages of their template have closing tags."""
    rows = [Observation(f"http://a.test/p?id={i}", f"page {i}", ends=True) for i in range(3)]
    part = Observation("http://a.test/p?id=9", "part", ends=False)
    other = Observation("http://a.test/b/c/d?x=1", "of a template without closing tags", ends=False)
    found = clusters([part, other, *rows])
    assert found.left_out == {"cut off": 1}
    assert other.url in found.urls
    assert clusters([part, other]).left_out == {}


def test_what_cut_off_pages_lack_does_not_come_and_go(tmp_path: Any) -> None:
    """Their texts take no part where transient content is looked for."""
    texts = Version((("html/body/p", "", "text"),)).to_bytes()
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(
            [seen("p?id=1")._replace(version=texts, ends=True), seen("p?id=2")._replace(version=texts, ends=False)]
        )
        store.add([seen("b/c/d")._replace(version=texts, ends=False)])
        kept = StoredEvidence(store).versions("example.com")
    assert [url for url, _, _ in kept] == ["http://example.com/b/c/d", "http://example.com/p?id=1"]


@in_reactor
async def test_json_that_ends_with_the_connection(serve: Serve) -> None:
    """Of JSON the last bracket tells; of what is neither nothing does."""
    whole = as_json({"a": list(range(40))})
    server = serve(
        {
            "/": closing(Asked("GET", "", "/?", {})),
            "/whole": replace(whole, close=True),
            "/part": replace(whole, body=whole.body[:-3], close=True),
            "/text": Answer("words " * 9, content_type="text/plain", close=True),
        }
    )
    await crawl(Links, *map(server.url, ("/whole", "/part", "/text")), CONCURRENT_REQUESTS=1)
    ends = {url.removeprefix(server.url("/")): each.ends for url, each in observed().items()}
    assert ends == {"whole": True, "text": None}, "the part has a template that the whole one belongs to"


@in_reactor
async def test_a_spot_check_that_was_cut_off_tells_nothing(serve: Serve) -> None:
    """Every second fetch of a page ends too soon: that refutes no rule."""
    whole = set[str]()

    def site(asked: Asked) -> Answer:
        answer = closing(asked)
        if asked.path == "/" or asked.query["id"] not in whole:
            whole.add(asked.query.get("id", ""))
            return answer
        return without_end(answer, 0.5)

    server = serve(site)
    name = f"127.0.0.1:{server.port}"
    write_rules(rule(name, {"q.sid": Ignore()}, status=Status.ACTIVE))
    done = await crawl(Links, server.url("/"), DEDUP_SAMPLE=1, CONCURRENT_REQUESTS=1)
    assert done.stats["dedup/samples"] > 3
    assert "dedup/samples/differing" not in done.stats
    assert "dedup/refuted" not in done.stats
    (kept,) = RuleBook.load("dedup-rules").for_site(name)
    assert kept.status is Status.ACTIVE
    with Store.open(STORE, readonly=True) as store:
        assert all(each.ends for each in store.observations())


def test_what_was_left_out_is_said_by_learn_rules(project: Project) -> None:
    project.write(
        "seen.jsonl",
        '{"url": "http://a.test/p?id=1", "fingerprint": "1", "ends": true}\n'
        '{"url": "http://a.test/p?id=2", "fingerprint": "2", "ends": false}\n'
        '{"url": "http://a.test/p?id=3", "fingerprint": "", "status": 404}\n'
        '{"url": "http://a.test/p?id=4", "fingerprint": "", "status": 500}\n'
        '{"url": "http://a.test/old", "fingerprint": "", "status": 301, "redirect": "http://a.test/p?id=1"}\n',
    )
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "  not used as evidence: 2 answers other than 200, 1 cut off, 1 redirect\n" in done.stdout
