"""Forms of a page: URL templates whose URLs are pages of another one, from observations to rules."""

import random
from collections.abc import Callable, Iterator

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

HOST = "http://h.test"
WORDS = ["heron", "canoe", "mill", "spade", "turret", "gorge", "candle", "fable", "kelp", "anvil", "reed", "dory"]
NAMESPACES = ["verein", "werkzeug", "anleitung"]
ODD = [0.0, 0.03]

Form = Callable[[int, random.Random], str]


def word(n: int) -> str:
    return f"{WORDS[n % 12]}_{WORDS[n // 12 % 12]}"


def slug(r: random.Random) -> str:
    return "-".join(r.sample(WORDS, 3))


def seen(forms: list[Form], pages: int, odd: float = 0.0) -> Iterator[Observation]:
    """Observations of a crawl that met most pages under some of the forms; a share of the responses is odd."""
    r = random.Random(7)
    for n in range(pages):
        for k in range(4):
            url = HOST + r.choice(forms)(n, r)
            yield Observation(url, f"odd {n} {k}" if r.random() < odd else f"page {n}", status=200, words=90)


def same(book: RuleBook, forms: list[Form], n: int) -> bool:
    r = random.Random(n)
    return len({book.canonical_key(HOST + form(n, r)) for form in forms for _ in range(3)}) == 1


def check(forms: list[Form], odd: float, pages: int = 90) -> RuleBook:
    """Learn, and tell that all forms of a page are one, also of pages that nobody saw, and that pages stay apart."""
    book = learn_rules(seen(forms, pages, odd))
    unseen = range(pages, pages + 30)
    assert [n for n in unseen if not same(book, forms, n)] == []
    r = random.Random(0)
    keys = {book.canonical_key(HOST + form(n, r)) for n in range(pages + 30) for form in forms}
    assert len(keys) == pages + 30
    assert all(book.canonical_key(key) == key for key in keys)
    return book


@pytest.mark.parametrize("odd", ODD)
def test_a_value_joined_of_segments(odd: float) -> None:
    """One rule for all namespaces, and for those that nobody saw."""

    def path(n: int, r: random.Random) -> str:
        return f"/{NAMESPACES[n % 3]}/{word(n)}" + r.choice(["", "?do=show"])

    def query(n: int, r: random.Random) -> str:
        return f"/doku.php?id={NAMESPACES[n % 3]}:{word(n)}" + r.choice(["", "&do=show"])

    book = check([path, query], odd)
    assert book.equivalent(f"{HOST}/talk/reed", f"{HOST}/doku.php?id=talk:reed")
    assert not book.equivalent(f"{HOST}/talk/reed", f"{HOST}/doku.php?id=talk:dory")
    assert not book.equivalent(f"{HOST}/talk/reed", f"{HOST}/doku.php?id=reed")


@pytest.mark.parametrize("odd", ODD)
def test_a_value_beside_what_makes_no_difference(odd: float) -> None:
    """``/threads/42-any-slug/page3`` is ``showthread.php?t=42&page=3``: slug and session are dropped first."""

    def session(r: random.Random) -> str:
        return r.choice(["", f"s={r.getrandbits(128):032x}"])

    def path(n: int, r: random.Random) -> str:
        page = f"/page{n % 4 + 1}" if n % 4 else ""
        return f"/threads/{4000 + n // 4}-{slug(r)}{page}?{session(r)}".rstrip("?")

    def query(n: int, r: random.Random) -> str:
        page = f"&page={n % 4 + 1}" if n % 4 else ""
        return f"/showthread.php?t={4000 + n // 4}{page}&{session(r)}".rstrip("&")

    check([path, query], odd, pages=160)


@pytest.mark.parametrize("odd", ODD)
def test_three_forms(odd: float) -> None:
    forms: list[Form] = [
        lambda n, _: f"/t{n + 500}.html",
        lambda n, _: f"/map/tile/{n + 500}",
        lambda n, _: f"/map.php?tile={n + 500}",
    ]
    check(forms, odd, pages=120)


@pytest.mark.parametrize("odd", ODD)
def test_numbers_that_begin_with_zeros(odd: float) -> None:
    def register(n: int, r: random.Random) -> str:
        number = n * 37 + 11
        return f"/extract?art={r.choice(['HRA', 'hra'])}&nr={number if r.random() < 0.6 else f'{number:06d}'}"

    check([register], odd)


def test_zeros_that_tell_pages_apart() -> None:
    """``/episode?nr=07`` of the old series and ``nr=7`` of the new one."""
    rows = [
        Observation(f"{HOST}/episode?nr={zeros}{n}&from={k}", f"{zeros} {n}", status=200, words=90)
        for n in range(1, 60)
        for zeros in ("", "0")
        for k in ("home", "list")
    ]
    book = learn_rules(rows)
    assert book.equivalent(f"{HOST}/episode?nr=7&from=home", f"{HOST}/episode?nr=7&from=list")
    assert not book.equivalent(f"{HOST}/episode?nr=7", f"{HOST}/episode?nr=07")


@pytest.mark.parametrize("odd", ODD)
def test_names_that_are_not_the_page(odd: float) -> None:
    """``/talk/reed`` is an article, and ``?id=talk:reed`` its discussion, each under two sessions."""

    def article(n: int, r: random.Random) -> str:
        return f"/{NAMESPACES[n % 3]}/{word(n)}?sid={r.getrandbits(64):016x}"

    def talk(n: int, r: random.Random) -> str:
        return f"/doku.php?id={NAMESPACES[n % 3]}:{word(n)}&sid={r.getrandbits(64):016x}"

    others = (Observation(one.url, one.fingerprint + " talk", status=200, words=90) for one in seen([talk], 90, odd))
    book = learn_rules([*seen([article], 90, odd), *others])
    r = random.Random(1)
    for n in range(90, 120):
        assert same(book, [article], n)
        assert same(book, [talk], n)
        assert not book.equivalent(HOST + article(n, r), HOST + talk(n, r))
