"""Replace rules: what maps one template of URLs to another, and what only seems to."""

from collections.abc import Callable, Iterable

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.data.judgement import SiteUrls, book_of, judged
from scrapy_dedup.learning.decision.validation import validation
from scrapy_dedup.learning.learners.replacing import proposals
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.site_evidence import evidence_of
from scrapy_dedup.urls import normal_form

HOST = "http://h.test"


def sample_of(rows: Iterable[tuple[str, object]]) -> SiteUrls:
    """URLs (without the host) with what they lead to."""
    numbers: dict[object, int] = {}
    seen: dict[str, int] = {}
    for url, page in rows:
        seen[normal_form(HOST + url)] = numbers.setdefault(page, len(numbers))
    return SiteUrls("h.test", list(seen), list(seen.values()))


def book_from(sample: SiteUrls) -> RuleBook:
    deep = evidence_of(sample).deep
    found = validation(proposals(sample, deep), sample, deep).kept
    return book_of(rules_of("h.test", found), sample, deep)


def two_forms(one: Callable[[int], str], other: Callable[[int], str], pages: int = 40) -> SiteUrls:
    """A site whose pages have two URLs each, of which the crawl has met both for every second page."""
    rows = []
    for n in range(pages):
        if n % 4 != 1:
            rows.append((one(n), n))
        if n % 4 != 3:
            rows.append((other(n), n))
    return sample_of(rows)


NAMES = ["john", "mary", "ann", "peter", "lucy", "karl", "eva", "tom", "ida", "max", "joan", "rita"]


def name(n: int) -> str:
    return NAMES[n % 12] + "abcdef"[n // 12 % 6]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        pytest.param(
            lambda n: f"/display?pageid={n + 10}", lambda n: f"/archive0/{n + 10}/display", id="D15-query-to-path"
        ),
        pytest.param(lambda n: f"/story?id={n + 12}", lambda n: f"/story_{n + 12}", id="D16-story"),
        pytest.param(lambda n: f"/view.php?p={n + 7}", lambda n: f"/view.php?t={n + 7}", id="p-t"),
        pytest.param(lambda n: f"/~{name(n)}/", lambda n: f"/people/{name(n)}/", id="D28-user-directory"),
        pytest.param(lambda n: f"/{name(n)}/index.html", lambda n: f"/{name(n)}/", id="D13-index"),
        pytest.param(lambda n: f"/{name(n)}/default.asp", lambda n: f"/{name(n)}/", id="D13-default"),
        pytest.param(lambda n: f"/p/{n + 9}.htm", lambda n: f"/p/{n + 9}.html", id="D14-htm-html"),
        pytest.param(lambda n: f"/p/{n + 9}.htm", lambda n: f"/p/{n + 9}", id="D14-none"),
        pytest.param(lambda n: f"/item/{n}/{name(n * 7)}-{name(n)}", lambda n: f"/item/{n}", id="D17-slug-and-id"),
        pytest.param(lambda n: f"/{name(n * 7)}-{name(n)}-{n + 500}", lambda n: f"/item?id={n + 500}", id="slug-id"),
        pytest.param(lambda n: f"/wiki/{name(n).title()}", lambda n: f"/wiki/{name(n)}", id="D10-first-letter"),
        pytest.param(lambda n: f"/Wiki/{name(n).title()}", lambda n: f"/w?title={name(n)}", id="lower"),
        pytest.param(lambda n: f"/a.html?id={n + 3}", lambda n: f"/a/{n + 3}.html", id="extension-moves"),
    ],
)
def test_two_forms_of_a_url_are_one(one: Callable[[int], str], other: Callable[[int], str]) -> None:
    sample = two_forms(one, other)
    book = book_from(sample)
    assert len(book), "nothing was learned"
    judgement = judged(book, sample)
    assert not judgement.bad
    # Also of pages that were not met, or under one form only.
    for n in (1, 3, 7, 38, 41, 44):
        assert book.equivalent(HOST + one(n), HOST + other(n)), (
            book.canonical_key(HOST + one(n)),
            book.canonical_key(HOST + other(n)),
        )
        assert not book.equivalent(HOST + one(n), HOST + other(n + 1))


def test_a_copy_into_a_segment_is_no_mere_drop() -> None:
    """Where the site shows no delimiter in segments, `/story?id=12` is `/story_12` less a parameter, and other text."""
    sample = two_forms(lambda n: f"/a/story?id={n + 12}", lambda n: f"/a/story_{n + 12}")
    found = validation(proposals(sample, {}), sample, {}).kept
    book = book_of(rules_of("h.test", found), sample, {})
    assert book.equivalent(f"{HOST}/a/story?id=99", f"{HOST}/a/story_99")
    assert not book.equivalent(f"{HOST}/a/story?id=99", f"{HOST}/a/story_98")


def test_values_shared_by_chance_map_nothing() -> None:
    """T15: pages 1 to 40 of a list, and articles 1 to 40."""
    rows = [(f"/list?page={n}", f"l{n}") for n in range(40)] + [(f"/article?id={n}", f"a{n}") for n in range(40)]
    rows += [(f"/article?id={n}&sid=x{n}", f"a{n}") for n in range(40)]
    book = book_from(sample_of(rows))
    assert not any(book.equivalent(f"{HOST}/list?page={n}", f"{HOST}/article?id={n}") for n in range(40))


def test_a_counterexample_rejects() -> None:
    rows = [(f"/story?id={n}", n) for n in range(30)] + [(f"/story_{n}", n) for n in range(30)]
    assert len(book_from(sample_of(rows)))
    rows[-1] = ("/story_29", "another page")
    assert not len(book_from(sample_of(rows)))


def test_few_pages_prove_nothing() -> None:
    assert not len(book_from(two_forms(lambda n: f"/story?id={n}", lambda n: f"/story_{n}", pages=12)))


def test_a_dropped_part_that_matters_rejects() -> None:
    """``/show?board=2&id=7`` is not ``/7`` where the boards number their own articles."""
    rows = [(f"/show?board={b}&id={n}", (b, n)) for n in range(30) for b in (1, 2)]
    rows += [(f"/{n}", (1, n)) for n in range(30)]
    book = book_from(sample_of(rows))
    assert not book.equivalent(f"{HOST}/show?board=2&id=7", f"{HOST}/7")


def test_three_forms_have_one_destination() -> None:
    """T17: forms in a circle lead to one of them."""
    forms = [lambda n: f"/story?id={n}", lambda n: f"/story_{n}", lambda n: f"/stories/{n}/full"]
    rows = [(form(n), n) for n in range(60) for number, form in enumerate(forms) if n % 3 != number]
    book = book_from(sample_of(rows))
    for n in range(70):
        assert len({book.canonical_key(HOST + form(n)) for form in forms}) == 1
    assert len({book.canonical_key(HOST + forms[0](n)) for n in range(70)}) == 70


def test_session_ids_do_not_hide_a_mapping() -> None:
    rows = [(f"/display?pageid={n}&sid={n * 7 + k:032x}", n) for n in range(30) for k in range(2)]
    rows += [(f"/archive0/{n}/display", n) for n in range(30)]
    sample = sample_of(rows)
    deep = evidence_of(sample).deep
    found = validation(proposals(sample, deep), sample, deep).kept
    assert any(proposal.key == "q.pageid" or proposal.key.startswith("path.") for proposal in found)


def test_shapes_never_seen_are_left_alone() -> None:
    book = book_from(two_forms(lambda n: f"/story?id={n}", lambda n: f"/story_{n}"))
    assert book.canonical_key(f"{HOST}/story?id=about-us") == f"{HOST}/story?id=about-us"
    assert book.canonical_key(f"{HOST}/story/more?id=3") == f"{HOST}/story/more?id=3"


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("/", 0)],
        [("/a", 0), ("/b", 0)],
        [(f"/{n}", n) for n in range(50)],
        [(f"/{n}?x={n}", 0) for n in range(50)],
        [("/%zz/\x00?&;=%", 0), ("/%zz/\x01?&;=%", 0)],
    ],
)
def test_nothing_to_learn(rows: list[tuple[str, object]]) -> None:
    assert not len(book_from(sample_of(rows)))


def wiki(whole: bool) -> SiteUrls:
    """Articles under two spellings of their first letter; ``/wiki/CAT`` is another page, or with *whole* the same."""
    rows: list[tuple[str, object]] = []
    for n in range(40):
        word = name(n)
        rows += [(f"/wiki/{word}", n), (f"/wiki/{word.capitalize()}", n)]
        if n % 2:
            rows.append((f"/wiki/{word.upper()}", n if whole else 1000 + n))
    return sample_of(rows)


def test_the_first_letter_where_the_others_matter() -> None:
    book = book_from(wiki(whole=False))
    assert book.equivalent(f"{HOST}/wiki/newWord", f"{HOST}/wiki/NewWord")
    assert not book.equivalent(f"{HOST}/wiki/newWord", f"{HOST}/wiki/newword")
    assert not book.equivalent(f"{HOST}/wiki/John", f"{HOST}/wiki/JOHN")
    book = book_from(wiki(whole=True))
    assert book.equivalent(f"{HOST}/wiki/newWord", f"{HOST}/wiki/NEWWORD")
