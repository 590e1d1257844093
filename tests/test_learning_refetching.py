"""What to fetch again: the page that decides most, nothing twice too often, and nothing where it would not help."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Mask, RuleBook
from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.content.versions import Version, version_of
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.asking.controls import SETTLED, SeenPage, seen_pages, undecided, unequal_pairs
from scrapy_dedup.learning.asking.differing import differing_note
from scrapy_dedup.learning.asking.refetching import MOST_REFETCHES_AT_ONCE, refetches
from scrapy_dedup.learning.learning_options import LearningOptions
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.observation import APART, AT_ONCE
from scrapy_dedup.rules import Ignore, Rule
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store
from tests.test_learning_process import run
from tests.test_masks_learning import text_of

SITE = "shop.example"
START = f"http://{SITE}/"
CLOCK = "html/body/p.clock"


def html(number: object, *, clock: object = None, layout: str = "p") -> str:
    shown = f"<p class=clock>It is {clock} now</p>" if clock is not None else ""
    return (
        f"<html><body>{shown}<nav>Home, help and all about the shop that we are</nav><h1>{text_of('title', number, words=4)}"
        f"</h1><{layout}>{text_of('main', number, words=40)}</{layout}><footer>All rights reserved</footer></body></html>"
    )


def url(directory: str, number: object, query: str = "") -> str:
    return f"{START}{directory}/{number}{query}"


class Pages:
    """Pages of a site, fetched one after the other, each with a clock of its own unless told otherwise."""

    def __init__(self) -> None:
        self.found: list[SeenPage] = []
        self.clock = 0

    def add(
        self,
        url: str,
        number: object,
        *,
        carried: str = "",
        verified: str = "",
        again: Sequence[tuple[float, str]] = (),
        layout: str = "p",
    ) -> None:
        """Add a page whose fingerprints are its own unless they are told; *again* are (seconds later, fingerprint)."""
        self.clock += 1
        version = version_of(html(number, clock=self.clock, layout=layout))
        carried = carried or f"page {self.clock}"
        seen = ((float(self.clock), carried), *((self.clock + later, other or carried) for later, other in again))
        self.found.append(SeenPage(url, version, seen, verified or seen[-1][1], len(seen)))

    def twins(self, directory: str, number: int, first: int = 0) -> None:
        """Add pages of which each has a twin that differs in the clock."""
        for each in range(first, first + number):
            self.add(url(directory, each), (directory, each))
            self.add(url(directory, each, "?sid=1"), (directory, each))

    def control(self, directory: str, number: object, *, changed: bool, times: int = 1) -> None:
        """Add a page that was fetched again."""
        again = [(60.0 + each, f"{directory} {number} {each}" if changed else "") for each in range(times)]
        self.add(url(directory, number), (directory, number), again=again)

    def start(self, *later: float) -> None:
        """Add the start page, fetched again so many seconds later each."""
        self.add(START, "start", again=[(each, "") for each in later])

    def chosen(self, *, masked: bool = False) -> tuple[str, ...]:
        return refetches(self.found, undecided(self.found, unequal_pairs(self.found), masked=masked))


@pytest.fixture
def pages() -> Pages:
    return Pages()


def test_nothing_is_chosen_where_no_pages_are_alike(pages: Pages) -> None:
    pages.start()
    for number in range(30):
        pages.add(url("item", number), number)
    assert pages.chosen() == ()


def test_nothing_is_chosen_where_like_pages_are_equal(pages: Pages) -> None:
    pages.start()
    for number in range(20):
        pages.add(url("item", number), number, carried=str(number))
        pages.add(url("item", number, "?sid=1"), number, carried=str(number))
    assert pages.chosen() == ()


@pytest.mark.parametrize("later", [(), (AT_ONCE / 2,)])
def test_the_start_page_comes_first_until_a_clock_has_moved_on_it(pages: Pages, later: tuple[float, ...]) -> None:
    pages.start(*later)
    pages.twins("item", 10)
    assert pages.chosen()[0] == START
    assert len(pages.chosen()) == MOST_REFETCHES_AT_ONCE


def test_the_start_page_that_shows_a_later_time_is_not_asked_again(pages: Pages) -> None:
    pages.start(AT_ONCE)
    pages.twins("item", 10)
    assert START not in pages.chosen()


def test_a_batch_goes_to_different_templates_those_with_most_pairs_first(pages: Pages) -> None:
    pages.start(60)
    for directory, number in (("news", 9), ("item", 12), ("blog", 10), ("tag", 11)):
        pages.twins(directory, number)
    # Each pair is of two templates: with the parameter and without it.
    assert [each.split("/")[3] for each in pages.chosen()] == ["item", "item", "tag", "tag"]
    assert ["sid" in each for each in pages.chosen()] == [False, True, False, True]


def test_a_template_with_controls_gives_way_to_others(pages: Pages) -> None:
    pages.start(60)
    pages.twins("item", 10)
    pages.twins("blog", 4)
    for number in range(2):
        pages.control("item", f"control {number}", changed=True)
        pages.control("item", f"control {number}?sid=1", changed=True)
    assert [each.split("/")[3] for each in pages.chosen()] == ["blog", "blog", "item", "item"]


def test_merges_that_wait_to_be_verified_come_before_like_pages(pages: Pages) -> None:
    pages.start(60)
    pages.twins("item", 10)
    for number in range(3):
        for directory in ("news", "old") if number else ("news",):
            for query in ("", "?sid=1"):
                pages.add(
                    url(directory, number, query),
                    (directory, number),
                    carried=f"{directory} {number}",
                    verified=f"{directory} {number} {query}",
                )
    waiting = [each.split("/")[3] for each in pages.chosen()]
    assert waiting == ["news", "news", "old", "old"]


def test_of_those_that_wait_one_with_the_most_common_places_is_chosen(pages: Pages) -> None:
    for number, layout in enumerate(("div", "pre", "pre", "div", "pre")):
        for query in ("", "?sid=1"):
            name = f"{number}{query}"
            pages.add(url("news", name), number, carried=str(number), verified=f"all of {name}", layout=layout)
    assert pages.chosen() == (url("news", 1), url("news", "1?sid=1"))


def test_of_pages_that_only_what_was_carried_over_makes_one_each_set_of_places_is_asked_once(pages: Pages) -> None:
    for directory, layout in (("news", "div"), ("old", "div"), ("item", "pre"), ("blog", "div")):
        for number in range(3):
            pages.add(url(directory, number), (directory, number), layout=layout)
    pages.found = [replace(page, unproven=True) for page in pages.found]
    assert pages.chosen() == (url("blog", 0), url("item", 0))


def test_what_was_verified_does_not_wait(pages: Pages) -> None:
    for number in range(5):
        for query in ("", "?sid=1"):
            pages.add(url("news", number, query), number, carried=str(number))
    assert pages.chosen() == ()


def test_a_page_that_was_fetched_again_twice_is_not_chosen(pages: Pages) -> None:
    for number in range(3):
        for query in ("", "?sid=1"):
            name = f"{number}{query}"
            again = [(60.0, ""), (90.0, "")][: 2 - number]
            pages.add(url("news", name), number, carried=str(number), verified=f"all of {name}", again=again)
    assert pages.chosen() == (url("news", 2), url("news", "2?sid=1"))
    pages.found = [page for page in pages.found if "/2" not in page.url]
    assert pages.chosen() == (url("news", 1), url("news", "1?sid=1"))
    pages.found = [page for page in pages.found if "/1" not in page.url]
    assert pages.chosen() == ()


def test_pages_that_act_and_those_of_earlier_crawls_are_not_asked_for(pages: Pages) -> None:
    pages.twins("cart/add", 10)
    pages.twins("item", 3)
    assert {each.split("/")[3] for each in pages.chosen()} == {"item"}
    pages.found = [replace(page, late=0) for page in pages.found]
    assert pages.chosen() == ()


def test_a_template_whose_controls_do_not_change_has_content_that_differs(pages: Pages) -> None:
    pages.start(60)
    pages.twins("item", 10)
    pages.twins("blog", 4)
    pages.control("item", "control", changed=False)
    pages.control("item", "control?sid=1", changed=False)
    assert {each.split("/")[3] for each in pages.chosen()} == {"blog"}


def test_a_site_on_which_nothing_changes_is_left_alone(pages: Pages) -> None:
    directories = list("abcdefgh"[: SETTLED + 1])
    for directory in directories:
        pages.twins(directory, 10)
    *quiet, last, other = directories
    for directory in quiet:
        pages.control(directory, "control", changed=False)
    assert pages.chosen()
    pages.control(last, "control", changed=False)
    assert pages.chosen() == ()
    # Where a mask makes the controls equal, something is transient on the site.
    assert pages.chosen(masked=True)
    pages.control(other, "control", changed=True)
    assert pages.chosen()


@given(seed=st.integers(0, 999))
def test_the_choice_does_not_depend_on_the_order_of_the_pages(seed: int) -> None:
    random = Random(seed)
    pages = Pages()
    pages.start(*random.sample([1.0, 60.0], random.randint(0, 1)))
    for directory in ("item", "blog", "cart/add", "tag"):
        pages.twins(directory, random.randint(0, 4))
        if random.random() < 0.3:
            pages.control(directory, "control", changed=random.random() < 0.5)
    before = pages.chosen()
    random.shuffle(pages.found)
    assert pages.chosen() == before
    assert len(set(before)) == len(before) <= MOST_REFETCHES_AT_ONCE
    assert set(before) <= {page.url for page in pages.found}
    assert all(pair.one.url != pair.other.url for pair in unequal_pairs(pages.found))


# From what is kept


def kept(*fetches: tuple[str, float, str]) -> list[tuple[str, float, Version]]:
    return [(each, at, version_of(text)) for each, at, text in fetches]


def test_pages_of_one_key_are_one_page_with_all_its_responses() -> None:
    book = RuleBook([Rule(SITE, {}, {"q.sid": Ignore()})])
    mask = Mask(SITE, (TransientPath(CLOCK, slot=("It is", "now")),))
    fetches = kept(
        (url("item", 1, "?sid=1"), 10.0, html(1, clock=1)),
        (f"http://{SITE.upper()}/item/1?sid=2", 20.0, html(1, clock=2)),
        (url("item", 2), 30.0, html(2, clock=3)),
    )
    plain, other = seen_pages(fetches, None, book.canonical_key)
    assert plain.url == f"http://{SITE.upper()}/item/1?sid=2", "as it was requested"
    assert (plain.is_control, plain.is_settled, plain.late) == (True, False, 2)
    assert (other.is_control, other.late) == (False, 1)
    masked, _ = seen_pages(fetches, mask, book.canonical_key)
    assert masked.is_settled
    assert len(seen_pages(fetches, None, RuleBook().canonical_key)) == 3


@pytest.mark.parametrize("typed", [False, True])
def test_urls_that_rules_take_for_one_page_wait_for_a_page_that_was_fetched_again(typed: bool) -> None:
    """Not each other's texts show what changes there, but those of one URL, of the same template or with the same places."""
    book = RuleBook([Rule(SITE, {}, {"q.sid": Ignore()})])
    mask = Mask(SITE, (TransientPath(CLOCK, slot=("It is", "now"), typed=typed, everywhere=True),))
    fetches = [(url("item", 1, f"?sid={sid}"), 10.0 + sid, html(1, clock=sid)) for sid in range(3)]

    def waiting(*further: tuple[str, float, str]) -> tuple[str, ...]:
        return refetches(seen_pages(kept(*fetches, *further), mask, book.canonical_key), [])

    assert waiting() == (url("item", 1, "?sid=2"),)
    other = [(url("news", 1), at, html(7, clock=at, layout="pre")) for at in (20.0, 30.0)]
    assert waiting(*other) == (url("item", 1, "?sid=2"),)
    assert not waiting(*[(url("news", 1), at, html(7, clock=at)) for at in (20.0, 30.0)])
    assert not waiting((url("item", 1, "?sid=0"), 20.0, html(1, clock=20)))


def test_responses_before_a_pause_are_of_an_earlier_crawl() -> None:
    fetches = kept(
        (url("item", 1), 10.0, html(1)),
        (url("item", 2), 11.0, html(2)),
        (url("item", 1), 20.0 + APART, html(1)),
        (url("item", 1), 80.0 + APART, html(1)),
    )
    assert [page.late for page in seen_pages(fetches, None, str)] == [2, 0]


# In words


def test_where_like_pages_differ_is_said() -> None:
    fetches = kept(*((url("item", f"{n}-{k}"), 1.0, html(n, clock=f"10:{n}{k}")) for n in range(5) for k in range(2)))
    found = seen_pages([*fetches, *kept(*((url("a", n), 1.0, html(("a", n))) for n in range(90)))], None, str)
    note = differing_note(unequal_pairs(found), found, None)
    assert note is not None
    assert note.startswith(
        '10 of 100 pages are like another one and differ from it in a few words, most often at body > p.clock::text ("It is 10:00 now" and "It is 10:01 now")'
    )
    assert "DEDUP_STARTER" in note
    # What the mask hides there is not said; nor is it worth a line where few pages are alike.
    mask = Mask(SITE, (TransientPath(CLOCK, slot=("It is", "now")),))
    said = differing_note(unequal_pairs(found), found, mask)
    assert said is not None
    assert "clock" not in said
    more = [*found, *seen_pages(kept(*((url("b", n), 1.0, html(("b", n))) for n in range(110))), None, str)]
    assert differing_note(unequal_pairs(more), more, None) is None
    assert differing_note([], found, None) is None


# From a store


def row(url: str, text: str, time: float) -> ObservationRow:
    found = fingerprint_body(text.encode(), "text/html; charset=utf-8")
    return ObservationRow("", SITE, url, time, 200, fingerprints=found, version=version_of(text).to_bytes())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "store.sqlite") as found:
        yield found


def learned(store: Store, *, diagnose: bool = False) -> LearnedRulesAndMasks:
    return learn_rules_and_masks(
        StoredEvidence(store, "", [SITE]), LearningOptions(diagnose=diagnose), known=RuleBook()
    )


def shop(time: float = 1e9, *, drawn: bool = True) -> Iterator[ObservationRow]:
    """A crawl of items, each under two URLs; with *drawn*, a block on each page shows other words each time."""
    yield row(START, html("start", clock=text_of("drawn", -1) if drawn else None), time)
    for number in range(30):
        for session in range(2):
            at = time + 10 * number + session
            clock = text_of("drawn", at, words=3) if drawn else None
            yield row(url("item", number, f"?sid={session}"), html(number, clock=clock), at)


def test_learning_names_the_pages_to_fetch_again(store: Store) -> None:
    store.add(list(shop()))
    both = learned(store, diagnose=True)
    assert len(both.learned.book) == 0
    first, *others = both.refetches[SITE]
    assert first == START
    assert others
    assert all("/item/" in each for each in others)
    (report,) = both.learned.reports
    assert "60 of 61 pages are like another one" in report.notes[-1]
    assert not any("near-duplicates" in note for note in report.notes)


def test_learning_names_none_where_all_like_pages_are_equal(store: Store) -> None:
    store.add(list(shop(drawn=False)))
    both = learned(store, diagnose=True)
    assert both.refetches == {}
    assert not any("are like another one" in note for note in both.learned.reports[0].notes)


def test_what_is_fetched_again_ends_the_choice(store: Store) -> None:
    """As a crawl goes on: it fetches what learning names, until pages are equal but for what is transient."""
    store.add(list(shop()))
    asked: list[str] = []
    for turn in range(4):
        named = learned(store).refetches.get(SITE, ())
        for place, each in enumerate(named):
            at = 1e9 + 600 + 60 * turn + place
            number = "start" if each == START else int(each.split("/")[-1].partition("?")[0])
            store.add([row(each, html(number, clock=text_of("drawn", at, words=3)), at)])
        asked += named
        if not named:
            break
    both = learned(store)
    assert both.refetches == {}
    assert [path.selector for path in both.masks[SITE].paths if path.is_left_out] == [CLOCK]
    assert [report.removed for report in both.learned.reports] == [30]
    assert len(asked) <= 2 * MOST_REFETCHES_AT_ONCE


def test_the_learning_process_tells_them(store: Store, tmp_path: Path) -> None:
    store.add(list(shop()))
    done = run("--store", str(tmp_path / "store.sqlite"), "--dir", str(tmp_path / "rules"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["refetch"] == {SITE: list(learned(store).refetches[SITE])}
