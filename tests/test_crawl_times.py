"""When a site is learned."""

from scrapy_dedup.crawl.times import FIRST, LEFT, Times


def learnings(times: Times, number: int, *, left: int = 0) -> list[int]:
    """Return after which of so many pages of one site it was learned."""
    found = []
    for page in range(1, number + 1):
        if times.add("a.test", f"http://a.test/item/{page}"):
            times.begun(times.due)
            times.told("a.test", left=left)
            found.append(page)
    return found


def test_the_longer_the_later() -> None:
    assert learnings(Times(), 700) == [40, 80, 120, 180, 270, 405, 608]


def test_where_duplicates_are_left_it_is_learned_sooner() -> None:
    often = learnings(Times(), 700, left=LEFT)
    assert often[:5] == [FIRST * n for n in range(1, 6)]
    assert often[5:] == [240, 288, 346, 416, 500, 600]
    assert learnings(Times(), 700, left=LEFT - 1) == learnings(Times(), 700)


def test_nothing_is_told_of_a_site_that_is_not_known() -> None:
    Times().told("b.test", left=1_000)


def test_pages_of_a_new_kind_are_learned_soon() -> None:
    times = Times()
    learnings(times, 700)
    due = [n for n in range(1, 60) if times.add("a.test", f"http://a.test/item/{n}?utm_source=mail")]
    assert due[0] == 20
