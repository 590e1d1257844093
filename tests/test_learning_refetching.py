"""What to fetch again: like pages that differ, the page that decides most, nothing twice too often, and nothing where it would not help."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Mask, RuleBook
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.asking.controls import SeenPage, seen_pages, undecided, unequal_pairs
from scrapy_dedup.learning.asking.differing import differing_note
from scrapy_dedup.learning.asking.like_pairs import ALIKE, MIN_WORDS, NEAREST, RAREST, like_pairs
from scrapy_dedup.learning.asking.refetching import MOST_REFETCHES_AT_ONCE, refetches
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.masks.model import Place
from scrapy_dedup.observation import APART, AT_ONCE, KeptPage
from scrapy_dedup.pages.response import fingerprint_body, version_of
from scrapy_dedup.pages.versions import Version
from scrapy_dedup.rules import Ignore, Rule
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store
from tests.test_learning_process import run

from .mask_sites import text_of

SITE = "shop.example"
START = f"http://{SITE}/"
CLOCK = "html/body/p.clock"
NAV = "Home, help and all about the shop that we are"


def html(number: object, *, clock: object = None, layout: str = "p") -> str:
    shown = f"<p class=clock>It is {clock} now</p>" if clock is not None else ""
    return (
        f"<html><body>{shown}<nav>{NAV}</nav><h1>{text_of('title', number, words=4)}</h1>"
        f"<{layout}>{text_of('main', number, words=40)}</{layout}><footer>All rights reserved</footer></body></html>"
    )


def url(directory: str, number: object, query: str = "") -> str:
    return f"{START}{directory}/{number}{query}"


# Which pages are like another one


def page(title: str, *paragraphs: str, noise: int | None = None) -> Version:
    """A page in a frame; with *noise*, more words that change than the page has of its own."""
    random = Random(noise)
    words = "".join(f"<p class=n{each}>{random.random()} {random.random()} {random.random()}</p>" for each in range(6))
    main = "".join(f"<p>{each}</p>" for each in paragraphs)
    return version_of(
        f"<html><body><nav>{NAV}</nav>{words if noise is not None else ''}<h1>{title}</h1>{main}"
        "<footer>All rights reserved by the shop and by its owners</footer></body></html>"
    )


def own(number: int, words: int = 12) -> Version:
    return page(text_of("title", number, words=3), text_of("main", number, words=words))


COMMON, ROWS = text_of("common", words=20), [text_of("row", words=3)] * 100
PARTS = [text_of("main", part, words=20) for part in range(4)]
LIKE: dict[str, tuple[list[Version], list[tuple[int, int]]]] = {
    "none": ([], []),
    "one": ([own(1, words=50)], []),
    "a frame makes no pages alike": ([own(n, words=30) for n in range(60)], []),
    "noise alone": (
        [
            page(text_of("title", n, words=3), text_of("main", n), noise=100 * n + k)
            for n in range(40)
            for k in range(2)
        ],
        [(2 * n, 2 * n + 1) for n in range(40)],
    ),
    "hardly any words of their own": (
        [page(text_of("title", n, words=MIN_WORDS - 1), noise=100 * n + k) for n in range(20) for k in range(2)],
        [],
    ),
    "one text of many": (
        [page(text_of("t", n), COMMON, text_of("m", n, words=200)) for n in range(2)] + [own(n) for n in range(2, 30)],
        [],
    ),
    "a text that stands often counts as often": (
        [page(text_of("t", n), *ROWS, text_of("m", n, words=20)) for n in range(2)] + [own(n) for n in range(2, 30)],
        [(0, 1)],
    ),
    "those with the most in common come first": (
        [page("a", *PARTS), page("b", *PARTS[:2], text_of("other", words=40)), page("c", *PARTS)]
        + [own(n) for n in range(40)],
        [(0, 2), (0, 1), (1, 2)],
    ),
}


@pytest.mark.parametrize("name", LIKE)
def test_pages_are_alike_by_the_rare_texts_that_they_share(name: str) -> None:
    pages, expected = LIKE[name]
    assert [(one, other) for one, other, _ in like_pairs(pages)] == expected


def test_the_pairs_of_a_text_of_many_pages_grow_with_the_pages() -> None:
    found = like_pairs([page(str(n), COMMON if n % 10 == 0 else text_of("main", n)) for n in range(1000)])
    assert {number for one, other, _ in found for number in (one, other)} == set(range(0, 1000, 10))
    assert len(found) <= 100 * (NEAREST + 1) * RAREST


texts = st.integers(0, 12).map(lambda number: text_of("text", number, words=11))
some_pages = st.lists(st.lists(texts, max_size=5).map(lambda found: page("a page", *found)), max_size=NEAREST)


@given(pages=some_pages, data=st.data())
def test_pairs_are_of_two_pages_and_do_not_depend_on_their_order(pages: list[Version], data: st.DataObject) -> None:
    found = like_pairs(pages)
    assert all(one < other and ALIKE <= share <= 1 for one, other, share in found)
    order = data.draw(st.permutations(range(len(pages))))
    again = like_pairs([pages[number] for number in order])
    assert sorted((*sorted((order[one], order[other])), share) for one, other, share in again) == sorted(found)


# Which of them are fetched again


class Pages:
    """Pages of a site, fetched one after the other, each with a clock of its own unless told otherwise."""

    def __init__(self, *steps: tuple[Any, ...]) -> None:
        self.found: list[SeenPage] = []
        for step, *values in steps:
            getattr(self, step)(*values)

    def add(
        self,
        url: str,
        number: object,
        shown: str = "",
        *,
        merged: bool = False,
        later: Sequence[Any] = (),
    ) -> None:
        """Add a page whose fingerprints are its own unless they are told; *later* are (seconds, fingerprint) of further responses."""
        clock = len(self.found) + 1
        shown = shown or f"page {clock}"
        seen = ((float(clock), shown), *((clock + seconds, other or shown) for seconds, other in later))
        version = version_of(html(number, clock=clock))
        is_control = not merged and seen[-1][0] - seen[0][0] >= AT_ONCE
        self.found.append(SeenPage(url, version, seen, len(seen), merged, is_control))

    def start(self, *later: float) -> None:
        """Add the start page, fetched again so many seconds later each."""
        self.add(START, "start", later=[(seconds, "") for seconds in later])

    def singles(self, directory: str, number: int) -> None:
        for each in range(number):
            self.add(url(directory, each), (directory, each))

    def twins(self, directory: str, number: int, differ: bool = True) -> None:
        """Add pages of which each has a twin that differs in the clock, or in nothing."""
        for each in range(number):
            for query in ("", "?sid=1"):
                self.add(url(directory, each, query), (directory, each), "" if differ else f"{directory} {each}")

    def control(self, directory: str, number: object, changed: bool) -> None:
        """Add a page that was fetched again."""
        self.add(url(directory, number), (directory, number), later=[(60.0, f"{directory} {number}" * changed)])

    def merged(self, directory: str, number: int) -> None:
        """Add a page of several URLs that are equal without what does not last."""
        self.add(url(directory, number), (directory, number), merged=True, later=[(60.0, "")])

    def chosen(self, *, masked: bool = False) -> tuple[str, ...]:
        return refetches(self.found, undecided(self.found, unequal_pairs(self.found), masked=masked))


ITEMS, CONTROLS = (
    ("twins", "item", 10),
    [("control", "item", f"control {n}{sid}", True) for n in range(2) for sid in ("", "?sid=1")],
)
QUIET = [("twins", each, 10) for each in "abcde"] + [("control", each, "control", False) for each in "abcd"]
CHOSEN: dict[str, tuple[list[tuple[Any, ...]], str]] = {
    "no pages are alike": ([("start",), ("singles", "item", 30)], ""),
    "like pages are equal": ([("start",), ("twins", "item", 20, False)], ""),
    "the start page first": ([("start",), ITEMS], "/ item item item"),
    "the start page, fetched again at once": ([("start", AT_ONCE / 2), ITEMS], "/ item item item"),
    "a start page that has shown a later time": ([("start", AT_ONCE), ITEMS], "item item item item"),
    "kinds with most pairs": (
        [("start", 60), ("twins", "news", 9), ("twins", "item", 12), ("twins", "blog", 10), ("twins", "tag", 11)],
        "item tag blog news",
    ),
    "a kind with controls gives way": ([("start", 60), ITEMS, ("twins", "blog", 4), *CONTROLS], "blog blog blog item"),
    "a page of each kind that rules have merged comes before like pages": (
        [("start", 60), ITEMS, *[("merged", each, n) for n in (1, 2, 3) for each in ("news", "old")]],
        "news old item item",
    ),
    "merged pages of a kind that was fetched again": (
        [("start", 60), ("merged", "news", 1), ("control", "news", "control", True)],
        "",
    ),
    "pages that act": ([("twins", "cart/add", 10), ("twins", "item", 3)], "item item item"),
    "controls that do not change": (
        [
            ("start", 60),
            ITEMS,
            ("twins", "blog", 4),
            *[("control", "item", f"control{sid}", False) for sid in ("", "?sid=1")],
        ],
        "blog blog blog blog",
    ),
    "some controls that do not change": (QUIET[:-1], "a d e d"),
    "a site on which nothing changes": (QUIET, ""),
    "a site on which something changes": ([*QUIET, ("control", "e", "control", True)], "a e e e"),
}


@pytest.mark.parametrize("name", CHOSEN)
def test_what_is_fetched_again(name: str) -> None:
    steps, expected = CHOSEN[name]
    pages = Pages(*steps)
    assert " ".join(each.split("/")[3] or "/" for each in pages.chosen()) == expected
    assert pages.chosen(masked=True) or name != "a site on which nothing changes"
    pages.found = [replace(each, late=0) for each in pages.found]
    assert pages.chosen() == (), "pages of earlier crawls are not asked for"


@given(seed=st.integers(0, 999))
def test_the_choice_does_not_depend_on_the_order_of_the_pages(seed: int) -> None:
    random = Random(seed)
    pages = Pages(("start", *random.sample([1.0, 60.0], random.randint(0, 1))))
    for directory in ("item", "blog", "cart/add", "tag"):
        pages.twins(directory, random.randint(0, 4))
        if random.random() < 0.3:
            pages.control(directory, "control", random.random() < 0.5)
    before = pages.chosen()
    random.shuffle(pages.found)
    assert pages.chosen() == before
    assert len(set(before)) == len(before) <= MOST_REFETCHES_AT_ONCE
    assert set(before) <= {each.url for each in pages.found}


# From what is kept

BOOK = RuleBook([Rule(SITE, {}, {"q.sid": Ignore()})])


def kept(*fetches: tuple[str, float, str]) -> list[KeptPage]:
    return [KeptPage(each, at, version_of(text)) for each, at, text in fetches]


def test_pages_of_one_key_are_one_page_with_all_its_responses() -> None:
    mask = Mask(SITE, (Place(CLOCK, slot=("It is", "now")),))
    fetches = kept(
        (url("item", 1, "?sid=1"), 10.0, html(1, clock=1)),
        (f"http://{SITE.upper()}/item/1?sid=2", 20.0, html(1, clock=2)),
        (url("item", 2), 30.0, html(2, clock=3)),
    )
    plain, other = seen_pages(fetches, None, BOOK.canonical_key)
    assert plain.url == f"http://{SITE.upper()}/item/1?sid=2", "as it was requested"
    assert (plain.is_control, plain.merged, plain.is_settled, plain.late) == (False, False, False, 2)
    assert (other.is_control, other.late) == (False, 1)
    merged = seen_pages(fetches, mask, BOOK.canonical_key)[0]
    assert (merged.is_control, merged.merged, merged.is_settled) == (False, True, True)
    assert len(seen_pages(fetches, None, RuleBook().canonical_key)) == 3
    days = kept(
        *((url("item", n), at, html(n)) for n, at in ((1, 10.0), (2, 11.0), (1, 20.0 + APART), (1, 80.0 + APART)))
    )
    assert [page.late for page in seen_pages(days, None, str)] == [2, 0], "before a pause they are of an earlier crawl"


def test_urls_that_rules_take_for_one_page_wait_for_a_page_of_their_kind_that_was_fetched_again() -> None:
    """Not each other's texts show what changes there, but those of one URL."""
    mask = Mask(SITE, (Place(CLOCK, slot=("It is", "now")),))
    fetches = [(url("item", 1, f"?sid={sid}"), 10.0 + sid, html(1, clock=sid)) for sid in range(3)]
    other, again = ([(page, at, html(7, clock=at)) for at in (20.0, 30.0)] for page in (url("news", 1), url("item", 7)))
    for further, waits in (([], True), (other, True), (again, False)):
        found = refetches(seen_pages(kept(*fetches, *further), mask, BOOK.canonical_key), [])
        assert found == ((url("item", 1, "?sid=2"),) if waits else ())


def test_where_like_pages_differ_is_said() -> None:
    fetches = kept(*((url("item", f"{n}-{k}"), 1.0, html(n, clock=f"10:{n}{k}")) for n in range(5) for k in range(2)))
    found = seen_pages([*fetches, *kept(*((url("a", n), 1.0, html(("a", n))) for n in range(90)))], None, str)
    note = differing_note(unequal_pairs(found), found, None) or ""
    assert note.startswith(
        '10 of 100 pages are like another one and differ from it in a few words, most often at body > p.clock::text ("It is 10:00 now" and "It is 10:01 now")'
    )
    assert "DEDUP_STARTER" in note
    # What the mask hides there is not said; nor is it worth a line where few pages are alike.
    said = differing_note(unequal_pairs(found), found, Mask(SITE, (Place(CLOCK, slot=("It is", "now")),)))
    assert "clock" not in (said or "clock")
    more = [*found, *seen_pages(kept(*((url("b", n), 1.0, html(("b", n))) for n in range(110))), None, str)]
    assert differing_note(unequal_pairs(more), more, None) is None is differing_note([], found, None)


# From a store


def row(url: str, text: str, time: float) -> ObservationRow:
    found = fingerprint_body(text.encode(), "text/html; charset=utf-8")
    return ObservationRow("", SITE, url, time, 200, fingerprints=found, version=version_of(text).to_bytes())


def learned(store: Store) -> LearnedRulesAndMasks:
    return learn_rules_and_masks(StoredEvidence(store, "", [SITE]), LearningOptions(diagnose=True), known=RuleBook())


def shop(time: float = 1e9, *, drawn: bool = True) -> Iterator[ObservationRow]:
    """A crawl of items, each under two URLs; with *drawn*, a block on each page shows other words each time."""
    yield row(START, html("start", clock=text_of("drawn", -1) if drawn else None), time)
    for number in range(30):
        for session in range(2):
            at = time + 10 * number + session
            clock = text_of("drawn", at, words=3) if drawn else None
            yield row(url("item", number, f"?sid={session}"), html(number, clock=clock), at)


def test_what_is_fetched_again_ends_the_choice(tmp_path: Path) -> None:
    """As a crawl goes on: it fetches what learning names, until pages are equal but for what is transient."""
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(list(shop()))
        both = learned(store)
        asked = list(both.refetches[SITE])
        assert len(both.learned.book) == 0
        assert (asked[0], {each.split("/")[3] for each in asked[1:]}) == (START, {"item"})
        (report,) = both.learned.reports
        assert "60 of 61 pages are like another one" in report.notes[-1]
        assert not any("near-duplicates" in note for note in report.notes)
        done = run("--store", str(tmp_path / "store.sqlite"), "--dir", str(tmp_path / "rules"))
        assert (done.returncode, json.loads(done.stdout)["refetch"]) == (0, {SITE: asked}), done.stderr
        for turn in range(4):
            for place, each in enumerate(both.refetches.get(SITE, ())):
                at = 1e9 + 600 + 60 * turn + place
                number = "start" if each == START else int(each.split("/")[-1].partition("?")[0])
                store.add([row(each, html(number, clock=text_of("drawn", at, words=3)), at)])
            both = learned(store)
            asked += both.refetches.get(SITE, ())
    assert both.refetches == {}
    assert [place.selector for place in both.masks[SITE].places] == [CLOCK]
    assert [report.removed for report in both.learned.reports] == [30]
    assert len(asked) <= 2 * MOST_REFETCHES_AT_ONCE


def test_learning_names_none_where_all_like_pages_are_equal(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(list(shop(drawn=False)))
        both = learned(store)
    assert both.refetches == {}
    assert not any("are like another one" in note for note in both.learned.reports[0].notes)
