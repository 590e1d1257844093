"""Accepted rules, widened to the names, hosts, spellings and parts of values that belong to those that were seen, and no further."""

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import pytest

from scrapy_dedup import RuleBook, learn_rules
from scrapy_dedup.rules import Lower, Status

from .crawling import ignore, save_rules
from .learning import Rows, check, drawn, observed

UTM = ("utm_source", "utm_medium", "utm_campaign")


def learned(rows: Rows, known: RuleBook | None = None) -> RuleBook:
    book = learn_rules(observed(rows, words=80), known=known)
    assert all(rule.evidence is None or rule.evidence.groups >= 10 for rule in book if rule.status is Status.ACTIVE)
    return book


def campaigns(names: Sequence[str], rare: str = "", pages: int = 0, own: str = "id") -> Rows:
    """Forty pages, four URLs each with all the *names*, and *rare* on the first URL of some *pages*."""
    rng = Random(1)
    rows = []
    for i, copy in product(range(40), range(4)):
        junk = [f"{name}={rng.choice(['mail', 'ad', 'social'])}{rng.randrange(40)}" for name in names]
        junk += [f"{rare}=mail{rng.randrange(40)}"] * (i < pages and copy == 0)
        rows.append((f"/view?{own}={i}&{'&'.join(junk)}", f"page {i}"))
    return rows


def of_names(sign: str, *names: str, own: str = "id") -> tuple[str, ...]:
    return tuple(f"/view?{own}=77&{name}=mail7 {sign} /view?{own}=77" for name in names)


def on_hosts(same: Sequence[str], other: Sequence[str] = ()) -> Rows:
    return [
        (f"http://{host}.site.com/watch?video={i}", f"{host if host in other else 'one'} {i}")
        for i in range(40)
        for host in (*same, *other)
    ]


def of_hosts(*sayings: str) -> tuple[str, ...]:
    """What is said of a page on pairs of hosts."""
    parts = [saying.split(" ") for saying in sayings]
    url = "http://{}.site.com/watch?video=77"
    return tuple(f"{url.format(one)} {sign} {url.format(other)}" for one, sign, other in parts)


def sizes() -> Rows:
    """``page_size=10`` is the default; of other sizes, and of ``page_number``, it says nothing."""
    names = ("page_size", "page_sort", "page_view")
    shown = [(), *((name,) for name in names)]
    urls = [
        (i, "".join(f"&{name}={value}" for name in own)) for i in range(30) for value in (10, 20, 50) for own in shown
    ]
    rows = {f"/list?id={i}{more}": f"{i} {'' if more.endswith('=10') else more}" for i, more in urls}
    return list(rows.items())


HOSTS = ("www1", "www2", "www4", "www5", "www8")
BETWEEN = ("www1 == www3", "www2 == www9", "www1 != www99")
OTHERS = ("en1 != www1", "en1 != de1", "shop1 != shop2", "shop4 != shop1")
WIDENED: dict[str, tuple[Any, ...]] = {
    **{
        f"names of which one was seen {pages} times": (
            campaigns(UTM, "utm_term", pages),
            {"q.utm_*", *(f"q.{name}" for name in UTM)},  # formats without families can say the names
            *of_names("==", "utm_term", "utm_content"),
            *of_names("!=", "utmost", "sort"),
            "/view?id=7&utm_term=a1 != /view?id=8&utm_term=a1",
            # Values have the shape that was seen.
            "/view?id=7&utm_term=a+whole+sentence,+which+is+longer != /view?id=7",
        )
        for pages in (0, 2, 12)
    },
    "a name of the family is the page": (
        campaigns(UTM, own="utm_id"),
        set(),
        *of_names("!=", "utm_term", own="utm_id"),
        *of_names("==", "utm_source", own="utm_id"),
        "/view?utm_id=mail7 != /view?utm_id=mail8",
    ),
    "a name of the family was once seen to matter": (
        [*campaigns(UTM), ("/view?id=3", "page 3"), ("/view?id=3&utm_id=m3", "other")],
        set(),
        *of_names("!=", "utm_id", "utm_term"),
        *of_names("==", "utm_source"),
    ),
    **{
        f"names that begin alike by chance: {names}": (
            campaigns(names),
            {f"q.{name}" for name in names},
            *of_names("==", *names),
            *of_names("!=", "soft", "utm_term"),
        )
        for names in (("sid", "sort", "src"), UTM[:2], ("utm_source", "utm_medium", "ref"))
    },
    "a single value that means nothing": (
        sizes(),
        set(),
        "/list?id=99&page_size=20 != /list?id=99",
        "/list?id=99&page_number=10 != /list?id=99",
    ),
    "numbers of hosts": (on_hosts(HOSTS), set(), *of_hosts(*BETWEEN, *OTHERS)),
    "numbers of hosts beside others": (
        on_hosts(HOSTS, ("en1", "de1", "fr1", "shop1", "shop2")),
        set(),
        *of_hosts(*BETWEEN, *OTHERS),
    ),
    "a number with other content": (
        on_hosts(("www1", "www2", "www4"), ("www3",)),
        set(),
        *of_hosts("www1 == www4", "www1 != www3", "www1 != www5"),
    ),
}


@pytest.mark.parametrize("name", WIDENED)
def test_rules_are_widened_to_what_belongs_to_it(name: str) -> None:
    rows, keys, *sayings = WIDENED[name]
    book = learned(rows)
    found = {key for rule in book for key in rule.ops}
    assert keys <= found
    assert any(key.endswith("*") for key in found) is any(key.endswith("*") for key in keys)
    check(book, *sayings)


def test_a_family_does_not_act_on_a_name_that_the_user_switched_off() -> None:
    save_rules("shop.example", ignore("q.utm_term", "off"))
    book = learned(campaigns(UTM), RuleBook.load("dedup-rules"))
    check(book, *of_names("!=", "utm_term"), *of_names("==", "utm_source"))


def sections(*spellings: Sequence[str], own: str = "/{}/a{}") -> Rows:
    return [
        (own.format(name, i), f"{names[0].lower()} {i}") for names in spellings for i in range(40) for name in names
    ]


IN = pytest.mark.parametrize("own", ["/{}/a{}", "/x?section={}&id={}"])
NEWS, SPORT = ("News", "news", "NEWS"), ("Sport", "sport", "SPORT")


def of_sections(own: str, *sayings: str) -> tuple[str, ...]:
    """What is said of an article in pairs of sections."""
    parts = [saying.split(" ") for saying in sayings]
    return tuple(f"{own.format(one, 77)} {sign} {own.format(other, 77)}" for one, sign, other in parts)


@IN
@pytest.mark.parametrize("spellings", [(NEWS,), (NEWS, ("about",), ("shop",)), (NEWS, SPORT)])
def test_a_spelling_that_nobody_saw(own: str, spellings: Sequence[Sequence[str]]) -> None:
    book = learned(sections(*spellings, own=own))
    assert Lower() in {operation for rule in book for operation in rule.ops.values()}
    check(book, *of_sections(own, "nEWS == news", "news != about"))


def test_one_value_in_two_spellings_is_named() -> None:
    book = learned(sections(("News", "news"), ("about",)))
    check(book, *of_sections("/{}/a{}", "News == news", "nEWS != news"))


@IN
def test_case_that_matters_elsewhere_matters(own: str) -> None:
    others = [(url, f"{page} other") for url, page in sections(("jobs",), own=own)]
    book = learned(sections(NEWS, ("Jobs",), own=own) + others)
    check(book, *of_sections(own, "NEWS == news", "Jobs != jobs", "nEWS != news"))


@pytest.mark.parametrize("ids", [5, 60])
@IN
def test_ids_whose_case_nobody_tested_speak_against_it(own: str, ids: int) -> None:
    rng = Random(5)
    names = [("".join(rng.choice("ABCDEFGHIJabcdefghij0123") for _ in range(8)),) for _ in range(ids)]
    book = learned(sections(NEWS, ("about",), own=own) + sections(*names, own=own))
    check(book, *of_sections(own, "NEWS == news", "AbCdEf12 != aBcDeF12"))


THINGS = [f"{word}{end}" for word in ("shoe", "hat", "coat", "belt", "sock", "glove") for end in ("s", "box", "es")]


@pytest.mark.parametrize("value", ["/{0}-{1}", "/{1}_{0}", "/go?page={0}.{1}"], ids=["prefix", "suffix", "parameter"])
def test_the_pipeline_learns_inside_values(value: str) -> None:
    """The way of showing a page stands before its name, in one value; no number tells where one ends. Languages are kept."""
    kinds = ("print", "view", "mobile")
    rows = [
        (value.format(kind, thing), thing)
        for i, thing in enumerate(THINGS)
        for j, kind in enumerate(kinds)
        if (i + j) % 3 or i % 2
    ]
    url = [value.format(kind, "newthing") for kind in (*kinds, "other")]
    check(
        learned(rows),
        *(f"{url[0]} == {each}" for each in url[1:3]),
        *(f"{each} != {url[3]}" for each in url[:2]),
        f"{url[0]} != {value.format('print', 'hats')}",
    )
    apart = [
        (f"{value.format(kind, thing)}{sid}", f"{thing} {kind}")
        for thing, kind in product(THINGS, ("en", "de", "fr"))
        for sid in ("", f"{'&' if '?' in value else '?'}sid={drawn(thing, kind)}")
    ]
    book = learned(apart)
    assert len(book)
    for thing in (*THINGS, "newthing"):
        one, two, three = (value.format(kind, thing) for kind in ("en", "de", "fr"))
        check(book, f"{one} != {two}", f"{one} != {three}", f"{two} != {three}")
