"""Like pairs: pages that share rare texts, found whatever noise stands on them, and never by their site's frame."""

from collections.abc import Sequence
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.versions import Version, version_of
from scrapy_dedup.learning.asking.like_pairs import ALIKE, MIN_WORDS, NEAREST, RAREST, like_pairs
from tests.test_masks_learning import text_of


def page(title: str, *paragraphs: str, noise: int | None = None) -> Version:
    """A page in a frame; with *noise*, more words that change than the page has of its own."""
    random = Random(noise)
    drawn = "".join(f"<p class=n{each}>{random.random()} {random.random()} {random.random()}</p>" for each in range(6))
    main = "".join(f"<p>{each}</p>" for each in paragraphs)
    return version_of(
        f"<html><body><nav>Home, help and all about the shop that we are</nav>{drawn if noise is not None else ''}"
        f"<h1>{title}</h1>{main}<footer>All rights reserved by the shop and by its owners</footer></body></html>"
    )


def numbers(pages: Sequence[Version]) -> list[tuple[int, int]]:
    return sorted((one, other) for one, other, _ in like_pairs(pages))


def test_pages_that_differ_in_noise_alone_are_alike() -> None:
    pages = [
        page(text_of("title", n, words=3), text_of("main", n, words=12), noise=100 * n + again)
        for n in range(40)
        for again in range(2)
    ]
    assert numbers(pages) == [(2 * n, 2 * n + 1) for n in range(40)]


def test_a_frame_makes_no_pages_alike() -> None:
    assert numbers([page(text_of("title", n, words=6), text_of("main", n, words=30)) for n in range(60)]) == []


def test_pages_with_hardly_any_words_of_their_own_are_not() -> None:
    twins = [
        page(text_of("title", n, words=MIN_WORDS - 1), noise=100 * n + again) for n in range(20) for again in (0, 1)
    ]
    assert numbers(twins) == []


def test_pages_that_share_one_text_of_many_are_not() -> None:
    common = text_of("common", words=MIN_WORDS)
    pages = [page(text_of("title", n), common, text_of("main", n, words=200)) for n in range(2)]
    assert numbers([*pages, *(page(text_of("title", n), text_of("main", n)) for n in range(2, 30))]) == []


def test_a_text_that_stands_often_counts_as_often() -> None:
    """A list of a hundred equal rows is most of its page."""
    rows = [text_of("row", words=3)] * 100
    pages = [page(text_of("title", n), *rows, text_of("main", n, words=20)) for n in range(2)]
    assert numbers([*pages, *(page(text_of("title", n), text_of("main", n)) for n in range(2, 30))]) == [(0, 1)]


def test_those_with_the_most_in_common_come_first() -> None:
    main = [text_of("main", part, words=20) for part in range(4)]
    pages = [page("a", *main), page("b", *main[:2], text_of("other", words=40)), page("c", *main)]
    others = [page(text_of("title", n), text_of("page", n)) for n in range(40)]
    found = like_pairs([*pages, *others])
    assert [(one, other) for one, other, _ in found] == [(0, 2), (0, 1), (1, 2)]
    assert found[0].share > 0.9 > found[1].share >= ALIKE


def test_the_pairs_of_a_text_of_many_pages_grow_with_the_pages() -> None:
    common = text_of("common", words=20)
    pages = [page(str(n), common if n % 10 == 0 else text_of("main", n)) for n in range(2000)]
    found = numbers(pages)
    assert {number for pair in found for number in pair} == set(range(0, 2000, 10))
    assert len(found) <= 200 * (NEAREST + 1) * RAREST


def test_no_pages_have_no_pairs() -> None:
    assert like_pairs([]) == like_pairs([page("alone", text_of("main", words=50))]) == []


texts = st.integers(0, 12).map(lambda number: text_of("text", number, words=11))
some_pages = st.lists(st.lists(texts, max_size=5).map(lambda found: page("a page", *found)), max_size=NEAREST)


@given(pages=some_pages, data=st.data())
def test_pairs_are_of_two_pages_and_do_not_depend_on_their_order(pages: list[Version], data: st.DataObject) -> None:
    found = like_pairs(pages)
    assert all(one < other and ALIKE <= share <= 1 for one, other, share in found)
    assert len({(one, other) for one, other, _ in found}) == len(found)
    order = data.draw(st.permutations(range(len(pages))))
    again = like_pairs([pages[number] for number in order])
    assert sorted((*sorted((order[one], order[other])), share) for one, other, share in again) == sorted(found)
