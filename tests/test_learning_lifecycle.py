"""The life of a rule, row by row of the table in scrapy_dedup/rules/lifecycle.py, through files as a crawl has them."""

import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.saving import save
from scrapy_dedup.rules import Evidence, Ignore, Keep, Reason, Rule, SiteRules, Status, path_of_site, save_site
from scrapy_dedup.rules.suspension import Refutation, suspend
from scrapy_dedup.urls import ValueClass

SITE = "shop.example"
SID = "q.sid"


def seen(
    pages: Sequence[int], *, forms: int = 2, time: float = 1.0, section: str = "p", differ: bool = False
) -> list[Observation]:
    """Pages under so many session ids each; where they *differ*, each session shows a page of its own."""
    return [
        Observation(
            f"http://{SITE}/{section}/{number}?sid={number:08x}{form:08x}{int(time):08x}{'0' * 8}",
            f"the page {section} {number}" + (f" of session {form}" if differ else ""),
            time=time + form,
            words=50,
        )
        for number in pages
        for form in range(forms)
    ]


def learned(directory: Path, observations: Sequence[Observation], *, others: Sequence[Path] = ()) -> tuple[str, ...]:
    """Learn beside what stands in *directory*, write that, and return what rules departed."""
    found = learn(observations, known=RuleBook.load(directory, *others))
    save(LearnedRulesAndMasks(found), directory, others)
    return tuple(f"{each.rule.id} {each.reason}" for each in found.departures)


def text(directory: Path) -> str:
    return path_of_site(directory, SITE).read_text("utf-8")


def rules(directory: Path) -> dict[str, Status]:
    return {rule.id: rule.status for rule in RuleBook.load(directory)}


@pytest.fixture
def proven(tmp_path: Path) -> Path:
    """A directory with the file of one proven rule."""
    assert learned(tmp_path, seen(range(40), time=1000)) == ()
    assert list(rules(tmp_path).values()) == [Status.ACTIVE]
    return tmp_path


@pytest.mark.parametrize("edited", [2, 40])
def test_pages_that_are_edited_between_two_crawls_are_no_counterexamples(proven: Path, edited: int) -> None:
    """The crawl that the rule was learned from saw each page twice; the next one, which the rule filters, once."""
    before, day = text(proven), 86_400
    old = seen(range(40), time=1000)
    new = seen(range(40), forms=1, time=1000 + day)
    new[:edited] = [replace(each, fingerprint=f"{each.fingerprint}, edited") for each in new[:edited]]
    assert learned(proven, [*old, *new]) == ()
    assert text(proven) == before
    # What differs in one and the same crawl does speak against it.
    assert learned(proven, [*old, *seen(range(40), time=1000 + day, differ=True)]) != ()


def test_a_rule_of_another_directory_is_not_written(proven: Path, tmp_path: Path) -> None:
    own = tmp_path / "own"
    own.mkdir()
    learned(own, seen(range(10), time=5000), others=[proven])
    assert not list(own.iterdir())
    learned(own, [*seen(range(10), time=5000), *aliases_of_host()], others=[proven])
    assert all(SID not in rule.ops for rule in RuleBook.load(own))


def aliases_of_host() -> list[Observation]:
    """Twenty pages under two hosts."""
    return [
        Observation(f"http://{host}{SITE}/h/{number}", f"the page of hosts {number}", words=50, time=6000.0)
        for number in range(20)
        for host in ("", "m.")
    ]


# (not there) -> candidate, active


def test_a_rule_is_learned_with_what_was_seen_until_when(proven: Path) -> None:
    ((rule,), (evidence,)) = zip(*((rule, rule.evidence) for rule in RuleBook.load(proven)), strict=True)
    assert rule.ops == {SID: Ignore(ValueClass("hex", 32, 32))}
    assert evidence is not None
    assert (evidence.groups, evidence.until) == (40, 1001)
    assert 'until = "1970-01-01T00:16:41Z"' in text(proven)


def test_no_rule_is_learned_without_witness_groups(tmp_path: Path) -> None:
    learned(tmp_path, seen(range(40), forms=1))
    assert not list(tmp_path.iterdir())


# candidate -> active, gone


def test_a_candidate_acts_once_it_is_proven_and_waits_until_then(tmp_path: Path) -> None:
    learned(tmp_path, seen(range(40), time=1000))
    (rule,) = RuleBook.load(tmp_path)
    save_site(tmp_path, SiteRules(SITE, (replace(rule, status=Status.CANDIDATE, evidence=Evidence(groups=4)),)))
    before = text(tmp_path)
    assert learned(tmp_path, seen(range(60), forms=1, time=5000)) == ()
    assert text(tmp_path) == before, "nothing speaks for it, nor against"
    learned(tmp_path, seen(range(40), time=6000))
    assert rules(tmp_path) == {rule.id: Status.ACTIVE}


def test_a_candidate_goes_by_a_counterexample(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    save_site(proven, SiteRules(SITE, (replace(rule, status=Status.CANDIDATE),)))
    assert learned(proven, seen(range(40), time=5000, differ=True)) == (f"{rule.id} {Reason.COUNTEREXAMPLE}",)
    assert rules(proven) == {}


# active -> suspended, gone, narrower, wider


def test_a_refuted_spot_check_suspends(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    suspend(proven, SITE, {}, {rule.id: Refutation(5000.0, samples=9, refuted=3)})
    assert rules(proven) == {rule.id: Status.SUSPENDED}
    before = text(proven)
    assert "samples = 9" in before
    learned(proven, seen(range(40), time=1000))
    assert text(proven) == before, "what was seen before the refutation does not bring it back"


def test_counterexamples_end_a_rule_and_are_told(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    found = learn(seen(range(40), time=5000, differ=True), known=RuleBook.load(proven))
    (departure,) = found.departures
    assert (departure.rule.id, departure.reason, departure.is_loss) == (rule.id, Reason.COUNTEREXAMPLE, True)
    assert departure.urls is not None
    assert rule.id in str(departure)
    assert all(url in str(departure) for url in departure.urls)
    save(LearnedRulesAndMasks(found), proven)
    assert rules(proven) == {}


def test_counterexamples_in_one_section_leave_a_narrower_rule(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    wide = replace(rule, match={}, id="")
    save_site(proven, SiteRules(SITE, (wide,)))
    rows = [*seen(range(40), time=5000), *seen(range(40), time=5000, section="chat", differ=True)]
    assert learned(proven, rows) == (f"{wide.id} {Reason.COUNTEREXAMPLE}",)
    book = RuleBook.load(proven)
    a, b, c, d = (f"http://{SITE}/{where}?sid={sid * 32}" for where in ("p/1", "chat/1") for sid in "ab")
    assert book.equivalent(a, b), "the savings stay"
    assert not book.equivalent(c, d)


def test_few_odd_responses_end_no_rule_that_many_groups_prove(tmp_path: Path) -> None:
    """The witness groups in the file count: eight odd responses in a crawl of thirty pages are noise beside a thousand."""
    learned(tmp_path, seen(range(1500), time=1000))
    (rule,) = RuleBook.load(tmp_path)
    before = text(tmp_path)
    odd = [
        Observation(f"http://{SITE}/p/{n}?sid={'f' * 32}", f"odd {n}, and shown nowhere else", words=50, time=5001.0)
        for n in range(8)
    ]
    few = [*seen(range(30), time=5000), *odd]
    assert learned(tmp_path, few) == ()
    assert text(tmp_path) == before
    weak = replace(rule, evidence=Evidence(groups=10))
    save_site(tmp_path, SiteRules(SITE, (weak,)))
    assert learned(tmp_path, few) == (f"{rule.id} {Reason.COUNTEREXAMPLE}",), "and not beside ten"


def test_a_wider_rule_takes_the_place_of_several(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    nested = [replace(rule, ops={SID: Ignore(ValueClass("hex", 32, most))}, id="") for most in (32, 40, 64)]
    save_site(proven, SiteRules(SITE, tuple(nested)))
    rows = [
        Observation(f"http://{SITE}/p/{n}?sid={'a' * (30 + n % 50)}{n}{form}", f"page {n}", words=50, time=5000.0)
        for n in range(100)
        for form in range(2)
    ]
    gone = learned(proven, rows)
    assert sorted(gone) == sorted(f"{each.id} {Reason.COVERED}" for each in nested)
    (left,) = RuleBook.load(proven)
    assert left.ops == {SID: Ignore(ValueClass("hex", 16, 164))}, "half as long as what was seen, and twice"


# active -> candidate


def test_a_rule_of_an_old_file_without_evidence_is_a_candidate(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    wide = Rule(SITE, {}, {"path.1": Ignore(["a", "b"])}, evidence=Evidence(("difference_sets",), groups=0, pages=9))
    keeps = Rule(SITE, {}, {"q.lang": Keep()}, evidence=Evidence(("difference_sets",), groups=0))
    save_site(tmp_path, SiteRules(SITE, (wide, keeps)))
    with caplog.at_level(logging.WARNING):
        assert rules(tmp_path) == {wide.id: Status.CANDIDATE, keeps.id: Status.ACTIVE}
    (message,) = caplog.messages
    assert wide.id in message
    assert str(path_of_site(tmp_path, SITE)) in message


# suspended -> active


def test_a_suspended_rule_returns_by_what_was_seen_later(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    suspend(proven, SITE, {}, {rule.id: Refutation(5000.0, samples=9, refuted=3)})
    learned(proven, seen(range(40), time=6000))
    assert rules(proven) == {rule.id: Status.ACTIVE}


# any learned -> manual, off, gone: the user


def test_an_edited_rule_is_manual_and_stays(proven: Path) -> None:
    path = path_of_site(proven, SITE)
    path.write_text(text(proven).replace('class = "hex"', 'class = "alnum"'))
    (rule,) = RuleBook.load(proven)
    assert rule.status is Status.MANUAL
    learned(proven, seen(range(40), time=5000, differ=True))
    assert rules(proven)[rule.id] is Status.MANUAL


def test_what_is_switched_off_leaves_and_is_not_learned_back(proven: Path) -> None:
    (rule,) = RuleBook.load(proven)
    save_site(proven, SiteRules(SITE, (rule, Rule(SITE, {}, {SID: Ignore()}, Status.OFF))))
    assert learned(proven, seen(range(40), time=5000)) == (f"{rule.id} {Reason.OFF}",)
    assert list(rules(proven).values()) == [Status.OFF]


def test_a_deleted_rule_is_gone(proven: Path) -> None:
    path_of_site(proven, SITE).unlink()
    learned(proven, seen(range(60), forms=1, time=5000))
    assert rules(proven) == {}
