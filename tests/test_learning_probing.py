"""What is worth a probe, what is never asked for, and what the answers say."""

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.asking.doubts import doubts
from scrapy_dedup.learning.asking.probe_outcomes import (
    ProbeOutcome,
    ProbeVerdict,
    head_fingerprint,
    head_outcome,
    verdict,
)
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Ignore, Keep, Rule, Status
from scrapy_dedup.urls.acting import acts
from scrapy_dedup.urls.variation import raw_value, with_value, without

SITE = "a.example"


def seen(query: str, content: str, **more: object) -> Observation:
    return Observation(f"http://{SITE}/x/show?{query}", content, **{"words": 99, "time": 5.0, **more})  # type: ignore[arg-type]


def keys(observations: list[Observation], *rules: Rule, **asked: object) -> list[str]:
    return [doubt.key for doubt in doubts(SITE, observations, RuleBook(rules), **asked)]  # type: ignore[arg-type]


UNIQUE = [seen(f"id={i}&w=v{i}", f"page {i}") for i in range(30)]


def test_where_every_link_has_values_of_its_own_all_is_in_doubt() -> None:
    found = doubts(SITE, UNIQUE, RuleBook([]))
    assert [doubt.key for doubt in found] == ["q.id", "q.w"]
    assert {doubt.relevant for doubt in found} == {0.5}
    assert all((len(doubt.pages), doubt.urls) == (10, 30) for doubt in found)
    assert all(value.startswith("v") for value in found[1].values)


def test_what_the_entropies_say_is_beyond_doubt() -> None:
    """Here id tells the page, and w and z tell nothing: the document's band leaves out what they alone say."""
    observations = [seen(f"id={i // 2}&w=v{i}&z={i}z", f"page {i // 2}") for i in range(60)]
    assert keys(observations) == []
    found = doubts(SITE, observations, RuleBook([]), band=(0.05, 0.95))
    assert {doubt.key: doubt.relevant for doubt in found} == {"q.w": 0.1, "q.z": 0.1, "q.id": 0.9}


def test_a_parameter_that_was_seen_to_matter_is_not() -> None:
    assert keys([*UNIQUE, seen("id=1&w=new", "page 1b")]) == ["q.id"]


def test_one_that_is_proven_is_not() -> None:
    proven = [seen(f"id={i}&w={copy}{i}", f"page {i}") for i in range(40) for copy in range(2)]
    assert "q.w" not in keys(proven)
    assert "q.w" in keys(proven[:16]), "by eight groups nobody can be sure"


def test_the_band_is_what_was_asked_for() -> None:
    assert keys(UNIQUE, band=(0.6, 0.9)) == []
    named = [seen(f"id={i}&utm_source=v{i}", f"page {i}") for i in range(30)]
    assert keys(named, band=(0.1, 0.4)) == ["q.utm_source"], "its name speaks against it"


@pytest.mark.parametrize(
    ("status", "asked"),
    [(Status.ACTIVE, True), (Status.MANUAL, False), (Status.OFF, False), (Status.SUSPENDED, True)],
)
def test_what_the_users_rules_say_is_left_to_them(status: Status, asked: bool) -> None:
    assert ("q.w" in keys(UNIQUE, Rule(SITE, {}, {"q.w": Ignore()}, status))) is asked


def test_what_the_user_keeps_is_not_probed() -> None:
    assert keys(UNIQUE, Rule(SITE, {}, {"q.*": Keep()}, Status.MANUAL)) == []


def test_nothing_is_tried_on_errors_and_what_acts() -> None:
    assert keys([seen(f"id={i}&w=v{i}", f"page {i}", status=404) for i in range(30)]) == []
    assert keys([seen(f"id={i}&w=v{i}&do=delete", f"page {i}") for i in range(30)]) == []


@pytest.mark.parametrize(
    "target",
    [
        *("/logout", "/user/log-out", "/user/logOut", "/cart?action=AddToCart", "/addtocart/7", "/item/7/delete"),
        *(
            "/p?do=vote&id=1",
            "/newsletter/unsubscribe?u=1",
            "/p?act=%64elete",
            "/buy?id=7",
            "/p?REMOVE=1",
            "/a_delete_b",
        ),
    ],
)
def test_what_acts(target: str) -> None:
    assert acts(f"http://{SITE}{target}")


@pytest.mark.parametrize(
    "target", ["/", "/item/7?sort=address&page=2", "/logotypes", "/order?order=asc", "/login-help"]
)
def test_what_does_not_act(target: str) -> None:
    assert acts(f"http://{SITE}{target}") is (target == "/login-help"), "caution: a page about it counts, too"


def test_the_host_does_not_count() -> None:
    assert not acts("http://delete.example/item?id=7#delete")


def test_variations_leave_the_rest_as_it_stands() -> None:
    url = f"http://{SITE}/a%41?x=%20&w=1;y=&&z#f"
    assert without(url, "q.w") == f"http://{SITE}/a%41?x=%20;y=&&z"
    assert with_value(url, "q.w", "%7E") == f"http://{SITE}/a%41?x=%20&w=%7E;y=&&z"
    assert raw_value(url, "q.x") == "%20"
    assert raw_value(f"http://{SITE}/?w=1&w=2", "q.w") is None


SAME, OTHER, FAILS, UNKNOWN = ProbeOutcome.SAME, ProbeOutcome.OTHER, ProbeOutcome.FAILS, ProbeOutcome.UNKNOWN


@pytest.mark.parametrize(
    ("changed", "dropped", "says"),
    [
        (SAME, SAME, ProbeVerdict.IRRELEVANT),
        (SAME, FAILS, ProbeVerdict.REQUIRED),
        (SAME, OTHER, ProbeVerdict.REQUIRED),
        (OTHER, SAME, ProbeVerdict.RELEVANT),
        (OTHER, FAILS, ProbeVerdict.RELEVANT),
        (FAILS, FAILS, ProbeVerdict.RELEVANT),
        (FAILS, SAME, ProbeVerdict.UNDECIDED),
        (UNKNOWN, SAME, ProbeVerdict.UNDECIDED),
        (UNKNOWN, OTHER, ProbeVerdict.UNDECIDED),
    ],
)
def test_verdicts(changed: ProbeOutcome, dropped: ProbeOutcome, says: ProbeVerdict) -> None:
    assert verdict(changed, dropped) is says


def test_head_never_proves_equality() -> None:
    tag = head_fingerprint({"ETag": '"a"'})
    assert head_outcome(tag, tag) is UNKNOWN
    assert head_outcome(tag, head_fingerprint({"ETag": '"b"'})) is OTHER
    assert head_outcome(tag, head_fingerprint({"Content-Length": "7"})) is UNKNOWN
    assert head_outcome(None, tag) is UNKNOWN


def at(url: str, content: str) -> Observation:
    return Observation(url, content, words=99, time=5.0)


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("http://a.example/x;tok={0}/show?id={0}", "m.tok"),
        ("http://a.example/x/tok=t{0}/show?id={0}", "s.tok"),
        ("http://a.example/x/c{0}/show?id={0}", "path.1"),
        ("http://m{0}.a.example/x/show?id={0}", "host.1"),
    ],
)
def test_parts_of_the_path_and_of_the_host_may_be_in_doubt(url: str, key: str) -> None:
    """The document: path components are parameters, too."""
    found = {
        doubt.key: doubt for doubt in doubts(SITE, [at(url.format(i), f"page {i}") for i in range(30)], RuleBook([]))
    }
    assert set(found) == {"q.id", key}
    changed, dropped = found[key].variants(url.format(3))
    if key == "host.1":
        assert changed in {url.format(i).replace(f"id={i}", "id=3") for i in range(30) if i != 3}
        assert dropped is None, "a host that the site was not seen to have is never asked"
    else:
        assert raw_value(str(changed), key) not in (None, raw_value(url.format(3), key))
        assert str(changed).endswith("id=3")
        assert raw_value(str(dropped), "q.id") == "3"
        assert len(str(dropped)) < len(url.format(3))


def test_a_segment_that_all_urls_share_is_in_no_doubt() -> None:
    assert keys(UNIQUE) == ["q.id", "q.w"], "path.0 and path.1 are the same everywhere"


def test_a_segment_that_was_seen_to_be_the_page_is_in_no_doubt() -> None:
    observations = [at(f"http://{SITE}/t/{i}", f"page {i}") for i in range(30)]
    assert doubts(SITE, observations, RuleBook([])) == []
