"""Sites on which few groups, or few pages of one kind, hide what a rule would lose: what holds is learned, and where it holds not it is kept."""

from collections.abc import Iterable
from random import Random
from typing import Any

import pytest

from scrapy_dedup import learn_rules

from .benchmarks.methods.compared import pipeline
from .benchmarks.scoring.trials import UNSEEN, Grade, Training, trials
from .benchmarks.sites.levels import level_knobs, sites_of
from .benchmarks.sites.model import Knobs
from .benchmarks.sites.traps import TRAPS
from .learning import Rows, check, drawn, learned, lost, observed, saved
from .small_sites import learned as learned_of_site
from .small_sites import lost_pages

VIEWS = ("grid", "list", "full")
LETTERS = "abcdefghijklmnopqrstuvwxyz"
INNER = "http%3A%2F%2Fshop.example%2Fv%3Fv%3D{}%26w%3D{}"
NEWS = [(f"/x/news?id={i}&view={view}", f"news {i}") for i in range(20) for view in VIEWS]
THREADS = [(f"/thread?tid={i}{order}", f"thread {i}") for i in range(40) for order in ("", "&sort=date")]
PRODUCTS = [(f"/p?id={i}&sid={drawn('p', i, n, digits=16)}", f"page {i}") for i in range(300) for n in range(3)]


def versions(pages: int, documents: int, more: Iterable[str] = ("",)) -> Rows:
    """``v`` says nothing of products, and everything of documents."""
    rows = [(f"/p?id={i}{v}", f"page {i}") for i in range(pages) for v in ("", "&v=1", "&v=2")]
    return rows + [(f"/doc?v={j}{x}", f"document {j}") for j in range(documents) for x in more]


def reports(pages: int) -> Rows:
    """News under three views each, of which none matters; and reports, of which each was met once."""
    return NEWS + [(f"/x/report?id={i}&view={VIEWS[i % 3]}", f"report {i} {VIEWS[i % 3]}") for i in range(pages)]


def mirrors(path: str, others: str) -> Rows:
    """News that two hosts have alike, and others that each of them has of its own."""
    rows = [(f"http://{host}.shop.example{path}/{i}", f"news {i}") for i in range(20) for host in ("de", "us")]
    return rows + [
        (f"http://{host}.shop.example{others}/{host}{i}", f"{host} {i}") for i in range(4) for host in ("de", "us")
    ]


def prices(number: int) -> Rows:
    """Threads by date, which is the default, and some by price, of each of which one URL is known."""
    return THREADS + [(f"/thread?tid={i}&sort=price", f"prices {i}") for i in range(900, 900 + number)]


def sections(same: Iterable[int], differ: Iterable[int] = (), names: str = "abcdefgh") -> Rows:
    """So many pages in each section under two values of ``v``, the same page or in the later sections another one."""
    numbers = [*((number, "") for number in same), *((number, "{}") for number in differ)]
    return [
        (f"/{section}?id={i}&v={v}", f"{section} {i} {shown.format(v)}")
        for section, (number, shown) in zip(names, numbers, strict=False)
        for i in range(number)
        for v in ("one", "two")
    ]


SITES: dict[str, tuple[Any, ...]] = {
    "one bad group of many pages": (versions(400, 80), "/doc?v=1 != /doc?v=2"),
    "it is guarded and not given up": (
        versions(500, 100, ("", "&z=1")),
        "/p?id=9999&v=1 == /p?id=9999&v=2",
        "/doc?v=1 != /doc?v=2",
    ),
    "blame is not divided among the values of a key": (
        [(f"/p?id={i}{v}", f"page {i}") for i in range(100) for v in ("", *(f"&v={j}" for j in range(1, 9)))]
        + [(f"/doc?v={j}", f"document {j}") for j in range(1, 9)],
        "/doc?v=1 != /doc?v=2",
    ),
    "a page is lost in one section only": (
        [(f"/p?id={i}{v}", f"page {i}") for i in range(1000) for v in ("", "&print=1")]
        + [(f"/legal?doc={i}{v}", f"text {i}{v}") for i in range(5) for v in ("", "&print=1")],
        "/legal?doc=9 != /legal?doc=9&print=1",
    ),
    "a free title says nothing of another section": (
        [(f"/product/{i}-{title}{i}", f"page {i}") for i in range(200) for title in ("red-shoe", "blue-")]
        + [("/", "home"), ("/about", "about"), ("/contact", "contact")],
        "/product/900-a-title == /product/900-b-title",
        "/product/900-a-title != /product/901-a-title",
        "/news/2024-summer != /news/2024-winter",
    ),
    "a constant that was never put to the test": (
        [(f"/{kind}/{i}?id={i}&v={v}", f"{kind} {i}") for kind in "pq" for i in range(100) for v in (1, 2, 3)]
        + [(f"/r/{i}?id={i}&v=1&s={s}", f"third {i}") for i in range(20) for s in "ab"],
        "/p/7777?id=7777&v=1 == /p/7777?id=7777&v=2",
        "/r/7?id=7&v=1 != /r/7?id=7&v=2",
    ),
    **{
        f"a kind of {pages} pages that was never tested": (
            reports(pages),
            "/x/news?id=99&view=grid == /x/news?id=99&view=list",
            "/x/report?id=99&view=grid != /x/report?id=99&view=list",
        )
        for pages in (0, 2, 8, 100)
    },
    "names that are made up for each URL": (
        [(f"/p?id={i // 2}&sid={i:032x}", f"page {i // 2}") for i in range(400)]
        + [(f"/odd?k{i:x}f={i}", f"odd {i}") for i in range(200)],
        f"/p?id=7&sid={7:032x} == /p?id=7&sid={8:032x}",
        "/odd?k1f=1 != /odd?k2f=2",
    ),
    **{
        f"a default beside {number} pages of another value": (
            prices(number),
            "/thread?tid=999&sort=date == /thread?tid=999",
            "/thread?tid=999&sort=price != /thread?tid=999",
        )
        for number in (2, 20)
    },
    "an empty value says nothing of words": (
        [(f"/find?id={i}{more}", f"item {i}") for i in range(20) for more in ("", "&q=")]
        + [(f"/find?id={i}&q=word{i}", f"found {i}") for i in range(100, 120)],
        "/find?id=7&q= == /find?id=7",
        "/find?id=7&q=other != /find?id=7",
    ),
    **{
        f"mirrors that differ in {others}": (
            mirrors(path, others),
            f"http://de.shop.example{path}/99 == http://us.shop.example{path}/99",
            f"http://de.shop.example{others}/x != http://us.shop.example{others}/x",
        )
        for path, others in (("/news", "/imprint"), ("/m/news", "/m/imprint"))
    },
    "values of one shape of which one matters": (
        [
            (f"/i?id={i}&mode={mode}&sid={drawn(i, mode, n)}", f"item {i} {shown}")
            for i in range(60)
            for mode, shown in (
                (LETTERS[i % 26], "z" * (i % 26 == 25)),
                (LETTERS[(i + 7) % 26], "z" * (i % 26 == 18)),
                ("z", "z"),
                ("full", "full"),
            )
            for n in range(2)
        ],
        f"/i?id=99&mode=a&sid={drawn(1)} == /i?id=99&mode=a&sid={drawn(2)}",
        "/i?id=99&mode=a != /i?id=99&mode=z",
        "/i?id=99&mode=a != /i?id=99&mode=full",
    ),
    "a key that makes no difference to what another one leads to": (
        [(f"/v?v={i}&w={w}", f"video {i}") for i in range(30) for w in (i, 7000 + i)]
        + [(f"/go?url={INNER.format(i, w)}", f"go {i}") for i in range(30) for w in (i, 7000 + i)]
        + [(f"/go?url={INNER.format(i, 8000 + i)}&from={300 + i}", f"go {i}") for i in range(30)],
        f"/go?url={INNER.format(99, 1)} == /go?url={INNER.format(99, 2)}",
        f"/go?url={INNER.format(99, 1)}&from=123 == /go?url={INNER.format(99, 2)}&from=321",
        f"/go?url={INNER.format(99, 1)} != /go?url={INNER.format(98, 1)}",
    ),
    "a section of one page beside three alike": (
        sections([20, 20, 20, 1]),
        "/a?id=99&v=one == /a?id=99&v=two",
        "/d?id=9&v=one == /d?id=9&v=two",
    ),
    "a section of one page by itself": (sections([1]), "/a?id=99&v=one != /a?id=99&v=two"),
    "one exception among sections": (
        sections([20, 20, 20, 2], [12]),
        "/a?id=99&v=one == /a?id=99&v=two",
        "/d?id=99&v=one == /d?id=99&v=two",
        "/e?id=99&v=one != /e?id=99&v=two",
        "/new?id=99&v=one != /new?id=99&v=two",
    ),
    "sections that differ speak for none but themselves": (
        sections([20, 1], [12, 12]),
        "/a?id=99&v=one == /a?id=99&v=two",
        "/b?id=99&v=one != /b?id=99&v=two",
        "/c?id=99&v=one != /c?id=99&v=two",
    ),
    "segments that another one leads past": (
        [(f"/shop/{i}{kind}/x{i}", f"shoe {i}") for i in range(40) for kind in ("", "/shoes")]
        + [(f"/shop/{i}/boots/x{i}", f"boot {i}") for i in range(40)],
        "/shop/99/shoes/x99 == /shop/99/x99",
        "/shop/99/boots/x99 != /shop/99/x99",
    ),
}


@pytest.mark.parametrize("name", SITES)
def test_what_holds_is_learned_where_it_holds(name: str) -> None:
    rows, *sayings = SITES[name]
    check(learned(rows), *sayings)


def hosts_of(sections: int) -> Rows:
    """So many sections that two hosts show alike, and a shop of which each page was seen under one of them."""
    rows = [
        (f"http://{host}.forms.example/part{section}/{item}", f"part {section} {item}")
        for section in range(sections)
        for item in range(6)
        for host in ("www", "m")
    ]
    return rows + [(f"http://{('www', 'm')[item % 2]}.forms.example/shop/{item}", f"shop {item}") for item in range(20)]


@pytest.mark.parametrize(("sections", "sign"), [(1, "!="), (4, "!="), (8, "==")])
def test_a_form_holds_in_a_section_that_was_not_seen_once_many_others_are_alike(sections: int, sign: str) -> None:
    form = "http://{}.forms.example/{}/77"
    book = learned(hosts_of(sections))
    check(book, *(f"{form.format('www', f'part{n}')} == {form.format('m', f'part{n}')}" for n in range(sections)))
    check(book, f"{form.format('www', 'shop')} {sign} {form.format('m', 'shop')}")


# Among odd responses


def passed_on(pages: int, names: int) -> Rows:
    """Pages under keys that say nothing, a third of them on each URL."""
    rng = Random(1)
    return [
        (
            f"/v?id={i}&" + "&".join(f"k{key}={rng.randrange(10**6)}" for key in rng.sample(range(names), names // 3)),
            f"page {i}",
        )
        for i in range(pages)
        for _ in range(4)
    ]


def books() -> Rows:
    """Books with an empty hint, or without, and some with one that leads elsewhere."""
    rng, rows = Random(7), dict[str, str]()
    for number in range(150):
        url = f"/copy?isbn={number * 37 + 1000}"
        for _ in range(3):
            rows[url + rng.choice(("", "&hint=")) + rng.choice(("", "&peek"))] = f"book {number}"
        if number % 4 == 0:
            name = rng.choice(("de", "en", "es", "fr"))
            rows[f"{url}&hint={name}"] = f"book {number} {name}"
    return list(rows.items())


def calendar() -> Rows:
    """Months, in which the day says nothing; and of few months the days, of which two were seen."""
    rng = Random(5)
    months = {
        f"/cal?year={year}&month={month}&day={rng.randint(1, 28)}&view=month&ref={rng.randint(1, 9)}": f"month {year} {month}"
        for month in range(1, 13)
        for year in range(2010, 2022)
        for _ in range(2)
    }
    days = {
        f"/cal?year={2010 + n}&month={n + 1}&day={day}&view=day&ref={ref}": f"day {n} {day}"
        for n in range(8)
        for day in rng.sample(range(1, 29), 2)
        for ref in rng.sample(range(1, 10), 2)
    }
    return list((months | days).items())


def notes() -> Rows:
    rng = Random(3)
    urls = [
        (f"http://{rng.choice(('www.', ''))}forms.example/note/{n * 13}-{n % 7}{rng.choice(('', '/'))}", f"note {n}")
        for n in range(60)
        for _ in range(3)
    ]
    return list(dict(urls).items())


def products(urls: int, key: str = "lang") -> Rows:
    rng = Random(4)
    return [
        (f"/p?id={i}&{key}={rng.choice(('en', 'de', 'fr', 'it'))}&sid={drawn(i, n, digits=16)}", f"product {i}")
        for i in range(300)
        for n in range(urls)
    ]


NOISY: dict[str, tuple[Any, ...]] = {
    "an empty value is none": (
        books(),
        0.03,
        0.95,
        "/copy?isbn=7&hint= == /copy?isbn=7",
        "/copy?isbn=7&hint=en != /copy?isbn=7",
    ),
    "hosts and slashes are forms": (
        notes(),
        0.03,
        0.95,
        "http://www.forms.example/note/7-7/ == http://forms.example/note/7-7",
        "http://forms.example/note/7-7 != http://forms.example/note/8-7",
    ),
    "hosts of their own pages": (
        [
            (f"http://{city}.forms.example/note/{n}?s={s}", f"{city} {n if n % 10 else 'imprint'}")
            for city in ("bonn", "kiel", "ulm")
            for n in range(40)
            for s in ("a", "b")
        ],
        0,
        0.9,
        "http://bonn.forms.example/note/7 != http://kiel.forms.example/note/7",
    ),
    "a key that names pages under one value of another": (
        calendar(),
        0.03,
        0.8,
        "/cal?year=2030&month=1&day=1&view=month == /cal?year=2030&month=1&day=2&view=month",
        "/cal?year=2030&month=1&day=1&view=day != /cal?year=2030&month=1&day=2&view=day",
    ),
    "each odd page beside URLs that differ in all keys": (
        passed_on(250, 15),
        0.001,
        0.99,
        "/v?id=999&k1=12345 == /v?id=999&k2=54321",
        "/v?id=998 != /v?id=999",
    ),
    "odd pages at any value": (
        products(5),
        0.001,
        0.99,
        f"/p?id=999&lang=en&sid={7:016x} == /p?id=999&lang=de&sid={8:016x}",
        "/p?id=998 != /p?id=999",
    ),
    "a gallery that is another one each time": (
        PRODUCTS
        + [(f"/gallery?id={i}&sid={drawn(i, n, digits=16)}", f"gallery {i} {n}") for i in range(300) for n in range(3)],
        0,
        0.99,
        f"/p?id=999&sid={7:016x} == /p?id=999&sid={8:016x}",
        f"/gallery?id=7&sid={7:016x} != /gallery?id=7&sid={8:016x}",
    ),
    "prices that changed while they were crawled": (
        PRODUCTS
        + [
            (f"/prices?of={i}&sid={drawn(i, n, digits=16)}", f"prices {i} {n % 2}")
            for i in range(200)
            for n in range(6)
        ],
        0,
        0.4,
        f"/p?id=999&sid={7:016x} == /p?id=999&sid={8:016x}",
        f"/prices?of=7&sid={7:016x} != /prices?of=7&sid={8:016x}",
    ),
    "a page that shows twice": (
        passed_on(250, 24) + [(f"/v?id={i}&k0=1&k{key}=12", f"special {i}") for i in (5, 6, 7) for key in (1, 2)],
        0,
        0.5,
        "/v?id=5&k4=34567&k1=12345 == /v?id=5&k3=77777",
        "/v?id=5&k0=1&k1=12 != /v?id=5&k3=77",
    ),
}


@pytest.mark.parametrize("name", NOISY)
def test_odd_responses_hide_neither_what_holds_nor_pages(name: str) -> None:
    rows, noise, least, *sayings = NOISY[name]
    rng = Random(1)
    book = learn_rules(observed((url, f"{page} {url}" if rng.random() < noise else page) for url, page in rows))
    assert not lost(book, rows)
    assert saved(book, rows) >= least
    check(book, *sayings)


@pytest.mark.parametrize(("noise", "least"), [(0.0, 0.8), (0.03, 0.65)])
def test_where_a_parameter_means_something_else_in_each_section(noise: float, least: float) -> None:
    losses = pages = removed = duplicates = 0
    for seed in range(6):
        book, rows = learned_of_site(seed, noise)
        keys, known = {book.canonical_key(url) for url, _ in rows}, {page for _, page in rows}
        losses += len(lost_pages(book, rows))
        pages += len(known)
        duplicates += len(rows) - len(known)
        removed += len(rows) - len(keys)
    assert losses <= 0.001 * pages
    assert removed >= least * duplicates


# The made-up sites of the benchmark, one by one


def graded(name: str, seed: int = 0, share: float | None = None, **knobs: float) -> Grade:
    """The grade of the pipeline on a site of one kind, on pages that it never saw."""
    (site,) = sites_of("L0", seed, level_knobs("L0", Knobs(**knobs)), [name])
    (trial,) = trials("L0", site, {"pipeline": pipeline}, Training(share), UNSEEN)
    return next(grade for grade in trial.grades if grade.endpoint == name)


@pytest.mark.parametrize("name", ["D7", "D15", "D16", "D20", "T3", "T16", "T24", "D25"])
def test_nothing_is_lost_and_phenomena_are_merged(name: str) -> None:
    """A third of D25 is declared by redirects alone, which are aliases in the crawl; of T24 a wall could show the same."""
    grade = graded(name, seed=int(name in {"D15", "T3"}))
    assert (grade.wrong, grade.lost) == (0, 0)
    assert grade.passed or name in {"T24", "D25"}
    assert name != "D25" or 0.85 < grade.share < 1


@pytest.mark.parametrize("name", sorted(TRAPS.keys() - {"T22", "T24"}, key=lambda name: int(name[1:])))
def test_little_evidence_loses_no_page(name: str) -> None:
    for share in (0.1, 0.3):
        grade = graded(name, share=share, pages=120)
        assert grade.lost <= max(grade.allowed, grade.lost_anyway)
