"""A rule that samples have refuted is learned again only from what was seen after that."""

from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.learn import learn_rules
from scrapy_dedup.learning.lifetime.running_counts import with_checks
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Evidence, Rule, SiteRules, Status
from scrapy_dedup.rules.files import load_file, path_of_site, save_site
from scrapy_dedup.rules.suspension import Refutation, suspend
from scrapy_dedup.store.rows import CheckRow

SITE = "shop.test"
REFUTED = 10_000


def seen(time: float, pages: int = 30, matters: bool = False) -> list[Observation]:
    """A shop whose session id does not matter, or does."""
    return [
        Observation(f"http://{SITE}/p?id={i}&sid={sid}", f"page {i} {sid if matters else ''}", time=time, words=50)
        for i in range(pages)
        for sid in (f"a{i}", f"b{i}", f"c{i}")
    ]


def acting(book: RuleBook) -> list[Rule]:
    return [rule for rule in book if rule.status.acts]


@pytest.fixture
def refuted() -> RuleBook:
    rules = learn_rules(seen(1))
    assert acting(rules)
    return RuleBook(
        replace(rule, status=Status.SUSPENDED, evidence=Evidence(samples=3, refuted=1, refuted_at=REFUTED))
        for rule in rules
    )


@pytest.mark.parametrize(
    ("observations", "again"),
    [
        (seen(1), False),
        (seen(REFUTED - 1), False),
        (seen(REFUTED + 1, pages=5) + seen(1), False),
        (seen(REFUTED + 1), True),
        (seen(1, pages=90)[90:] + seen(REFUTED + 1, matters=True), False),
    ],
    ids=["before", "just before", "too little since", "since", "since, and it matters"],
)
def test_what_a_rule_needs_to_return(refuted: RuleBook, observations: list[Observation], again: bool) -> None:
    found = learn_rules(observations, known=refuted)
    assert bool({rule.id for rule in acting(found)} & {rule.id for rule in refuted}) is again


@pytest.mark.parametrize("time", [1, REFUTED + 1])
def test_in_the_file(refuted: RuleBook, time: int) -> None:
    refuted.save(".")
    learn_rules(seen(time), known=RuleBook.load(".")).save(".")
    (rule,) = RuleBook.load(".")
    assert rule.evidence is not None
    assert rule.evidence.refuted_at == REFUTED
    if time > REFUTED:
        assert (rule.status, rule.evidence.samples) == (Status.ACTIVE, 0), "it is as young as a new one"
    else:
        assert (rule.status, rule.evidence.samples) == (Status.SUSPENDED, 3)
    learn_rules(seen(time), known=RuleBook.load(".")).save(".")
    assert next(iter(RuleBook.load("."))).status is rule.status, "and so it stays"


def test_spot_checks_stay_with_a_rule_that_is_learned_again(tmp_path: Path) -> None:
    book = learn_rules(seen(1))
    checks = [CheckRow("", SITE, rule.id, time, samples=5) for rule in book for time in (500.0, 600.0)]
    (again,) = learn_rules(seen(2), known=with_checks(book, checks))
    assert again.evidence is not None
    assert (again.status, again.evidence.samples, again.evidence.groups) == (Status.ACTIVE, 10, 60)


def test_what_is_noted_of_refuted_rules(tmp_path: Path) -> None:
    (rule,) = learn_rules(seen(1))
    users = replace(rule, id="mine", status=Status.MANUAL)
    elsewhere = replace(rule, id="12345678")
    save_site(tmp_path, SiteRules(SITE, (rule, users)))
    path = path_of_site(tmp_path, SITE)
    text = path.read_text().replace("[[rule]]", "# my words\n[[rule]]")
    path.write_text(text)
    refutation = Refutation(99.5, 4, 1)
    suspend(tmp_path, SITE, {}, {rule.id: refutation, users.id: refutation, "unknown": refutation})
    by_id = {each.id: each for each in load_file(path).rules}
    assert by_id.keys() == {rule.id, "mine"}
    assert by_id["mine"].status is Status.MANUAL
    evidence = by_id[rule.id].evidence
    assert evidence is not None
    assert (evidence.samples, evidence.refuted, evidence.refuted_at, evidence.until) == (4, 1, 100, 100)
    assert by_id[rule.id].status is Status.SUSPENDED
    assert "# my words" in path.read_text()
    assert 'refuted_at = "1970-01-01T00:01:40Z"' in path.read_text()
    suspend(tmp_path, SITE, {elsewhere.id: elsewhere}, {elsewhere.id: Refutation(7)})
    assert len(load_file(path).rules) == 3, "a rule of another directory is suspended here"


def test_the_suspended_one_of_two_counts(tmp_path: Path) -> None:
    (rule,) = learn_rules(seen(1))
    save_site(tmp_path / "reviewed", SiteRules(SITE, (rule,)))
    save_site(tmp_path / "own", SiteRules(SITE, (replace(rule, status=Status.SUSPENDED),)))
    (found,) = RuleBook.load(tmp_path / "reviewed", tmp_path / "own")
    assert found.status is Status.SUSPENDED
    save_site(tmp_path / "reviewed", SiteRules(SITE, (replace(rule, status=Status.MANUAL),)))
    (found,) = RuleBook.load(tmp_path / "reviewed", tmp_path / "own")
    assert found.status is Status.MANUAL
