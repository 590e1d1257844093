"""Accepted rules, widened to the names, hosts and spellings that belong to those that were seen."""

from collections.abc import Callable, Iterable, Sequence
from itertools import product
from random import Random

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.learners.widening import families
from scrapy_dedup.rules import Ignore, Lower, Rule, Status

UTM = ("utm_source", "utm_medium", "utm_campaign")
Rows = list[tuple[str, str]]


def learned(rows: Iterable[tuple[str, str]], known: RuleBook | None = None) -> RuleBook:
    book = learn_rules([Observation(url, page, status=200, words=80) for url, page in rows], known=known)
    assert all(rule.evidence is None or rule.evidence.groups >= 10 for rule in book if rule.status is Status.ACTIVE)
    return book


def campaigns(names: Sequence[str], rare: str = "", pages: int = 0, own: str = "id") -> Rows:
    """Forty pages, four URLs each with all the *names*, and *rare* on the first URL of some *pages*."""
    rng = Random(1)
    rows = []
    for i in range(40):
        for copy in range(4):
            junk = [f"{name}={rng.choice(['mail', 'ad', 'social'])}{rng.randrange(40)}" for name in names]
            if i < pages and copy == 0:
                junk.append(f"{rare}=mail{rng.randrange(40)}")
            rows.append((f"http://shop.com/view?{own}={i}&{'&'.join(junk)}", f"page {i}"))
    return rows


def is_dropped(book: RuleBook, name: str, own: str = "id") -> bool:
    page = f"http://shop.com/view?{own}=77"
    return book.equivalent(f"{page}&{name}=mail7", page)


@pytest.mark.parametrize("pages", [0, 2, 5, 8, 12])
def test_a_name_that_was_not_seen_or_hardly_belongs_to_its_family(pages: int) -> None:
    book = learned(campaigns(UTM, "utm_term", pages))
    assert is_dropped(book, "utm_term")
    assert is_dropped(book, "utm_content")
    assert not is_dropped(book, "utmost")
    assert not is_dropped(book, "sort")
    assert not book.equivalent("http://shop.com/view?id=7&utm_term=a1", "http://shop.com/view?id=8&utm_term=a1")
    operations = {key for rule in book for key in rule.ops}
    assert {f"q.{name}" for name in UTM} | {"q.utm_*"} <= operations, "formats without families can say the names"


def test_values_of_a_family_have_the_shape_that_was_seen() -> None:
    book = learned(campaigns(UTM))
    page = "http://shop.com/view?id=7"
    assert not book.equivalent(f"{page}&utm_term=a+whole+sentence,+which+is+longer", page)


def test_a_family_is_none_where_one_of_its_names_is_the_page() -> None:
    book = learned(campaigns(UTM, own="utm_id"))
    assert not is_dropped(book, "utm_term", own="utm_id")
    assert not book.equivalent("http://shop.com/view?utm_id=mail7", "http://shop.com/view?utm_id=mail8")
    assert is_dropped(book, "utm_source", own="utm_id")


def test_a_family_is_none_where_one_of_its_names_was_once_seen_to_matter() -> None:
    rows = [*campaigns(UTM), ("http://shop.com/view?id=3", "page 3"), ("http://shop.com/view?id=3&utm_id=m3", "other")]
    book = learned(rows)
    assert not is_dropped(book, "utm_id")
    assert not is_dropped(book, "utm_term")
    assert is_dropped(book, "utm_source")


@pytest.mark.parametrize("names", [("sid", "sort", "src"), UTM[:2], ("utm_source", "utm_medium", "ref")])
def test_names_that_begin_alike_by_chance_are_no_family(names: Sequence[str]) -> None:
    book = learned(campaigns(names))
    assert all(is_dropped(book, name) for name in names)
    assert not any("*" in key for rule in book for key in rule.ops)


def test_a_single_value_that_means_nothing_makes_no_family() -> None:
    """``page_size=10`` is the default; of other sizes, and of ``page_number``, it says nothing."""
    names = ("page_size", "page_sort", "page_view")
    rows = [
        (f"http://shop.com/list?id={i}{''.join(f'&{name}={value}' for name in shown)}", f"{i} {value if shown else 10}")
        for i in range(30)
        for value in (10, 20, 50)
        for shown in ((), *((name,) for name in names))
        if value == 10 or shown
    ]
    rows = [(url, page if "=10" in url or "page_" not in url else url) for url, page in rows]
    book = learned(rows)
    assert not any(key.endswith("*") for rule in book for key in rule.ops)


def test_a_family_does_not_act_on_a_name_that_the_user_switched_off() -> None:
    off = Rule("shop.com", {}, {"q.utm_term": Ignore()}, Status.OFF)
    book = learned(campaigns(UTM), RuleBook([off]))
    assert not is_dropped(book, "utm_term")
    assert is_dropped(book, "utm_source")


def test_the_prefix_has_to_be_significant() -> None:
    assert families(["utm_source", "utm_medium", "utm_campaign"]) == {
        "utm_": ["utm_campaign", "utm_medium", "utm_source"]
    }
    assert families(["sid", "sort", "src", "show"]) == {}
    assert families([]) == {}


def on_hosts(same: Sequence[str], other: Sequence[str] = ()) -> Rows:
    return [
        (f"http://{host}.site.com/watch?video={i}", f"{host if host in other else 'one'} {i}")
        for i in range(40)
        for host in (*same, *other)
    ]


def is_one_site(book: RuleBook, one: str, other: str) -> bool:
    return book.equivalent(f"http://{one}.site.com/watch?video=77", f"http://{other}.site.com/watch?video=77")


@pytest.mark.parametrize("other", [(), ("en1", "de1", "fr1"), ("shop1", "shop2", "shop3")])
def test_numbers_of_hosts_between_and_after_those_seen(other: Sequence[str]) -> None:
    book = learned(on_hosts(("www1", "www2", "www4", "www5", "www8"), other))
    assert is_one_site(book, "www1", "www3")
    assert is_one_site(book, "www2", "www9")
    assert not is_one_site(book, "www1", "www99")
    for one, another in (("en1", "www1"), ("en1", "de1"), ("shop1", "shop2"), ("shop4", "shop1")):
        assert not is_one_site(book, one, another)


def test_a_number_with_other_content_speaks_against_the_others() -> None:
    book = learned(on_hosts(("www1", "www2", "www4"), ("www3",)))
    assert is_one_site(book, "www1", "www4")
    assert not is_one_site(book, "www1", "www3")
    assert not is_one_site(book, "www1", "www5")


def sections(*spellings: Sequence[str], own: str = "/{}/a{}") -> Rows:
    return [
        (f"http://site.com{own.format(name, i)}", f"{names[0].lower()} {i}")
        for names in spellings
        for i in range(40)
        for name in names
    ]


IN = pytest.mark.parametrize("own", ["/{}/a{}", "/x?section={}&id={}"])
NEWS, SPORT = ("News", "news", "NEWS"), ("Sport", "sport", "SPORT")


def is_one_page(book: RuleBook, one: str, other: str, own: str) -> bool:
    return book.equivalent(*(f"http://site.com{own.format(name, 77)}" for name in (one, other)))


@IN
@pytest.mark.parametrize("spellings", [(NEWS,), (NEWS, ("about",), ("shop",)), (NEWS, SPORT)])
def test_a_spelling_that_nobody_saw(own: str, spellings: Sequence[Sequence[str]]) -> None:
    book = learned(sections(*spellings, own=own))
    assert Lower() in {operation for rule in book for operation in rule.ops.values()}
    assert is_one_page(book, "nEWS", "news", own)
    assert not is_one_page(book, "news", "about", own)


def test_one_value_in_two_spellings_is_named() -> None:
    own = "/{}/a{}"
    book = learned(sections(("News", "news"), ("about",), own=own))
    assert is_one_page(book, "News", "news", own)
    assert not is_one_page(book, "nEWS", "news", own)


@IN
def test_case_that_matters_elsewhere_matters(own: str) -> None:
    book = learned(
        sections(NEWS, ("Jobs",), own=own) + [(url, f"{page} other") for url, page in sections(("jobs",), own=own)]
    )
    assert is_one_page(book, "NEWS", "news", own)
    assert not is_one_page(book, "Jobs", "jobs", own)
    assert not is_one_page(book, "nEWS", "news", own)


@pytest.mark.parametrize("ids", [5, 60])
@IN
def test_ids_whose_case_nobody_tested_speak_against_it(own: str, ids: int) -> None:
    rng = Random(5)
    names = [("".join(rng.choice("ABCDEFGHIJabcdefghij0123") for _ in range(8)),) for _ in range(ids)]
    book = learned(sections(NEWS, ("about",), own=own) + sections(*names, own=own))
    assert is_one_page(book, "NEWS", "news", own)
    assert not is_one_page(book, "AbCdEf12", "aBcDeF12", own)


THINGS = [f"{word}{end}" for word in ("shoe", "hat", "coat", "belt", "sock", "glove") for end in ("s", "box", "es")]
VALUES = pytest.mark.parametrize(
    "value",
    [
        pytest.param(lambda kind, thing: f"/{kind}-{thing}", id="prefix"),
        pytest.param(lambda kind, thing: f"/{thing}_{kind}", id="suffix"),
        pytest.param(lambda kind, thing: f"/go?page={kind}.{thing}", id="parameter"),
    ],
)


@VALUES
def test_the_pipeline_learns_inside_values(value: Callable[[str, str], str]) -> None:
    """The way of showing a page stands before its name, in one value; no number tells where one ends."""
    seen = [
        Observation(f"http://shop.com{value(kind, thing)}", thing, status=200, words=50)
        for i, thing in enumerate(THINGS)
        for j, kind in enumerate(("print", "view", "mobile"))
        if (i + j) % 3 or i % 2
    ]
    book = learn_rules(seen)
    fresh = [f"http://shop.com{value(kind, 'newthing')}" for kind in ("print", "view", "mobile", "other")]
    assert len({book.canonical_key(url) for url in fresh[:3]}) == 1
    assert book.canonical_key(fresh[3]) not in {book.canonical_key(fresh[0]), book.canonical_key(fresh[1])}
    assert not book.equivalent(fresh[0], f"http://shop.com{value('print', 'hats')}")


@VALUES
def test_affixes_that_tell_pages_apart_are_kept(value: Callable[[str, str], str]) -> None:
    seen = []
    for n, (thing, kind) in enumerate(product(THINGS, ("en", "de", "fr"))):
        url = f"http://shop.com{value(kind, thing)}"
        with_session = f"{url}{'&' if '?' in url else '?'}sid={n:032x}"
        seen += [Observation(other, f"{thing} {kind}", status=200, words=50) for other in (url, with_session)]
    book = learn_rules(seen)
    assert len(book)
    for thing in (*THINGS, "newthing"):
        urls = [f"http://shop.com{value(kind, thing)}" for kind in ("en", "de", "fr")]
        assert len({book.canonical_key(url) for url in urls}) == 3
