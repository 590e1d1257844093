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
    for row in rows:
        found.note(row)
        counted.add(row.site, row.url)
        for repeated in found.found():
            counted.repeat(*repeated)
    return counted, found


def both(number: int) -> list[ObservationRow]:
    return [seen(f"/p?id={number}", f"c{number}"), seen(f"/p?id={number}&sid={number}", f"c{number}")]


def test_as_many_repeated_contents_as_a_rule_rests_on_make_a_site_due() -> None:
    rows = [row for number in range(times.REPEATS) for row in both(number)]
    assert len(rows) < times.FIRST, "earlier than by the number of responses"
    assert fed(rows[:-1])[0].due == ()
    assert fed(rows)[0].due == (SITE,)


@pytest.mark.parametrize(
    "rows",
    [
        pytest.param([seen(f"/p?id={n}", f"c{n}") for n in range(35)], id="no content comes again"),
        pytest.param([seen("/p?id=1", "c") for _ in range(35)], id="one URL again and again"),
        pytest.param([seen(f"/p?id={n}", "error") for n in range(35)], id="one content under many URLs"),
        pytest.param([seen(f"/p?id={n}", f"c{n % 12}", words=5) for n in range(35)], id="pages with hardly any text"),
        pytest.param([seen(f"/{'abcdefg'[n % 7]}/{n}/c", f"c{n % 18}") for n in range(35)], id="each kind a few times"),
        pytest.param([seen("/", f"c{n}", site=f"{c}.test") for n in range(12) for c in "ab"], id="on another site"),
    ],
)
def test_what_is_no_evidence_of_a_rule_makes_no_site_due(rows: list[ObservationRow]) -> None:
    assert fed(rows)[0].due == ()


def test_relearning_waits_for_a_share_of_more_repeats() -> None:
    counted, found = fed([row for number in range(times.REPEATS) for row in both(number)])
    learned_at = [times.REPEATS]
    counted.begun(counted.due)
    for number in range(times.REPEATS, 200):
        for row in both(number):
            found.note(row)
            counted.add(row.site, row.url)
            for repeated in found.found():
                counted.repeat(*repeated)
        if counted.due:
            learned_at.append(number + 1)
            counted.begun(counted.due)
    assert learned_at[:3] == [10, 15, 20]
    assert all(later >= sooner * (1 + times.MORE_REPEATS) - 1 for sooner, later in itertools.pairwise(learned_at))
    assert len(learned_at) < 15, "a site that no rule can be learned of is not learned all the time"


def test_a_site_of_many_kinds_of_pages_is_not_learned_all_the_time() -> None:
    counted = LearningSchedule()
    learned_at = []
    for number in range(20_000):
        kind = number * 7919 % 1_000
        counted.add(SITE, f"http://{SITE}/{kind}/{number}")
        if number % 2:
            counted.repeat(SITE, kind)
        if counted.due:
            learned_at.append(number + 1)
            counted.begun(counted.due)
    assert all(later >= (1 + times.LEAST_GROWTH) * sooner - 1 for sooner, later in itertools.pairwise(learned_at))


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


def learnings(counted: LearningSchedule, number: int) -> list[int]:
    """Return after which of so many pages of one site, all different, it was learned."""
    found = []
    for page in range(1, number + 1):
        if counted.add(SITE, f"http://{SITE}/item/{page}"):
            counted.begun(counted.due)
            found.append(page)
    return found


def test_the_longer_the_later() -> None:
    assert learnings(LearningSchedule(), 700) == [40, 80, 120, 180, 270, 405, 608]


def test_pages_of_a_new_kind_are_learned_soon() -> None:
    counted = LearningSchedule()
    learnings(counted, 700)
    due = [n for n in range(1, 60) if counted.add(SITE, f"http://{SITE}/item/{n}?utm_source=mail")]
    assert due[0] == times.NEW_KIND
