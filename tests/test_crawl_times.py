"""When a site is learned in mid-crawl: by the evidence that has come, not by time."""

import itertools

import pytest

from scrapy_dedup.content.fingerprints import ContentKind, Fingerprints
from scrapy_dedup.crawl.learn import schedule as times
from scrapy_dedup.crawl.learn.schedule import LearningSchedule
from scrapy_dedup.crawl.observe import repeats
from scrapy_dedup.crawl.observe.repeats import Repeats
from scrapy_dedup.crawl.verify.spot_check_rates import has_room
from scrapy_dedup.store.rows import ObservationRow

SITE = "a.test"


def seen(path: str, content: str, words: int | None = 50, site: str = SITE) -> ObservationRow:
    return ObservationRow(
        scope="",
        site=site,
        url=f"http://{site}{path}",
        time=0.0,
        status=200,
        spider="s",
        fingerprints=Fingerprints(ContentKind.HTML, content, content, content, words),
    )


def fed(rows: list[ObservationRow]) -> tuple[LearningSchedule, Repeats]:
    counted, found = LearningSchedule(), Repeats()
    learnings(counted, found, rows)
    return counted, found


def learnings(
    counted: LearningSchedule, found: Repeats, rows: list[ObservationRow], *, begin: bool = False
) -> list[int]:
    """Return after which of these pages the site is due; with *begin*, it is learned then."""
    due = []
    for number, row in enumerate(rows, 1):
        found.note(row)
        for repeated in found.found():
            counted.repeat(repeated)
        counted.add(row.site, may_repeat=row.site in found.changing)
        if counted.due:
            due.append(number)
            if begin:
                counted.begun(counted.due)
    return due


def both(number: int) -> list[ObservationRow]:
    return [seen(f"/p?id={number}", f"c{number}"), seen(f"/p?id={number}&sid={number}", f"c{number}")]


def alone(number: int) -> list[ObservationRow]:
    return [seen(f"/p?id={each}", f"c{each}") for each in range(1_000, 1_000 + number)]


def test_three_duplicates_make_a_site_due() -> None:
    rows = [*alone(times.LEAST), *both(1), *both(2), *both(3)]
    assert learnings(LearningSchedule(), Repeats(), rows, begin=True) == [len(rows)]


def test_a_few_pages_make_no_site_due() -> None:
    rows = [row for number in range(times.LEAST) for row in both(number)]
    assert learnings(LearningSchedule(), Repeats(), rows, begin=True)[0] == times.LEAST


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([seen(f"/p?id={n}", f"c{n}") for n in range(2_000)], id="no content comes again"),
        pytest.param([seen("/p?id=1", "c") for _ in range(35)], id="one URL again and again"),
        pytest.param([*alone(50), *both(1), *both(1), *both(1)], id="one pair again and again"),
        pytest.param([seen(f"/p?id={n}", f"c{n % 12}", words=5) for n in range(35)], id="pages with hardly any text"),
        pytest.param([seen("/", f"c{n}", site=f"{n}.test") for n in range(12) for _ in range(3)], id="on another site"),
    ],
)
def test_what_is_no_evidence_of_a_rule_makes_no_site_due(rows: list[ObservationRow]) -> None:
    assert fed(rows)[0].due == ()


def test_relearning_waits_for_a_share_of_more_duplicates() -> None:
    rows = [row for number in range(400) for row in both(number)]
    due = learnings(LearningSchedule(), Repeats(), rows, begin=True)
    assert due[:3] == [20, 26, 32], "three more of them"
    assert all(later >= sooner * (1 + times.MORE_DUPLICATES) - 1 for sooner, later in itertools.pairwise(due[5:]))
    assert due[-1] > 650, "and it goes on"


def test_a_site_whose_texts_differ_is_learned_as_its_pages_grow() -> None:
    rows = [seen("/", "first"), seen("/", "second"), *alone(500)]
    assert learnings(LearningSchedule(), Repeats(), rows, begin=True)[:5] == [40, 80, 120, 180, 270]


def test_texts_are_compared_where_they_differ_and_have_grown() -> None:
    counted = LearningSchedule()
    compared = []
    for number in range(1, 400):
        counted.add(SITE, may_repeat=True)
        counted.soon(SITE)
        before, texts = counted.begun(counted.due, {SITE})
        if texts:
            compared.append(number)
        assert set(before) == {SITE}
    assert all(later >= (1 + times.GROWTH) * sooner for sooner, later in itertools.pairwise(compared))
    assert len(compared) > 10
    counted.soon(SITE, compare=True)
    assert counted.begun(counted.due)[1] == {SITE}, "what was asked for"


def test_what_failed_is_learned_again() -> None:
    counted = LearningSchedule()
    for _ in range(times.MUCH):
        counted.add(SITE, may_repeat=True)
    before, _ = counted.begun(counted.due, {SITE})
    assert not counted.due
    assert not counted.news
    counted.failed(before, due=(SITE,))
    assert counted.due == counted.news == (SITE,)
    assert counted.knows_more(SITE)


def test_memory_of_contents_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeats, "MOST", 5)
    found = Repeats()
    for number in range(50):
        found.note(seen(f"/p?id={number}", f"c{number}"))
    for number in range(50):
        found.note(seen(f"/q?id={number}", f"c{number}"))
    assert len(list(found.found())) == 5
    assert not list(found.found()), "each is told once"


def test_samples_of_a_site_with_endless_urls_are_bounded_by_its_pages() -> None:
    assert has_room(0.02, 0, 0) is False, "only those of young rules, before a page has come"
    most = max(samples for samples in range(1_000) if has_room(0.02, 1_000, samples))
    assert most < 0.07 * 1_000
    assert has_room(0.5, 100, 299)
    assert has_room(1, 0, 10**6), "who asks for all of them gets all"
