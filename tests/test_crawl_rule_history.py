"""What several learnings of a crawl have changed, told as one."""

from typing import Any

from scrapy_dedup.crawl.learn.learning_counts import RuleHistory


def _changes(
    unchanged: str = "", added: str = "", dropped: str = "", **replaced: dict[str, list[str]]
) -> dict[str, Any]:
    return {
        "unchanged": list(unchanged),
        "added": list(added),
        "dropped": list(dropped),
        "wider": {},
        "narrower": {},
    } | replaced


def test_learnings_are_told_as_one():
    history = RuleHistory()
    assert str(history) == "no rules"
    history.note("a.test", _changes("ab", "c"))
    assert str(history) == "+1 rule, 2 unchanged"
    history.note("a.test", _changes("ac", wider={"d": ["b"]}))
    assert str(history) == "+1 rule, 1 wider, 1 unchanged"
    history.note("a.test", _changes("c", narrower={"e": ["d"]}, dropped="a"))
    assert str(history) == "+1 rule, 1 narrower, -1 rule"


def test_what_came_and_went_in_one_crawl_is_not_told():
    history = RuleHistory()
    history.note("a.test", _changes("a", "b"))
    history.note("a.test", _changes("a", dropped="b"))
    history.note("b.test", _changes(added="a"))
    history.note("b.test", _changes(wider={"b": ["a"]}))
    assert str(history) == "+1 rule, 1 unchanged"


def test_a_rule_that_returns_is_unchanged():
    history = RuleHistory()
    history.note("a.test", _changes(wider={"b": ["a"]}))
    history.note("a.test", _changes(narrower={"a": ["b"]}))
    assert str(history) == "1 rule unchanged"
