"""What is said of a site without rules: the best pattern that was found, with its counts and URLs that speak against it."""

from scrapy_dedup import Observation
from scrapy_dedup.learning.learn import learn

from .test_commands_learn_rules import SITE


def _pages(pages: int, wrong: int) -> list[Observation]:
    """Return pages under two values of ``v``, which is another page for *wrong* of them."""
    return [
        Observation(
            f"http://{SITE}/view?id={number}&v={copy}", f"page {number} {copy if number < wrong else ''}", words=200
        )
        for number in range(pages)
        for copy in range(2)
    ]


def test_the_best_pattern_is_told_with_its_counts_and_an_example():
    (report,) = learn(_pages(40, 12)).reports
    assert report.rules == 0
    told = [note for note in report.notes if note.startswith("best pattern")]
    assert len(told) == 1
    assert "without the parameter v, 28 of 40 groups of URLs show one page; 12 do not, such as " in told[0]
    one, other = told[0].partition("such as ")[2].split(" and ")
    assert one.partition("&v=")[0] == other.partition("&v=")[0]
    assert int(one.partition("id=")[2].partition("&")[0]) < 12


def test_nothing_is_told_where_a_rule_acts_or_no_page_was_seen_twice():
    for observations in (_pages(60, 0), [each for each in _pages(40, 40) if each.url.endswith("v=0")]):
        (report,) = learn(observations).reports
        assert not [note for note in report.notes if "best pattern" in note]
