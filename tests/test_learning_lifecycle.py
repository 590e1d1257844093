"""The life of a rule through files as a crawl has them: what ends, narrows, widens or brings it back, and what moves nothing."""

import logging
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.saving import save

from .crawling import ignore, rule_toml, rules_of, save_rules, statuses
from .learning import SITE, check, drawn, observed

NAME, DAY, REFUTED = "shop.example", 86_400.0, 10_000
HEX = '{ class = "hex", length = [32, 32] }'
PROVEN = ignore("q.sid", "active", groups=40, urls=80, removed=40)
SAME = f"/p/1?sid={'a' * 32} == /p/1?sid={'b' * 32}"
APART = f"/p/1?sid={'a' * 32} != /p/1?sid={'b' * 32}"
EVERYWHERE = rule_toml('"q.tag" = "set-of-values"', status="active", evidence={"groups": 12})


def seen(
    pages: Iterable[int] = range(40), *, forms: int = 2, time: float = 1000, section: str = "p", differ: bool = False
) -> list[Observation]:
    """Pages under so many session ids each; where they *differ*, each session shows a page of its own."""
    return [
        Observation(
            f"{SITE}/{section}/{number}?sid={number:08x}{form:08x}{int(time):08x}{'0' * 8}",
            f"the page {section} {number}{f' of session {form}' * differ}",
            time=time + form,
            words=50,
        )
        for number in pages
        for form in range(forms)
    ]


def once(pages: Iterable[int] = range(60), text: str = "the page p {}", time: float = 5000) -> list[Observation]:
    """Pages whose duplicates a rule filters."""
    return [Observation(f"{SITE}/p/{n}?sid={drawn(n)}", text.format(n), time=time, words=50) for n in pages]


def lists(discarded: str) -> list[Observation]:
    """12 pages of each list, under a tag, and under the same tag twice; of *discarded* lists only the latter."""
    return observed(
        (f"/{name}/?tag=t{n}{again}", f"the list {name} by the tag {n}")
        for name in "abcdefgh"
        for n in range(12)
        for again in (f"&tag=t{n}", *([""] if name not in discarded else []))
    )


def walled(number: int) -> list[Observation]:
    """Pages of which so many show a wall under another session."""
    return observed(
        (f"/p?id={n}&sid=s{n}{copy}", "one moment please" if copy == "b" else f"page {n}")
        for n in range(40)
        for copy in "ab"
        if copy == "a" or n < number
    )


def end_points(number: int) -> list[Observation]:
    """End points that give one answer for all SKUs."""
    return observed((f"/api/{name}?sku={i}", f"{name}: yes") for name in "abcde"[:number] for i in range(80))


def numbered(twice: int, pages: int = 60, **declared: Any) -> list[Observation]:
    """Pages under an id each, and *twice* of them under another one."""
    return [
        Observation(f"{SITE}/v/{n}?id={number}", f"the page {n}", words=100, **declared)
        for n in range(pages)
        for number in (100 + n, *([900 + n] if n < twice else []))
    ]


def canonical(observations: Iterable[Observation]) -> list[Observation]:
    return [Observation(each.url, each.fingerprint, words=100, canonical=each.url) for each in observations]


def there(directory: str = "dedup-rules") -> list[str]:
    """The rules in the file of the site: their keys, and their status."""
    return sorted(f"{' '.join(rule['ops'])} {rule['status']}" for rule in rules_of(NAME, directory))


def relearned(observations: Sequence[Observation], *others: str, directory: str = "dedup-rules") -> tuple[str, ...]:
    """Learn beside what stands in a directory, write that, and return why rules departed."""
    found = learn(observations, known=RuleBook.load(directory, *others, missing_ok=True))
    save(LearnedRulesAndMasks(found), directory, others)
    return tuple(str(each.reason) for each in found.departures)


def hexed(status: str, **evidence: Any) -> str:
    """The rule that is learned of such pages."""
    return rule_toml(f'"q.sid" = {{ ignore = {HEX} }}', status=status, evidence=evidence)


REFUTED_RULE = hexed("suspended", groups=40, samples=3, refuted=1, refuted_at="1970-01-01T02:46:40Z")
HEADER = {"headers": {"no-vary-search": 'params, except=("id")'}}
STAYS: dict[str, tuple[str, list[Observation], str]] = {
    "nothing shows twice since the rule filters it": (PROVEN, once(), SAME),
    "pages that two crawls saw alike": (PROVEN, [*seen(), *once(range(40), time=1000 + DAY)], SAME),
    **{
        f"{edited} pages that were edited between two crawls": (
            PROVEN,
            [
                *seen(),
                *once(range(edited), "the page p {}, edited", 1000 + DAY),
                *once(range(edited, 40), time=1000 + DAY),
            ],
            SAME,
        )
        for edited in (2, 40)
    },
    "few odd responses beside many groups": (
        ignore("q.sid", "active", groups=1500, urls=3000, removed=1500),
        [*seen(range(30), time=5000), *once(range(8), "odd {}, and shown nowhere else", 5001)],
        SAME,
    ),
    "a wall before a few pages": (ignore("q.sid", "active"), walled(10), "/p?id=1&sid=s1a == /p?id=1&sid=s2a"),
    "a tag whose lists are discarded": (EVERYWHERE, lists("cdefgh"), "/c/?tag=a&tag=a == /c/?tag=a"),
    "a tag whose lists are all discarded": (EVERYWHERE, lists("abcdefgh"), "/c/?tag=a&tag=a == /c/?tag=a"),
    "an answer whose pages were filtered beside it": (
        ignore("q.sku", "active", groups=60, pages=60, urls=180, removed=120),
        end_points(2),
        "/api/a?sku=1 == /api/a?sku=2",
    ),
    "what the user says, and all speaks against": (ignore("q.sid"), seen(differ=True), SAME),
    "what the user says of one answer": (ignore("q.sku"), end_points(5), "/api/a?sku=1 == /api/a?sku=2"),
    "what is off": (ignore("q.sid", "off"), seen(), APART),
    "what is off, of some values": (hexed("off"), seen(), APART),
    "a candidate that nothing speaks for": (hexed("candidate", groups=4), once(), APART),
    "refuted, and seen before": (REFUTED_RULE, seen(time=1), APART),
    "refuted, and seen just before": (REFUTED_RULE, seen(time=REFUTED - 2), APART),
    "refuted, and little seen since": (REFUTED_RULE, [*seen(range(5), time=REFUTED + 1), *seen(time=1)], APART),
    "refuted, and it matters": (REFUTED_RULE, [*seen(time=1), *seen(time=REFUTED + 1, differ=True)], APART),
    "what groups in the file speak for and the site against": (
        ignore("q.id", "active", groups=60, urls=120, removed=60),
        canonical(numbered(14)),
        "/v/7?id=1 == /v/7?id=2",
    ),
    "what pages speak for and the site against": (
        ignore("q.id", "active", groups=60, urls=120, removed=60),
        numbered(400, 400, **HEADER),
        "/v/7?id=1 == /v/7?id=2",
    ),
}


@pytest.mark.parametrize("name", STAYS)
def test_what_moves_no_rule(name: str) -> None:
    text, observations, saying = STAYS[name]
    save_rules(NAME, text)
    before = there()
    assert relearned(observations) == ()
    assert there() == before
    check(RuleBook.load("dedup-rules"), saying)
    assert relearned(observations) == ()
    assert there() == before, "and so it stays"


MOVES: dict[str, tuple[Any, ...]] = {
    "pages of their own": ([PROVEN], seen(time=5000, differ=True), [], APART),
    "pages of their own end a candidate": ([ignore("q.sid", "candidate", groups=40)], seen(differ=True), [], APART),
    "few odd responses beside few groups": (
        [ignore("q.sid", "active", groups=10, urls=20, removed=10)],
        [
            *seen(range(30), time=5000),
            *[
                Observation(f"{each.url[:-1]}f", f"odd {each.url}", time=5001.0, words=50)
                for each in seen(range(8), forms=1, time=5000)
            ],
        ],
        [],
        APART,
    ),
    "a wall before most pages": ([ignore("q.sid", "active")], walled(25), [], "/p?id=1&sid=s1a != /p?id=1&sid=s2a"),
    "what the site declares to be content": (
        [ignore("q.id", "active", groups=4, urls=64, removed=4)],
        numbered(4, **HEADER),
        [],
        "/v/7?id=1 != /v/7?id=2",
    ),
    "canonical URLs": (
        [ignore("q.id", "active", groups=4, urls=64, removed=4)],
        canonical(numbered(4)),
        [],
        "/v/7?id=1 != /v/7?id=2",
    ),
    "answers that different pages have in common": (
        [ignore("q.sku", "active", groups=5, pages=5, urls=400, removed=395)],
        [*end_points(5), *seen()],
        ["q.sid active"],
        "/api/a?sku=1 != /api/a?sku=2",
        SAME,
    ),
    "one section where it does not hold": (
        [PROVEN],
        [*seen(time=5000), *seen(time=5000, section="chat", differ=True)],
        ["q.sid active"],
        SAME,
        SAME.replace("/p/", "/chat/").replace("==", "!="),
    ),
    "tags that matter in a list": (
        [EVERYWHERE],
        [*lists("cdefgh"), *observed((f"/c/?tag=t{n}", f"and number {n} is another list") for n in range(1, 9))],
        ["q.tag active", "q.tag active"],
        "/a/?tag=x&tag=x == /a/?tag=x",
        "/c/?tag=t1&tag=t1 != /c/?tag=t1",
    ),
    "a wider one of tags": (
        [
            rule_toml(
                '"q.tag" = "set-of-values"',
                match=['"path.0" = { in = ["a", "b"] }'],
                status="active",
                evidence={"groups": 12},
            )
        ],
        lists(""),
        ["q.tag active"],
        "/new/?tag=x&tag=x == /new/?tag=x",
    ),
    "a wider one instead of several": (
        [
            rule_toml(
                f'"q.sid" = {{ ignore = {{ class = "hex", length = [32, {most}] }} }}',
                status="active",
                evidence={"groups": 40},
            )
            for most in (32, 40, 64)
        ],
        observed((f"/p/{n}?sid={'a' * (30 + n % 50)}{n}{form}", f"page {n}") for n in range(100) for form in range(2)),
        ["q.sid active"],
        f"/p/1?sid={'a' * 160} == /p/1?sid={'b' * 20}",
        "/p/1?sid=a == /p/1?sid=a",
        "/p/1?sid=a != /p/1?sid=b",
    ),
    "groups enough for a candidate": (
        [hexed("candidate", groups=4)],
        seen(time=6000),
        ["q.sid active"],
        SAME,
    ),
    "what was seen after it was refuted": ([REFUTED_RULE], seen(time=REFUTED + 1), ["q.sid active"], SAME),
    "what is suspended beside one that matters": (
        [ignore("q.tag", "off"), PROVEN],
        lists(""),
        ["q.sid active", "q.tag off"],
        "/a/?tag=x&tag=x != /a/?tag=x",
    ),
    "what is switched off": (
        [PROVEN, hexed("off")],
        seen(time=5000),
        ["q.sid off"],
        APART,
    ),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_rules(name: str) -> None:
    texts, observations, after, *sayings = MOVES[name]
    save_rules(NAME, *texts)
    relearned(observations)
    assert there() == after
    check(RuleBook.load("dedup-rules"), *sayings)


def test_a_rule_is_learned_with_what_was_seen_and_what_speaks_against_it_is_told() -> None:
    assert relearned(seen()) == ()
    ((rule,), before) = (rules_of(NAME), Path("dedup-rules", f"{NAME}.toml").read_text())
    assert (rule["status"], rule["ops"]) == ("active", {"q.sid": {"ignore": {"class": "hex", "length": [32, 32]}}})
    assert (rule["evidence"]["groups"], str(rule["evidence"]["until"])) == (40, "1970-01-01T00:16:41Z")
    assert relearned(once(time=5000)) == ()
    assert Path("dedup-rules", f"{NAME}.toml").read_text() == before
    found = learn(seen(time=5000, differ=True), known=RuleBook.load("dedup-rules"))
    (departure,) = found.departures
    assert (departure.rule.id, departure.is_loss) == (rule["id"], True)
    assert departure.urls is not None
    assert all(text in str(departure) for text in (rule["id"], *departure.urls))


def test_a_deleted_rule_is_gone_and_none_is_learned_without_groups() -> None:
    relearned(once())
    assert not Path("dedup-rules").exists()


def test_counts_go_on_with_a_rule_that_is_learned_again_and_begin_anew_with_one_that_returns() -> None:
    for text, groups, samples in ((hexed("active", groups=40, samples=10), 100, 10), (REFUTED_RULE, 60, 0)):
        save_rules(NAME, text)
        (rule,) = learn_rules(seen(range(60), time=REFUTED + 1), known=RuleBook.load("dedup-rules"))
        assert rule.evidence is not None
        assert (rule.status.acts, rule.evidence.groups, rule.evidence.samples) == (True, groups, samples)


def test_an_edited_rule_is_manual_and_stays() -> None:
    relearned(seen())
    path = Path("dedup-rules", f"{NAME}.toml")
    path.write_text(path.read_text().replace('"hex"', '"alnum"'))
    relearned(seen(time=5000, differ=True))
    assert there()[0] == "q.sid manual"


def test_a_rule_of_an_old_file_without_evidence_is_a_candidate(caplog: pytest.LogCaptureFixture) -> None:
    keeps = rule_toml('"q.lang" = "keep"', status="active", evidence={"groups": 0})
    path = save_rules(NAME, ignore("q.sid", "active", groups=0, pages=9), keeps)
    with caplog.at_level(logging.WARNING):
        book = RuleBook.load("dedup-rules")
    check(book, APART)
    (message,) = caplog.messages
    assert str(path) in message
    assert {key: rule.status.acts for rule in book for key in rule.ops} == {"q.sid": False, "q.lang": True}


def test_a_rule_of_another_directory_is_not_written_and_of_two_the_suspended_one_counts() -> None:
    save_rules(NAME, PROVEN, directory="reviewed")
    Path("own").mkdir()
    relearned(seen(time=5000), "reviewed", directory="own")
    assert not list(Path("own").iterdir())
    hosts = [(f"http://{host}{NAME}/h/{n}", f"the page of hosts {n}") for n in range(20) for host in ("", "m.")]
    relearned([*seen(time=5000), *observed(hosts)], "reviewed", directory="own")
    assert statuses(NAME, "own").keys() == {"host.1"}
    for status, saying in (("active", APART), ("manual", SAME)):
        save_rules(NAME, hexed(status, groups=40), directory="reviewed")
        save_rules(NAME, REFUTED_RULE, directory="own")
        check(RuleBook.load("reviewed", "own"), saying)


def test_a_rule_without_which_no_key_is_another_leaves() -> None:
    """Two learned rules say the same of all that was seen, in other words: the lesser one leaves, and nothing else changes."""

    def narrow(**evidence: int) -> str:
        return rule_toml('"q.sid" = "ignore"', match=['"path.len" = "2"'], status="active", evidence=evidence)

    by_hand = rule_toml('"q.sid" = "ignore"', match=['"path.len" = "2"', '"scheme" = "http"'])
    lesser, wider = narrow(groups=4, urls=20, removed=9), hexed("active", groups=30, urls=90, removed=60)
    for texts, left in (
        ([wider, lesser], [{}]),
        ([lesser, by_hand], [{"path.len": "2", "scheme": "http"}]),
        # What it was proven on is not there to tell.
        (
            [hexed("active", groups=30, urls=5000, removed=60), narrow(groups=400, urls=2000, removed=900)],
            [{}, {"path.len": "2"}],
        ),
        # Without the other it is needed.
        ([lesser], [{"path.len": "2"}]),
    ):
        save_rules(NAME, *texts)
        relearned([*seen(range(12), forms=4), *seen(range(12), forms=4, section="news")])
        assert [rule.get("match", {}) for rule in rules_of(NAME)] == left
        check(RuleBook.load("dedup-rules"), SAME)
