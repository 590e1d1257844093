"""The learners by name, and one function out of what several propose."""

import logging

import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning import learners as module
from scrapy_dedup.learning.clusters import clusters
from scrapy_dedup.learning.emission import Proposal
from scrapy_dedup.learning.learn import learn_site
from scrapy_dedup.learning.names import LEARNER_NAMES
from scrapy_dedup.rules import Ignore, RuleBook

SITE = "http://shop.example"
SEEN = [Observation(f"{SITE}/p?id={i}&sid={i:031x}{s}", f"page {i}") for i in range(60) for s in "ab"]


def test_settings_know_the_learners() -> None:
    assert tuple(module.LEARNERS) == LEARNER_NAMES


@pytest.mark.parametrize("names", ["entropy", 3, [], ["nosuch"]])
def test_wrong_learners(names: object) -> None:
    with pytest.raises(ValueError, match="learners is"):
        learn_rules(SEEN, learners=names)  # type: ignore[arg-type]


def test_who_proposed_a_rule() -> None:
    (rule,) = learn_rules(SEEN, learners=["entropy"])
    assert rule.evidence is not None
    assert rule.evidence.learners == ("entropy",)


def _failing(evidence: module.Evidence) -> list[Proposal]:
    raise RuntimeError("a fault")


def _unsayable(evidence: module.Evidence) -> list[Proposal]:
    return [Proposal((), "q.id[2]", Ignore())]


def test_a_faulty_learner_takes_no_other_with_it(caplog: pytest.LogCaptureFixture) -> None:
    asked = {"failing": _failing, "unsayable": _unsayable, "equivalence": module.LEARNERS["equivalence"]}
    with caplog.at_level(logging.ERROR):
        rules, _, _ = learn_site(
            "shop.example", clusters(SEEN), max_loss=0.001, groups=None, known=RuleBook(), learners=asked
        )
    assert [set(rule.ops) for rule in rules] == [{"q.sid"}]
    assert any("failing failed on shop.example" in message for message in caplog.messages)
