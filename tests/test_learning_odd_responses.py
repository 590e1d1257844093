"""Noise that is seen where no URL can be blamed: how much it is, and what it excuses."""

import random
from collections.abc import Callable, Iterator
from time import monotonic

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.learning.clusters import clusters
from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.learning.noise_floor import NoiseFloor, kind_of

SITE = "http://shop.example.com"
DAY = 86_400.0

Page = Callable[[int, int], tuple[str, str]]
"""(number of the page, number of the visit) -> path and query, what the page is."""


def plain(page: int, visit: int) -> tuple[str, str]:
    return f"/article?id={page}&sid={visit * 7919 + page:08x}{page * 31 + visit:08x}", f"article {page}"


def twice(rng: random.Random, odd: float, pages: int = 60) -> Iterator[Observation]:
    """Pages of six kinds that are asked for in two spellings, which no rule is needed for."""
    for kind in ("news", "press", "help", "about", "people", "jobs"):
        for page in range(pages):
            for url in (f"{SITE}/{kind}/{page}", f"{SITE}:80/{kind}/{page}"):
                yield shown(rng, odd, url, f"{kind} {page}")


def shown(rng: random.Random, odd: float, url: str, page: str, at: float = 0.0) -> Observation:
    """A response that is the page's, or, as often as *odd* says, an error, cut short or a test version."""
    if rng.random() >= odd:
        return Observation(url, page, time=at)
    return Observation(url, rng.choice(("error", f"{page} cut {rng.random()}", f"{page} B")), time=at)


def site(*kinds: Page, odd: float, again: float | None = None, pages: int = 60, visits: int = 4) -> list[Observation]:
    """A crawl of a site with these kinds of pages, in no order; *again* is how odd responses to repeats are."""
    rng = random.Random(5)
    seen = list(twice(rng, odd if again is None else again))
    for make in kinds:
        for page in range(pages):
            for visit in range(1 + page % visits):
                url, what = make(page, visit)
                seen.append(shown(rng, odd, SITE + url, what))
    rng.shuffle(seen)
    return seen


def same(learned: Learned, one: str, other: str) -> bool:
    return learned.book.equivalent(SITE + one, SITE + other)


def sids_are_noise(learned: Learned) -> bool:
    return same(learned, "/article?id=900&sid=0000aaaa0000bbbb", "/article?id=900&sid=0000cccc0000dddd")


@pytest.mark.parametrize("odd", [0.03, 0.08])
def test_noise_that_repeats_show_takes_no_rule_away(odd: float) -> None:
    learned = learn(site(plain, odd=odd))
    assert sids_are_noise(learned)
    assert not same(learned, "/article?id=900", "/article?id=901")
    (report,) = learned.reports
    assert [note for note in report.notes if note.startswith("left out: ")]


def test_what_repeats_do_not_show_is_no_noise() -> None:
    """The same pages, and repeats that are always alike: then what differs is another page."""
    assert not sids_are_noise(learn(site(plain, odd=0.05, again=0.0)))


def test_repeats_of_another_crawl_are_no_measure() -> None:
    """Between crawls pages change: that is no noise of one."""
    rng = random.Random(2)
    seen = []
    for page in range(200):
        for day in range(3):
            text = f"page {page}" if rng.random() > 0.2 else f"page {page} of day {day}"
            seen.append(Observation(f"{SITE}/p/{page}", text, time=day * DAY + page))
    assert clusters(seen).floor == NoiseFloor()


def test_a_kind_of_pages_that_always_changes_says_nothing_of_the_others() -> None:
    rng = random.Random(3)
    front = [("/latest/all", [f"{rng.random()}" for _ in range(30)])]
    others = [(f"{SITE}/{kind}/{page}", ["page", "page"]) for kind in "abcdef" for page in range(40)]
    assert NoiseFloor.of(front + others) == NoiseFloor()
    noisy = [(url, ["page", f"{page}"] if page % 10 == 0 else pages) for page, (url, pages) in enumerate(others)]
    assert NoiseFloor.of(front + noisy) == NoiseFloor.of(noisy)
    assert NoiseFloor.of(noisy).share == pytest.approx(0.05, abs=0.005)


def test_two_odd_responses_are_no_floor() -> None:
    alike = [(f"{SITE}/{page}", ["page", "page"]) for page in range(30)]
    odd = [(f"{SITE}/odd{page}", ["page", "other"]) for page in range(3)]
    assert not NoiseFloor.of([*alike, *odd[:2]]).odd
    assert NoiseFloor.of([*alike, *odd]).odd == 3


def test_of_two_that_differ_one_is_odd() -> None:
    """At a share of one in five 36 % of the pairs differ."""
    pairs = [(f"{SITE}/{page}", ["page", "other" if page % 100 < 36 else "page"]) for page in range(400)]
    floor = NoiseFloor.of(pairs)
    assert (floor.odd, floor.responses) == (144, 800)
    assert floor.share == pytest.approx(0.2, abs=0.001)
    assert floor.usual([2]) == pytest.approx(0.36, abs=0.001)


def language_of_some(page: int, visit: int) -> tuple[str, str]:
    """The language matters for one article in five; each is seen with a session of its own."""
    language = ("en", "de", "fr", "es")[visit % 4]
    what = f"text {page}" + (f" in {language}" if page % 5 == 3 else "")
    return f"/text?id={page}&lang={language}&sid={visit * 7919 + page:016x}", what


def mirror(page: int, visit: int) -> tuple[str, str]:
    """Two editions with the same news, each with imprints of its own."""
    edition = ("us", "uk")[visit % 2]
    if page % 10 == 3:
        return f"/imprint/{page}?edition={edition}", f"imprint {page} {edition}"
    return f"/story/{page}?edition={edition}", f"story {page}"


def two_ways_to_page(page: int, visit: int) -> tuple[str, str]:
    """page=3 and start=20 are the same part of a thread; hardly ever two parts of one are seen."""
    part = (page * 3 + (visit if page % 12 == 3 else 0)) % 5
    query = f"page={part + 1}" if visit % 2 else f"start={10 * part}"
    return f"/thread?t={page}&{query}", f"thread {page} part {part}"


def sold_out(page: int, visit: int) -> tuple[str, str]:
    """A category in the place of items that are sold out, which two thirds are."""
    what = f"category {page}" if (page + visit) % 3 else f"item {page} {visit}"
    return f"/shop?cat={page}&item={visit * 7919 + page:016x}", what


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (language_of_some, "/text?id=3&lang=en", "/text?id=3&lang=de"),
        (mirror, "/imprint/3?edition=us", "/imprint/3?edition=uk"),
        (two_ways_to_page, "/thread?t=3&page=1", "/thread?t=3&page=2"),
        (sold_out, "/shop?cat=3&item=0000aaaa0000bbbb", "/shop?cat=3&item=0000cccc0000dddd"),
    ],
)
def test_pages_do_not_hide_in_noise(make: Page, one: str, other: str) -> None:
    """Beside a kind of pages that is learned through the noise, one whose pages differ as rarely as they can."""
    learned = learn(site(plain, make, odd=0.03))
    assert sids_are_noise(learned)
    assert not same(learned, one, other)


def test_small_pages_are_no_odd_responses_of_a_great_one() -> None:
    """Three in a hundred URLs of a path are other pages: as many as are odd elsewhere, but a value tells which."""
    rng = random.Random(4)
    seen = site(plain, odd=0.03)
    for number in range(600):
        seen.append(shown(rng, 0.03, f"{SITE}/show?p=home&s={rng.getrandbits(64):016x}&v={number % 40}", "home"))
    seen += [Observation(f"{SITE}/show?p=home&v={1000 + page}", f"small {page}", time=0.0) for page in range(20)]
    learned = learn(seen)
    assert sids_are_noise(learned)
    assert not same(learned, "/show?p=home&v=1003", "/show?p=home&v=1004")
    assert not same(learned, "/show?p=home&v=1003", "/show?p=home&v=7&s=0123456789abcdef")


def test_an_error_all_over_the_site_is_no_page() -> None:
    """It has the same text on all kinds of pages: without it they have no counterexample."""
    rng = random.Random(7)
    seen = []
    for kind in ("a", "b", "c", "d", "e", "f"):
        for page in range(30):
            for _ in range(3):
                what = "error" if rng.random() < 0.05 else f"{kind} {page}"
                seen.append(Observation(f"{SITE}/{kind}?id={page}&s={rng.getrandbits(64):016x}", what, time=0.0))
    repeats = list(twice(rng, 0.0))
    repeats = [Observation(one.url, "error" if rng.random() < 0.05 else one.fingerprint, time=0.0) for one in repeats]
    learned = learn(seen + repeats)
    assert same(learned, "/a?id=900&s=0123456789abcdef", "/a?id=900&s=fedcba9876543210")


def test_kinds_of_pages() -> None:
    assert kind_of(f"{SITE}/news/1?x=2") == kind_of("http://www.shop.example.com/news/2")
    assert kind_of(f"{SITE}/news/1") != kind_of(f"{SITE}/help/1")


def on_one_host(page: int, visit: int) -> tuple[str, str]:
    """One host of twelve has parts of its pages, and the others none."""
    host, part = "abcdefghijkl"[page % 12], (page * 5 + visit * 2) % 3
    url = f"http://{host}.example.com/x?p={page}&q={part}"
    return url, f"x {page}" + (f" part {part}" if host == "k" else "")


def in_one_section(page: int, visit: int) -> tuple[str, str]:
    """The order of a list is seen in one section of twenty, which the query names."""
    order = "abc"[(page // 20 + visit) % 3]
    what = f"list {page}" + (f" by {order}" if page % 20 == 0 else "")
    return f"/list?cat={page % 20}&p={page}&sort={order}&sid={visit * 7919 + page:016x}", what


@pytest.mark.parametrize(
    ("make", "one", "other"),
    [
        (on_one_host, "http://k.example.com/x?p=10&q=1", "http://k.example.com/x?p=10&q=2"),
        (in_one_section, f"{SITE}/list?cat=0&p=40&sort=a", f"{SITE}/list?cat=0&p=40&sort=b"),
    ],
)
@pytest.mark.parametrize("odd", [0.03, 0.05, 0.08])
def test_pages_of_one_host_or_section_do_not_hide_in_noise(make: Page, one: str, other: str, odd: float) -> None:
    rng = random.Random(6)
    seen = list(twice(rng, odd))
    for kind in (plain, make):
        for page in range(144):
            for visit in range(1 + page // 12 % 4):
                url, what = kind(page, visit)
                seen.append(shown(rng, odd, url if url.startswith("http") else SITE + url, what))
    assert not learn(seen).book.equivalent(one, other)


def pages_of_comments(rng: random.Random) -> Iterator[Observation]:
    """Six URLs a post, of which one in twenty is a page of its own."""
    for page in range(100):
        for comment in range(1 + page % 6):
            own = f" {comment}" if rng.random() < 0.05 else ""
            yield Observation(f"{SITE}/post/{page}?cid={page * 50 + comment}", f"post {page}{own}", time=900.0)


def lists_that_grow() -> Iterator[Observation]:
    """Lists are all that is asked for again, and one in eight grows in the crawl."""
    for page in range(120):
        for at in range(4):
            yield Observation(f"{SITE}/list/{page}", f"list {page} {at > 1 and page % 8 == 0}", time=100.0 * at)


def two_that_change() -> Iterator[Observation]:
    """Two URLs show now one thing, now another."""
    for page in range(8):
        for at in range(15):
            yield Observation(f"{SITE}/top/{page}", f"top {page} {page < 2 and at % 3 == 0}", time=1.0 * at)


def a_wall_that_goes_up() -> Iterator[Observation]:
    for kind in ("news", "press", "help", "about", "people", "jobs"):
        for page in range(40):
            for at in (0, 1):
                walled = at and page % 4 == 0
                yield Observation(f"{SITE}/{kind}/{page}", "log in" if walled else f"{kind} {page}", time=600.0 * at)


@pytest.mark.parametrize("repeats", [lists_that_grow, two_that_change, a_wall_that_goes_up])
def test_what_is_no_noise_of_the_site_excuses_nothing_elsewhere(repeats: Callable[[], Iterator[Observation]]) -> None:
    learned = learn([*repeats(), *pages_of_comments(random.Random(4))])
    assert not same(learned, "/post/6?cid=300", "/post/6?cid=301")


def test_what_a_url_showed_each_time_is_its_page() -> None:
    always = [Observation(f"{SITE}/a?s=1", "odd", time=float(at)) for at in (0, 1)]
    sometimes = [Observation(f"{SITE}/a?s=2", page, time=float(at)) for at, page in enumerate(("page", "odd"))]
    assert clusters([*always, *sometimes]).steady == {f"{SITE}/a?s=1"}


def test_what_was_not_asked_until_the_deadline_leaves_nothing_out() -> None:
    (report,) = learn(site(plain, odd=0.03), deadline=monotonic() + 0.02).reports
    assert not [note for note in report.notes if note.startswith("left out: ")]
