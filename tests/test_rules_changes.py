"""What learning changes of the rules that act."""

from scrapy_dedup.rules import Ignore, Rule, RuleBook, Status
from scrapy_dedup.rules.changes import changes
from scrapy_dedup.rules.lifecycle import Departure, Reason

SITE = "shop.test"


def _rule(name: str, status: Status = Status.ACTIVE, site: str = SITE) -> Rule:
    return Rule(site, {}, {f"q.{name}": Ignore()}, status, id=name)


A, B, C, D = map(_rule, "abcd")


def test_each_rule_is_one_thing():
    left = [Departure(A, Reason.COVERED, by=("c",)), Departure(B, Reason.COUNTEREXAMPLE, by=("d",))]
    found = changes(RuleBook([A, B, _rule("e")]), RuleBook([C, D, _rule("e"), _rule("f")]), left)
    assert [rule.id for rule in found.added] == ["f"]
    assert [(each.rule.id, *(rule.id for rule in each.before)) for each in found.wider] == [("c", "a")]
    assert [(each.rule.id, *(rule.id for rule in each.before)) for each in found.narrower] == [("d", "b")]
    assert [rule.id for rule in found.unchanged] == ["e"]
    assert str(found) == "+1 rule, 1 wider, 1 narrower, 1 unchanged"
    expected = {"added": ["f"], "dropped": [], "unchanged": ["e"], "wider": {"c": ["a"]}, "narrower": {"d": ["b"]}}
    assert found.to_dict() == expected


def test_what_is_gone_is_told_and_what_does_not_act_is_not():
    before = RuleBook([A, B, _rule("s", Status.SUSPENDED), _rule("o", site="other.test")])
    after = RuleBook([B, _rule("c", Status.CANDIDATE), _rule("o", site="other.test")])
    found = changes(before, after, [Departure(A, Reason.COUNTEREXAMPLE), Departure(B, Reason.OFF)], [SITE])
    assert [rule.id for rule in found.dropped] == ["a"]
    assert [rule.id for rule in found.unchanged] == ["b"], "it was found again"
    assert str(found) == "-1 rule, 1 unchanged"
    assert found
    assert not changes(before, before, [])
    assert str(changes(RuleBook(), RuleBook(), [])) == "no rules"
