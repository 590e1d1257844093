"""Rules that act stay as wide as they are while nothing speaks against them."""

from dataclasses import replace

import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.proposals.coverage import says_as_much
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.rules import Evidence, Ignore, Literal, OfClass, OneOf, Rule, RuleBook, SetOfValues, Status
from scrapy_dedup.urls import ValueClass

SITE = "shop.example"
EVERYWHERE = Rule(SITE, {}, {"q.tag": SetOfValues()}, Status.ACTIVE)
LISTS = tuple("abcdefgh")


def seen(discarded: str) -> list[Observation]:
    """Return 12 pages of each list, under a tag, and under the same tag twice; of *discarded* lists only the latter."""
    found = []
    for name in LISTS:
        for number in range(12):
            text = f"the list {name} by the tag {number} with some words of its own {name}{number}"
            found.append(Observation(f"http://{SITE}/{name}/?tag=t{number}&tag=t{number}", text))
            if name not in discarded:
                found.append(Observation(f"http://{SITE}/{name}/?tag=t{number}", text))
    return found


def test_what_a_rule_discards_narrows_it_not() -> None:
    (rule,) = learn_rules(seen(discarded="cdefgh"), known=RuleBook([EVERYWHERE]))
    assert rule.id == EVERYWHERE.id
    assert rule.evidence is not None
    assert rule.evidence.groups == 24


@pytest.mark.parametrize("status", [Status.SUSPENDED, Status.OFF])
def test_a_rule_that_does_not_act_says_nothing(status: Status) -> None:
    known = RuleBook([replace(EVERYWHERE, status=status)])
    acting = [rule for rule in learn_rules(seen(discarded="cdefgh"), known=known) if rule.status.acts]
    assert EVERYWHERE.id not in [rule.id for rule in acting]


def test_pages_against_it_end_it() -> None:
    other = Observation(f"http://{SITE}/c/?tag=t1", "quite another list that is not the list of the tag given twice")
    more = [
        Observation(f"http://{SITE}/c/?tag=t{n}", f"and number {n} is another list, too, with words")
        for n in range(2, 9)
    ]
    book = learn_rules([*seen(discarded="cdefgh"), other, *more], known=RuleBook([EVERYWHERE]))
    assert EVERYWHERE.id not in [rule.id for rule in book]
    key = book.canonical_key
    assert key(other.url) != key(f"http://{SITE}/c/?tag=t1&tag=t1")


@pytest.mark.parametrize(("walls", "stays"), [(10, True), (25, False)])
def test_a_wall_beside_pages_does_not_end_it(walls: int, stays: bool) -> None:
    """What a few pages show beside themselves says nothing against the rule; what most of them show may be a page."""
    rule = Rule(SITE, {}, {"q.sid": Ignore()}, Status.ACTIVE)
    found = []
    for page in range(40):
        url, text = f"http://{SITE}/p?id={page}&sid=s{page}", f"the page {page} with some words of its own x{page}"
        found.append(Observation(f"{url}a", text))
        if page < walls:
            found.append(Observation(f"{url}b", "one moment please while it is found out who asks"))
    book = learn_rules(found, known=RuleBook([rule]))
    assert [each.id for each in book if each.status is Status.ACTIVE] == [rule.id] * stays


def test_without_evidence_it_stays() -> None:
    """What was seen of it is too old, or in another store, or nothing shows twice since the rule filters it."""
    (rule,) = learn_rules(seen(discarded="abcdefgh"), known=RuleBook([EVERYWHERE]))
    assert rule.id == EVERYWHERE.id
    assert rule.status is Status.ACTIVE


def read(known: int, declared: dict[str, object] | None = None) -> list[Observation]:
    """Return 60 pages under an id each, *known* of them under another one, too."""
    found = []
    for page in range(60):
        ids = (100 + page, 300 + page) if page < known else (100 + page,)
        for number in ids:
            url = f"http://{SITE}/v/{page}?id={number}"
            more: dict[str, object] = {"canonical": url} if declared == {"canonical": True} else declared or {}
            found.append(Observation(url, f"the page {page} with words", words=100, **more))  # type: ignore[arg-type]
    return found


@pytest.mark.parametrize("declared", [{"headers": {"no-vary-search": 'params, except=("id")'}}, {"canonical": True}])
def test_what_the_site_declares_to_be_content_ends_it(declared: dict[str, object]) -> None:
    known = learn_rules(read(known=4))
    assert [(set(rule.ops), rule.status) for rule in known] == [({"q.id"}, Status.ACTIVE)]
    assert [rule.status for rule in learn_rules(read(known=4), known=known)] == [Status.ACTIVE]
    assert not learn_rules(read(known=4, declared=declared), known=known)


def test_witness_groups_in_the_file_outweigh_what_the_site_declares() -> None:
    known = learn_rules(read(known=60))
    found = learn_rules(read(known=14, declared={"canonical": True}), known=known)
    assert Status.ACTIVE in [rule.status for rule in found if set(rule.ops) == {"q.id"}]


def test_pages_enough_outweigh_what_the_site_declares() -> None:
    header = {"headers": {"no-vary-search": 'params, except=("id")'}}
    known = learn_rules(read(known=60))
    more = [
        Observation(f"http://{SITE}/v/p{page}?id={number}", f"page p{page}", words=100, **header)
        for page in range(400)
        for number in (page, 500 + page)
    ]
    assert [rule.status for rule in learn_rules(more, known=known)] == [Status.ACTIVE]


def test_what_is_wider_takes_its_place() -> None:
    narrow = Rule(SITE, {"path.0": OneOf(["a", "b"])}, {"q.tag": SetOfValues()}, Status.ACTIVE)
    (rule,) = learn_rules(seen(discarded=""), known=RuleBook([narrow]))
    assert rule.match == {}


def test_coverage() -> None:
    def proposal(*match: tuple[str, object], only: frozenset[str] | None = None) -> Proposal:
        return Proposal(match, "q.x", Ignore(only=only))  # type: ignore[arg-type]

    few, many = ("path.0", OneOf(["a", "b"])), ("path.0", OneOf(["a", "b", "c"]))
    assert says_as_much(proposal(many), proposal(few))
    assert not says_as_much(proposal(few), proposal(many))
    assert says_as_much(proposal(many), proposal(("path.0", Literal("c"))))
    assert not says_as_much(proposal(many), proposal(("path.0", Literal("c", True))))
    assert not says_as_much(proposal(many), proposal())
    assert says_as_much(proposal(), proposal(many))
    digits = ("path.0", OfClass(ValueClass("int", 1, 4)))
    assert says_as_much(proposal(digits), proposal(digits))
    assert not says_as_much(proposal(digits), proposal(few))
    assert not says_as_much(proposal(few, only=frozenset("1")), proposal(few))
    assert says_as_much(proposal(few), proposal(few, only=frozenset("1")))
    assert not says_as_much(Proposal((), "q.y", Ignore()), proposal())


def sessions(pages: int) -> list[Observation]:
    """Return pages of two sections, each under four session ids."""
    return [
        Observation(
            f"http://{SITE}/{section}/{number}?sid={number * 4 + copy:032x}",
            f"the page {number} of the section {section} with some words of its own {section}{number}",
        )
        for section in ("news", "shop")
        for number in range(pages)
        for copy in range(4)
    ]


def test_a_rule_without_which_no_key_is_another_leaves() -> None:
    """Two learned rules say the same of all that was seen, in other words: the lesser one leaves, and nothing else changes."""
    urls = [seen.url for seen in sessions(12)]
    broad = Rule(
        SITE, {}, {"q.sid": Ignore(ValueClass("hex", 32, 32))}, evidence=Evidence(groups=30, urls=90, removed=60)
    )
    narrow = Rule(
        SITE, {"path.len": Literal("2")}, {"q.sid": Ignore()}, evidence=Evidence(groups=4, urls=20, removed=9)
    )
    by_hand = Rule(SITE, {"path.len": Literal("2"), "scheme": Literal("http")}, {"q.sid": Ignore()}, Status.MANUAL)
    before = RuleBook([broad, narrow, by_hand])
    learned = learn_rules(sessions(12), known=before)
    assert narrow.id not in {rule.id for rule in learned}
    assert by_hand.id in {rule.id for rule in learned}
    assert [learned.canonical_key(url) for url in urls] == [before.canonical_key(url) for url in urls]
    assert len({learned.canonical_key(url) for url in urls}) == 24

    # What it was proven on is not there to tell.
    elsewhere = replace(narrow, evidence=Evidence(groups=400, urls=2_000, removed=900))
    learned = learn_rules(
        sessions(12), known=RuleBook([replace(broad, evidence=replace(broad.evidence, urls=5_000)), elsewhere])
    )
    assert {broad.id, narrow.id} <= {rule.id for rule in learned}
    # Without the other it is needed.
    (rule,) = learn_rules(sessions(12), known=RuleBook([narrow]))
    assert len({RuleBook([rule]).canonical_key(url) for url in urls}) == 24
