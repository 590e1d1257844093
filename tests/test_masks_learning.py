"""What passes on pages, learned from versions: each case that must be found, and each trap that must stay."""

from collections.abc import Callable
from random import Random
from typing import Any

import pytest

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.masks.files import load_mask, save_mask
from scrapy_dedup.masks.model import Place
from scrapy_dedup.pages.response import version_of

WORDS = [
    a + b + c
    for a in ("al", "be", "cor", "di", "fen", "gru", "hol")
    for b in ("da", "mi", "ro", "tu")
    for c in ("n", "rk", "st", "x")
]


def text_of(*names: object, words: int = 12) -> str:
    """Words that are always the same for the same names."""
    return " ".join(Random(repr(names)).choices(WORDS, k=words))


def page_of(page: int, extra: str, main: str | None = None) -> str:
    """A page with a header, a text of its own, and *extra*."""
    return (
        f"<html><body><div class=head><a href=/>Home</a><a href=/help>Help</a></div>{extra}"
        f"<div class=main><h1>{text_of('title', page, words=4)}</h1><p>{main or text_of('main', page, words=60)}</p></div>"
        "<p class=foot>All rights reserved</p></body></html>"
    )


def pages_of(
    extra: Callable[[int, int], str], pages: int = 8, versions: int = 2, template: str = "item", first: int = 0
) -> dict[str, list[str]]:
    """Versions of pages, which are numbered from *first* on: extra(page, version) is what may change on them."""
    return {
        f"http://shop.example/{template}/{page}/": [page_of(page, extra(page, k)) for k in range(versions)]
        for page in range(first, first + pages)
    }


def two_kinds(extra: Callable[[int, int], str], pages: int = 8, versions: int = 2) -> dict[str, list[str]]:
    """The same for pages of two kinds."""
    return pages_of(extra, pages, versions) | pages_of(extra, pages, versions, "news", pages)


def moments_apart(versions: dict[str, list[str]]) -> Mask:
    """What is learned from versions that were fetched within moments: what differs then is drawn anew."""
    return learn_mask(versions, times={page: [60.0 * k for k in range(len(found))] for page, found in versions.items()})


def hidden(mask: Mask) -> list[tuple[str, str]]:
    """(last step of the selector, attribute) of what is stripped."""
    return [(place.selector.rpartition("/")[2], place.attribute) for place in mask.places if place.act == "strip"]


def kinds(mask: Mask) -> dict[str, str]:
    return {place.selector.rpartition("/")[2]: place.act for place in mask.places}


def only(mask: Mask) -> Place:
    found = [place for place in mask.places if place.act == "strip"]
    assert len(found) == 1, found
    return found[0]


def counter(page: int, k: int) -> str:
    return f"<p class=o>{Random(f'{page} {k}').randrange(900)} users online</p>"


def weather(page: int, k: int) -> str:
    rng = Random(f"{page} {k}")
    return f"<p class=w>Today is {rng.choice(WORDS)}, Weather: {rng.randrange(40)} {rng.choice(WORDS)} degrees</p>"


def advertisement(page: int, k: int) -> str:
    return f"<div class=ad>buy {text_of('ad', (page * 3 + k * 2) % 5, words=5)} now</div>"


def viewed(page: int, k: int) -> str:
    return f"<p class=v>{text_of('name', page, words=2)} was viewed {Random(f'{page}{k}').random()} times</p>"


def links(page: int, k: int) -> str:
    found = [f"<li>{text_of('link', page, n, words=3)}</li>" for n in range(5)]
    Random(f"{page} {k}").shuffle(found)
    return f"<ul class=related>{''.join(found)}</ul>"


# -- what must be found

DAYS = ("Monday, 5 January 2026, 10:02:03", "Tuesday, 6 January 2026, 18:22:01", "Sunday, 8 March 2026, 07:00:59")
VISITORS = [[12, 734, 88], [301, 45, 566]]
#: Versions that were fetched within moments, the place and the slot that are found, a page, and what is left of its text.
FOUND = {
    "a clock": (
        pages_of(lambda page, k: f"<p class=clock>Today is {DAYS[(page + k) % 3]}</p>"),
        *("p.clock", ("Today is", ""), "<p class=clock>Today is Friday, 24 December 2027, 00:00:00", "Today is"),
    ),
    "words on both sides, and a label": (
        pages_of(weather),
        *("p.w", ("Today is", "Weather:", "degrees"), "<p class=w>Today is x, Weather: 7 y degrees"),
        "Today is Weather: degrees",
    ),
    "a counter of two pages": (
        pages_of(lambda page, k: f"<p class=o>{VISITORS[page][k]} users online</p>", 2, 3),
        *("p.o", ("", "users online"), "<p class=o>5 users online", "users online"),
    ),
    "advertisements": (
        pages_of(advertisement),
        "div.ad",
        ("buy", "now"),
        "<div class=ad>buy what is new now",
        "buy now",
    ),
    "advertisements on two kinds": (
        two_kinds(advertisement),
        "div.ad",
        ("buy", "now"),
        "<div class=ad>buy what is new now",
        "buy now",
    ),
    "what comes and goes": (
        two_kinds(lambda page, k: "<p class=b>Subscribe to our letter</p>" if (page + k) % 2 else "", 12, 3),
        *("p.b", None, "<p class=b>Subscribe to our letter", ""),
    ),
    "beside what is shuffled": (
        pages_of(lambda page, k: links(page, k) + counter(page, k), 8, 3),
        *("p.o", ("", "users online"), "<p class=o>5 users online", "users online"),
    ),
    "names in a sentence": (
        pages_of(viewed, 8, 3),
        *("p.v", ("… was viewed", "times"), "<p class=v>Red shoes was viewed 12 times", "Red shoes was viewed times"),
    ),
}


@pytest.mark.parametrize("name", FOUND)
def test_what_passes_is_found(name: str) -> None:
    """In whatever order pages come; and two pages are one by what lasts of them where their versions were."""
    versions, step, slot, html, left = FOUND[name]
    mask = moments_apart(versions)
    assert (hidden(mask), only(mask).slot) == ([(step, "")], slot)
    assert mask.text(f"<html><body>{html}", url="http://shop.example/item/99/") == left
    assert moments_apart(dict(reversed(versions.items()))) == mask
    masked = {url: {mask.sketch(version_of(html), url).bag for html in found} for url, found in versions.items()}
    assert {len(found) for found in masked.values()} == {1}
    assert len(set.union(*masked.values())) == len(versions)


def test_an_ellipsis_on_the_page_is_no_gap_of_a_slot() -> None:
    mask = learn_mask(
        two_kinds(lambda page, version: f"<p class=teaser>{text_of(version, words=3)} \N{HORIZONTAL ELLIPSIS}</p>")
    )
    only(mask)
    path = save_mask(mask, "site.mask.toml")
    assert load_mask(path).version == mask.version, "the file of such a mask can be read"


def test_advertisements_without_fetches_within_moments_may_be_what_the_pages_are_about() -> None:
    assert kinds(learn_mask(pages_of(advertisement))) == {"div.ad": "compare"}


def test_random_value_of_a_form_is_found_and_its_link_kept() -> None:
    def form(page: int, k: int) -> str:
        nonce = f"{Random(f'{page} {k}').getrandbits(128):032x}"
        return f"<form><input type=hidden name=csrf value={nonce}></form><a class=buy href='/buy/{page}?sid={nonce}'>Buy</a>"

    mask = learn_mask(pages_of(form))
    assert hidden(mask) == [("a.buy", "href"), ("input", "value")]
    page = page_of(77, "<a class=buy href='/buy/77?sid=0123456789abcdef0123456789abcdef'>Buy</a>")
    stripped = mask.strip(page, url="http://shop.example/item/77/")
    assert "href='/buy/77?sid='" in stripped
    assert {place.attribute: place.example for place in mask.places} == {
        "href": ("…", "…"),
        "value": ("…", "…"),
    }


@pytest.mark.parametrize(
    "value",
    [lambda page, k: f"{1700000000 + 97 * page + 5003 * k}", lambda page, k: f"{page + 20 * k:08}"],
    ids=["seconds", "request"],
)
def test_a_field_with_another_value_in_each_response(value: Callable[[int, int], str]) -> None:
    versions = pages_of(lambda page, k: f"<form><input type=hidden name=at value={value(page, k)}></form>", 6)
    assert hidden(learn_mask(versions)) == [("input", "value")]
    assert not hidden(learn_mask(dict(list(versions.items())[:1]))), "one page is no evidence"


@pytest.mark.parametrize(
    "value",
    [
        lambda page, k: f"{Random(f'{page}{k}').randrange(90)}",
        lambda page, k: f"{Random(f'{page}{k}').randrange(10**7)}",
        lambda page, k: f"{100_000 + 1000 * page + k % 2}",
        lambda page, k: f"{100_000 + 1000 * page + (k if page else 0)}",
        lambda page, k: f"{text_of(page, k, words=2)}",
    ],
    ids=["quantity", "length", "returns", "stays on a page", "words"],
)
def test_other_values_of_fields_stay(value: Callable[[int, int], str]) -> None:
    versions = pages_of(lambda page, k: f'<form><input name=n value="{value(page, k)}"></form>', 6, 3)
    assert not hidden(learn_mask(versions))


def test_one_of_five_siblings() -> None:
    def boxes(page: int, k: int) -> str:
        day = (page + k) % 4
        return "".join([f"<div class=box>{text_of('box', n, day if n == 2 else 0, words=4)}</div>" for n in range(5)])

    mask = moments_apart(two_kinds(boxes))
    assert only(mask).position == 3
    html, url = page_of(50, boxes(50, 1)), "http://shop.example/item/50/"
    kept = mask.text(html, url=url)
    assert text_of("box", 2, 51 % 4, words=4) not in kept
    assert all(text_of("box", n, 0, words=4) in kept for n in (0, 1, 3, 4))


def test_first_and_last_of_any_number_of_paragraphs() -> None:
    """Pages without classes, of different lengths."""

    def page(number: int, k: int) -> str:
        rng = Random(f"{number} {k}")
        texts = [text_of("text", number, n, words=30) for n in range(3 + number)]
        first, last = (
            f"There are {rng.randrange(900)} users online",
            f"Page generated in 0.{rng.randrange(1000)} seconds",
        )
        return "<html><body><p>" + "<p>".join([first, *texts, last]) + "</body></html>"

    mask = moments_apart({f"http://shop.example/item/{n}/": [page(n, k) for k in range(3)] for n in range(12)})
    assert [(place.position, place.slot, place.act) for place in mask.places] == [
        (-1, ("Page generated in", "seconds"), "strip"),
        (1, ("There are", "users online"), "strip"),
    ]
    new = page(40, 7)
    assert mask.text(new).split()[:4] == ["There", "are", "users", "online"]
    assert len(Mask().text(new).split()) - len(mask.text(new).split()) == 2


def test_blocks_that_swap_their_places_stay() -> None:
    def swapped(page: int, k: int) -> str:
        texts = [text_of("left", page), text_of("right", page)]
        if (page + k) % 3 == 0:
            texts.reverse()
        return f"<p class=left>{texts[0]}</p><p class=right>{texts[1]}</p>"

    versions = two_kinds(swapped, 12, 3)
    # Both texts are the page's own, and it has them always.
    assert not hidden(learn_mask(versions))
    assert not hidden(moments_apart(versions))


def test_pages_seen_once_are_stripped_and_those_of_another_kind_where_words_and_numbers_are_the_same() -> None:
    mask = moments_apart(pages_of(lambda page, k: counter(page, k) + advertisement(page, k)))
    html = page_of(12, "<p class=o>17 users online</p><div class=ad>buy one or two now</div>")
    assert "one or two" not in mask.text(html, url="http://shop.example/item/1000/")
    assert "17" not in mask.text(html, url="http://shop.example/item/1000/")
    assert "17" not in mask.text(html, url="http://shop.example/tag/1000/")
    assert "one or two" in mask.text(html, url="http://shop.example/tag/1000/")
    other = page_of(12, "<p class=o>no users online</p><p class=o>17 sold</p>")
    assert mask.strip(other, url="http://shop.example/tag/1000/") == other


# -- what must stay


def price(page: int, k: int) -> str:
    cents = Random(page).randrange(500, 50_000)
    for day in range(k):
        cents += Random(f"{page} {day}").choice((-1, 1)) * cents // 20
    return f"<p class=price>£{cents // 100}.{cents % 100:02}</p>"


def comments(page: int, first: int, last: int) -> str:
    return "<ol>" + "".join([f"<li>{text_of('comment', page, n)}</li>" for n in range(first, last)]) + "</ol>"


def leading(page: int, k: int) -> str:
    name = text_of("link", page, k, words=1)
    return f"<a class=next href='/{name}/page?from={page}'>Next</a><img class=i src=/img/{name}.png><input name=q value={name}>"


#: What may change on pages, of how many, in how many versions, and what is said of it.
STAYING: dict[str, tuple[Callable[[int, int], str], int, int, dict[str, str] | None]] = {
    "prices": (price, 10, 4, {}),
    "stock that sinks": (lambda page, k: f"<p class=stock>{page * 10 + 30 - k} in stock</p>", 8, 2, None),
    "stock of some pages": (lambda page, k: f"<p>{30 - (k if page < 2 else 0)} in stock</p>", 12, 3, None),
    "comments that come": (lambda page, k: comments(page, 0, 1 + k + page % 2), 8, 4, {}),
    "the last ten comments": (lambda page, k: comments(page, k, k + 10), 8, 4, None),
    "shuffled links": (links, 8, 4, {}),
    "where links lead": (leading, 10, 3, {}),
    "one page": (counter, 1, 2, None),
    "one page, seen once": (counter, 1, 1, {}),
    "one page of many": (lambda page, k: f"<p class=o>{k if page == 3 else 7} users online</p>", 10, 3, None),
}


@pytest.mark.parametrize("name", STAYING)
def test_what_is_no_proof_stays(name: str) -> None:
    extra, pages, versions, said = STAYING[name]
    mask = learn_mask(pages_of(extra, pages, versions))
    assert not mask.version
    assert said is None or kinds(mask) == said


def test_what_rises_may_be_bids_and_stays_but_a_counter_of_visits_rises_with_each_fetch() -> None:
    def figures(page: int, k: int) -> str:
        return (
            f"<p class=stock>{page * 100 + 200 - k * (page + 1)} in stock</p>"
            f"<p class=views>viewed {page * 1000 + 7 * k + k * k} times</p>"
        )

    versions = pages_of(figures, 8, 4)
    assert kinds(learn_mask(versions)) == {}
    # It is the page's own, and stays in items.
    assert not hidden(moments_apart(versions))


def test_titles_and_headings_stay_but_for_numbers() -> None:
    def unread(page: str, k: int) -> int:
        return Random(f"{page} {k}").randrange(90)

    versions = {
        page: [
            html.replace(
                "<body>", f"<title>({n + 7 * k}) News {text_of(k, page)}</title><body><h1>({unread(page, k)}) new</h1>"
            )
            for k, html in enumerate(found)
        ]
        for n, (page, found) in enumerate(pages_of(lambda page, k: "", 10, 3).items())
    }
    assert only(moments_apart(versions)).slot == ("", "new")


@pytest.mark.parametrize(("edited", "versions"), [(3, 2), (10, 3)])
def test_edited_articles_stay(edited: int, versions: int) -> None:
    shown = pages_of(lambda page, k: "", 10, versions)
    for page in range(edited):
        words = text_of("main", page, words=60).split()
        for k in range(versions):
            words[page + 7 * k] = "edited"
            shown[f"http://shop.example/item/{page}/"][k] = page_of(page, "", " ".join(words))
    assert not learn_mask(shown).version


def test_redesign_is_no_change() -> None:
    before = pages_of(counter)
    after = pages_of(lambda page, k: counter(page, k + 2))
    renewed = {
        page: [
            html.replace("<div", "<section").replace("</div", "</section").replace("p class=", "p class=new-")
            for html in found
        ]
        for page, found in after.items()
    }
    mask = moments_apart({page: before[page] + renewed[page] for page in before})
    assert ("p.new-o", "") in hidden(mask)
    # Across the redesign alone there is nothing to learn from.
    assert learn_mask({page: [before[page][0], renewed[page][0]] for page in before}).places == ()


def test_pages_that_are_all_new_each_time_lose_nothing() -> None:
    def results(page: int, k: int) -> str:
        return "<ol>" + "".join([f"<li>{text_of('result', page, k, n)}</li>" for n in range(9)]) + "</ol>"

    versions = {
        f"http://shop.example/search/{page}/": [
            f"<html><body><a href=/>Home</a>{results(page, k)}<p>All rights reserved</p></body></html>"
            for k in range(3)
        ]
        for page in range(6)
    }
    assert not hidden(learn_mask(versions))


def test_a_place_that_passes_on_one_kind_of_pages_stays_on_another() -> None:
    news = pages_of(lambda page, k: f"<p class=x>{Random(f'{page} {k}').randrange(900)} users online</p>", 8, 3, "news")
    items = pages_of(lambda page, k: f"<p class=x>{page} users online</p>", 14, 3)
    mask = moments_apart(news | items)
    html = page_of(5, "<p class=x>5 users online</p>")
    assert mask.spans(html, url="http://shop.example/news/5/")
    assert not mask.spans(html, url="http://shop.example/item/5/")


def test_what_one_page_alone_shows_anew_stays_and_does_not_count() -> None:
    """It may be a quote as well as a counter; a second page that has it tells."""
    counters = {
        page: [page_of(n, f"<p class=o>{number} users online</p>") for number in numbers]
        for n, (page, numbers) in enumerate({"front": (3, 99, 41, 7), "help": (50, 4, 72, 23)}.items())
    }
    assert not moments_apart({"front": counters["front"]}).places
    assert only(moments_apart(counters)).slot == ("", "users online")


def test_without_versions_there_is_nothing() -> None:
    assert learn_mask({}) == Mask()
    assert learn_mask({"a": ["<p>x"], "b": []}) == Mask()


@pytest.mark.parametrize("mode", ["default", "seed"])
@pytest.mark.parametrize("versions", ["<p>x", [1, 2], [b"<p>x"]])
def test_versions_are_texts(versions: Any, mode: Any) -> None:
    with pytest.raises(ValueError, match=r"^a: its versions are no list of HTML texts"):
        learn_mask({"a": versions}, mode)


def test_unknown_mode() -> None:
    with pytest.raises(ValueError, match="mode is 'patent'"):
        learn_mask({}, mode="patent")  # type: ignore[arg-type]


@pytest.mark.parametrize("twice", ["en", "en de"])
def test_a_counter_in_two_languages(twice: str) -> None:
    """No word is common to all pages, and yet none of those that stay is a page's own, also where one language was fetched again only."""
    rng = Random(11)
    said = {"en": "{} visitors right now", "de": "{} Besucher im Augenblick"}

    def shown(number: int, language: str) -> str:
        counter = said[language].format(rng.randint(3, 400))
        return f"<body><h1>{language} page {number}</h1><p class=visitors>{counter}</p><p>text of {number}</p></body>"

    versions = {
        f"http://a.example/page/{language}{number}": [
            shown(number, language) for _ in range(3 if language in twice else 1)
        ]
        for number in range(12)
        for language in said
    }
    mask = moments_apart(versions)
    assert mask.text(shown(99, "de"), url="http://a.example/page/de99").split() == (
        "de page 99 Besucher im Augenblick text of 99".split()
    )


def test_a_counter_beside_a_number_that_stays_says_nothing_of_other_words() -> None:
    """A price of its own stands beside the counter on each page: where another language says it, nothing is taken."""
    rng = Random(11)
    said = {"en": "{} visitors, now {} euro", "de": "{} Besucher, jetzt {} Euro"}

    def shown(number: int, language: str) -> str:
        counter = said[language].format(rng.randint(3, 400), 17 + number * 13)
        return f"<body><h1>{language} page {number}</h1><p class=visitors>{counter}</p><p>text of {number}</p></body>"

    versions = {
        f"http://a.example/page/{language}{number}": [
            shown(number, language) for _ in range(3 if language == "en" else 1)
        ]
        for number in range(12)
        for language in said
    }
    mask = moments_apart(versions)
    assert mask.text(shown(99, "en"), url="http://a.example/page/en99").split() == (
        "en page 99 visitors, now 1304 euro text of 99".split()
    )
    assert "jetzt 1304 Euro" in mask.text(shown(99, "de"), url="http://a.example/page/de99")


def test_a_clock_in_two_languages_where_most_pages_were_seen_twice_on_one_day() -> None:
    """The date lasts on these: it is that of the day, and no number of their own."""
    said = {
        "en": "It is {day}.01.2026, {hour:02}:{minute:02}.",
        "de": "Es ist der {day}.1.2026, {hour:02}:{minute:02}.",
    }

    def shown(number: int, language: str, day: int, minutes: int) -> str:
        clock = said[language].format(day=7 + day, hour=9 + minutes // 60, minute=minutes % 60)
        return f"<body><header><p class=clock>{clock}</p></header><h1>{language} page {number}</h1><p>text of {number}</p></body>"

    moments = {
        (number, language): [(0, number), (0, 40 + number), *([(1, number)] if number < 5 else [])]
        for number in range(15)
        for language in said
    }
    mask = learn_mask(
        {
            f"http://a.example/page/{language}{number}": [shown(number, language, *moment) for moment in found]
            for (number, language), found in moments.items()
        },
        times={
            f"http://a.example/page/{language}{number}": [86_400.0 * day + 60 * minutes for day, minutes in found]
            for (number, language), found in moments.items()
        },
    )
    for language, rest in (("en", "It is"), ("de", "Es ist der")):
        text = mask.text(shown(99, language, 3, 17), url=f"http://a.example/page/{language}99")
        assert text == f"{rest} {language} page 99 text of 99"


def test_dates_in_the_place_of_a_clock_that_are_not_that_of_the_day_stay() -> None:
    """No page of the archive was fetched twice: its days are written as the clock of the other pages is."""

    def shown(name: str, clock: str) -> str:
        return f"<body><div class=date>{clock}</div><h1>{name}</h1><p>the text of a page</p></body>"

    def news(number: int, minute: int) -> str:
        return shown("news", f"21 Sep 2026 14:{minute:02}:{number:02}")

    def day(number: int) -> str:
        return shown("archive", f"{1 + number:02} Jun 2026 00:00:00")

    versions = {
        **{
            f"http://a.example/news/{number}": [news(number, number), news(number, 20 + number)] for number in range(12)
        },
        **{f"http://a.example/archive/{number}": [day(number)] for number in range(12)},
    }
    mask = moments_apart(versions)
    assert mask.text(news(30, 59), url="http://a.example/news/30") == "news the text of a page"
    assert mask.text(day(25), url="http://a.example/archive/25") == "26 Jun 2026 00:00:00 archive the text of a page"
