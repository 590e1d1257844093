"""What the rewrite rules of equivalence classes say in the common representation, on sites whose truth is known."""

import random
from collections.abc import Iterable, Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.learning.data.judgement import SiteUrls, book_of, judged
from scrapy_dedup.learning.decision.validation import validated
from scrapy_dedup.learning.methods.equivalence import (
    Observed,
    Policy,
    composed,
    expressed_rules,
    inferred,
    proposals,
    representative,
    segmented,
)
from scrapy_dedup.learning.methods.equivalence.views import path_positions
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.learning.site_evidence import evidence_of
from scrapy_dedup.rules import Ignore, Literal, Lower, RuleBook
from scrapy_dedup.urls import normal_form

from .rewrite_rules import class_rules
from .work import work_of

SITE = "http://shop.example.com"
Rows = Iterable[tuple[str, object]]


def sample_of(rows: Rows) -> SiteUrls:
    """Rows are (URL, what tells its page)."""
    numbers: dict[object, int] = {}
    seen = {
        normal_form(url if "://" in url else SITE + url): numbers.setdefault(page, len(numbers)) for url, page in rows
    }
    return SiteUrls("example.com", list(seen), list(seen.values()))


def learned(rows: Rows) -> RuleBook:
    """The rules as they are proposed: no page is lost, and the shared validation has nothing to object to."""
    sample = sample_of(rows)
    deep = evidence_of(sample).deep
    found = proposals(sample, deep)
    assert validated(found, sample, deep) == found
    book = book_of(rules_of(sample.site, found), sample, deep)
    assert judged(book, sample).lost == 0
    return book


def same(book: RuleBook, a: str, b: str) -> bool:
    a, b = (url if "://" in url else SITE + url for url in (a, b))
    return book.equivalent(a, b)


def hexes(seed: int, digits: int = 32):
    rng = random.Random(seed)
    return lambda: f"{rng.getrandbits(4 * digits):0{digits}x}"


def test_a_session_id() -> None:
    sid = hexes(1)
    book = learned((f"/view?id={i}&sid={sid()}", i) for i in range(40) for _ in range(3))
    assert same(book, f"/view?id=7&sid={sid()}", "/view?id=7")
    assert same(book, f"/view?id=777&sid={sid()}", "/view?id=777")
    assert not same(book, "/view?id=7", "/view?id=8")
    assert not same(book, "/view?id=7&sid=short", "/view?id=7"), "a value of a shape that was never met"


def test_two_unique_parameters_at_once() -> None:
    sid, stamp = hexes(1), hexes(2, 12)
    book = learned((f"/view?id={i}&sid={sid()}&ts={stamp()}", i) for i in range(40) for _ in range(3))
    assert same(book, f"/view?id=7&sid={sid()}&ts={stamp()}", f"/view?id=7&ts={stamp()}")


def test_a_matrix_parameter_and_key_value_segments() -> None:
    sid = hexes(4)
    rows = [(f"/show;jsessionid={sid()}?id={i}", i) for i in range(40) for _ in range(2)]
    rows += [(f"/book/{i}/qid={n}{i}/ref=a{n}{i}", f"book {i}") for i in range(100, 140) for n in (1, 2)]
    book = learned(rows)
    assert same(book, f"/show;jsessionid={sid()}?id=77", "/show?id=77")
    assert same(book, "/book/177/qid=5177/ref=a7177", "/book/177")
    assert not same(book, "/book/177/qid=5177/ref=a7177", "/book/178/qid=5177/ref=a7177")


def test_an_optional_part_of_the_path_moves_the_others_up() -> None:
    rows = [(f"/news/{brand}story?id={i}", i) for i in range(40) for brand in ("yhoo/", "")]
    book = learned(rows)
    assert same(book, "/news/yhoo/story?id=777", "/news/story?id=777")
    assert not same(book, "/news/other/story?id=777", "/news/story?id=777")
    (rule,) = book
    assert rule.ops == {"path.1": Ignore(only={"yhoo"})}
    assert rule.match["path.0"] == Literal("news")
    assert rule.match["path.len"] == Literal("3")


def test_a_session_id_in_the_path() -> None:
    """It is no name that could be asked for: a class of values is cut out."""
    sid = hexes(5, 24)
    book = learned((f"/(S({sid()}))/page/{i}", i) for i in range(40) for _ in range(3))
    assert same(book, f"/(S({sid()}))/page/7", f"/(S({sid()}))/page/7")
    assert not same(book, f"/(S({sid()}))/page/7", f"/(S({sid()}))/page/8")
    assert not same(book, "/about/page/7", "/press/page/7")


def test_a_title_behind_an_id() -> None:
    words = ["red", "blue", "old", "new", "big", "small"]
    rng = random.Random(3)
    book = learned(
        (f"/item/{i}{title}", i) for i in range(60) for title in ("", "/" + "-".join(rng.choices(words, k=2)))
    )
    assert same(book, "/item/777/blue-small", "/item/777")
    assert not same(book, "/item/777", "/item/778")


def test_a_host_alias() -> None:
    book = learned((f"http://{host}example.com/p/{i}", i) for i in range(40) for host in ("www.", "", "m."))
    assert same(book, "http://www.example.com/new", "http://example.com/new")
    assert same(book, "http://m.example.com/new", "http://example.com/new")
    assert not same(book, "http://shop.example.com/new", "http://example.com/new")


def test_two_schemes() -> None:
    book = learned((f"{scheme}://example.com/p/{i}", i) for i in range(40) for scheme in ("http", "https"))
    assert same(book, "http://example.com/new", "https://example.com/new")


def test_sixteen_forms_of_one_page_take_four_operations() -> None:
    rng = random.Random(4)
    rows = []
    for i in range(80):
        for _ in range(4):
            brand = rng.choice(["", "yhoo/"])
            extra = "".join(f"{key}=yhoo&" for key in ("source", "siteid", "dist") if rng.random() < 0.5)
            rows.append((f"/news/{brand}story.asp?{extra}guid={i}", i))
    book = learned(rows)
    assert same(book, "/news/yhoo/story.asp?source=yhoo&siteid=yhoo&dist=yhoo&guid=new", "/news/story.asp?guid=new")
    assert sum(len(rule.ops) for rule in book) == 4


def test_segments_whose_case_makes_no_difference() -> None:
    rows = [(f"/{name}/Item{i}", i) for i in range(40) for name in ("Shop", "shop", "SHOP")]
    book = learned(rows)
    assert same(book, "/sHOP/Item7", "/shop/Item7")
    assert not same(book, "/shop/item7", "/shop/Item7")
    assert any(isinstance(operation, Lower) for rule in book for operation in rule.ops.values())


def test_a_value_that_is_no_value() -> None:
    """``page`` is refuted as noise; ``page=1`` is what is left of it."""
    rows = [
        (f"/list?id={i}{page}", (i, page[6:] or "1"))
        for i in range(40)
        for page in ("", "&page=1", "&page=2", "&page=3")
    ]
    book = learned(rows)
    assert same(book, "/list?id=777&page=1", "/list?id=777")
    assert not same(book, "/list?id=777&page=2", "/list?id=777")


def test_noise_under_one_value_of_another_key_only() -> None:
    token = hexes(6, 8)
    rows = [(f"/index.php?route=product&id={i}&sort={token()}", i) for i in range(40) for _ in range(3)]
    rows += [
        (f"/index.php?route=search&id={i}&sort={n}", (i, n)) for i in range(40) for n in (token(), token(), token())
    ]
    book = learned(rows)
    assert same(book, f"/index.php?route=product&id=7&sort={token()}", "/index.php?route=product&id=7")
    assert not same(
        book, f"/index.php?route=search&id=7&sort={token()}", f"/index.php?route=search&id=7&sort={token()}"
    )


def test_a_page_that_is_one_whatever_it_is_asked() -> None:
    rows: list[tuple[str, object]] = [(f"/login?returnto={i}", "log in") for i in range(60)]
    rows += [(f"/wiki?title={i}", i) for i in range(60)]
    book = learned(rows)
    assert same(book, "/login?returnto=777", "/login?returnto=7")
    assert not same(book, "/wiki?title=7", "/wiki?title=8")


def test_a_chance_class_teaches_nothing() -> None:
    """Some pages of a list are empty and alike: nothing follows for the others."""
    rows = [(f"/list?id={i}&page={n}", "empty" if n > 6 else (i, n)) for i in range(30) for n in range(1, 9)]
    book = learned(rows)
    assert not same(book, "/list?id=7&page=1", "/list?id=7&page=2")
    assert not same(book, "/list?id=7&page=1", "/list?id=8&page=1")


def test_a_key_that_is_the_page_is_kept() -> None:
    """No two URLs of one page differ in it: all pages unique but for a session id."""
    rng = random.Random(9)
    rows = [(f"/view?id={rng.getrandbits(40)}&n={i % 3}", i) for i in range(200)]
    rows += [(f"/view?id={i}&n={n}", 1000 + i) for i in range(20) for n in range(3)]
    book = learned(rows)
    assert not same(book, "/view?id=7&n=1", "/view?id=8&n=1")


def test_noisy_fingerprints() -> None:
    """A page in a hundred differs from itself: no reason to see nothing."""
    sid = hexes(7)
    rng = random.Random(8)
    rows = [
        (f"/view?id={i}&sid={sid()}", i if rng.random() > 0.0005 else rng.random())
        for i in range(2500)
        for _ in range(2)
    ]
    sample = sample_of(rows)
    assert len(set(sample.content)) > 2500, "some are noise"
    (proposal,) = proposals(sample, {})
    assert proposal.key == "q.sid"
    assert proposal.match == ()


def test_what_cannot_be_expressed_is_counted() -> None:
    """``/a/7/b.html`` and ``/a/7.html``: the extension would stay with a segment that is gone."""
    rows = [(f"/a/{i}{title}.html", i) for i in range(40) for title in ("", "/b")]
    found = expressed_rules(sample_of(rows), {})
    assert found.proposals == []
    assert found.left_out == {"extension of a dropped segment": 1}


def test_another_order_of_the_path_is_left_out() -> None:
    rows = [(f"/{a}/{b}", i) for i in range(40) for a, b in ((f"x{i}", f"y{i}"), (f"y{i}", f"x{i}"))]
    found = expressed_rules(sample_of(rows), {})
    assert found.proposals == []
    assert found.left_out == {"another order": 1}


# -- odd input


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("/a", 1)],
        [("/a", 1), ("/b", 1)],
        [(f"/p?id={i}", 1) for i in range(5)],
        [(f"/p?id={i}", i) for i in range(50)],
        [(f"/p?a={i}&a={i + 1}&a[]={i}", i // 2) for i in range(50)],
        [("mailto:x@example.com", 1), ("http://[::1", 1), ("", 1), ("?", 1)],
        [("/" + "/".join("a" * n), n % 2) for n in range(90)],
        [(f"/%{i:02X}?{i}=;&=&;{i}", i % 7) for i in range(200)],
    ],
    ids=["nothing", "one", "two", "equal", "unique", "repeats", "no URLs", "deep", "escapes"],
)
def test_odd_input(rows: list[tuple[str, object]]) -> None:
    sample = SiteUrls("example.com", [normal_form(url) for url, _ in rows], [hash(page) % 100 for _, page in rows])
    found = proposals(sample, evidence_of(sample).deep)
    book_of(rules_of(sample.site, found), sample, {})
    assert all(isinstance(proposal, Proposal) for proposal in found)
    for url, _ in rows:
        inferred([Observed(url, 1), Observed(url + "x", 1)])
        assert composed(segmented(url).origin, [(s.key, s.text) for s in segmented(url).segments]) == url


def test_a_class_with_nothing_in_common() -> None:
    assert class_rules([segmented("http://a.example/b"), segmented("http://a.example/c?d")]) == []
    assert representative(["http://a.example/b", "http://a.example/c"]) == "http://a.example"
    assert representative([]) == ""


URL = st.lists(st.sampled_from(["/", ";", "?", "&", "=", "a", "b=", "c", "#", "%20", "é"]), max_size=12).map("".join)


@given(URL)
def test_segments_compose_the_url(rest: str) -> None:
    url = "http://a.example/" + rest.replace("#", "")
    parts = segmented(url)
    assert composed(parts.origin, [(segment.key, segment.text) for segment in parts.segments]) == url


@given(st.lists(URL, min_size=1, max_size=5))
def test_every_url_of_a_class_is_rewritten_to_its_representative(rests: list[str]) -> None:
    urls = list(dict.fromkeys(f"http://a.example/{rest}".partition("#")[0] for rest in rests))
    members = [segmented(url) for url in urls]
    target = representative(urls)
    for rule in class_rules(members):
        for url in urls:
            rewritten = rule.rewrite(url)
            if rewritten is not None:
                assert texts(rewritten) == texts(target)


def texts(url: str) -> list[str]:
    """The segments of a URL, in any order; an empty one may have stood behind any separator."""
    return sorted(segment.text for segment in segmented(url).segments if segment.text)


@settings(max_examples=50)
@given(st.lists(st.tuples(URL, st.integers(0, 3)), max_size=40))
def test_proposals_never_raise(rows: list[tuple[str, int]]) -> None:
    sample = sample_of([("/" + url, page) for url, page in rows])
    found = proposals(sample, {})
    book_of(rules_of(sample.site, found), sample, {})


def test_positions_of_path_segments() -> None:
    assert path_positions(("scheme", "/", "path.1.head", "/", "q.a")) == {1: 0, 3: 2}


# -- work


def proposing(rows: Rows) -> int:
    sample = sample_of(rows)
    return work_of(lambda: proposals(sample, {}))


def many_keys(pages: int) -> Iterator[tuple[str, int]]:
    sid = hexes(11)
    return ((f"/c{i % 50}/view?id={i}&a={i % 7}&sid={sid()}&ts={n}{i}", i) for i in range(pages) for n in range(3))


def test_work_is_linear() -> None:
    assert proposals(sample_of(many_keys(150)), {})
    assert proposing(many_keys(600)) < 8 * 1.3 * proposing(many_keys(75))


def test_one_large_class() -> None:
    def large(pages: int) -> list[tuple[str, str]]:
        return [(f"/login?returnto={i}", "log in") for i in range(pages)]

    assert [proposal.key for proposal in proposals(sample_of(large(4_000)), {})] == ["q.returnto"]
    assert proposing(large(2_400)) < 8 * 1.3 * proposing(large(300))


def test_many_optional_parameters_are_bounded_work() -> None:
    def optional(pages: int) -> Iterator[tuple[str, int]]:
        rng = random.Random(1)
        keys = [f"k{number}" for number in range(40)]
        for i in range(pages):
            for _ in range(4):
                yield f"/view?id={i}&" + "&".join(f"{key}={rng.getrandbits(30)}" for key in rng.sample(keys, 5)), i

    assert proposing(optional(400)) < 8 * 1.3 * proposing(optional(50))


def test_the_documents_own_method_is_linear_too() -> None:
    def seen(pages: int) -> list[Observed]:
        return [Observed(f"http://a.example/view?id={i}&sid={i * 7 + n}", i) for i in range(pages) for n in range(3)]

    def inferring(pages: int) -> int:
        rows = seen(pages)
        return work_of(lambda: inferred(rows, Policy()))

    assert len(inferred(seen(300), Policy()).active) == 1
    assert inferring(1_200) < 8 * 1.3 * inferring(150)
