"""What is worth a probe, what is never asked for, and what the answers say."""

from random import Random
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.asking.doubts import doubts
from scrapy_dedup.learning.asking.probe_outcomes import (
    ProbeOutcome,
    ProbeVerdict,
    head_fingerprint,
    head_outcome,
    verdict,
)
from scrapy_dedup.rules import Ignore, Keep, Rule, Status
from scrapy_dedup.rules.exchange import CLEAN_PARAM
from scrapy_dedup.urls.acting import acts
from scrapy_dedup.urls.variation import raw_value, with_value, without

from .learning import observed

SITE = "shop.example"


def unique(url: str = "/x/show?id={0}&w=v{0}", pages: int = 30, **more: Any) -> list[Observation]:
    """Pages of which every link has values of its own."""
    return observed([(url.format(i), f"page {i}") for i in range(pages)], words=99, time=5.0, **more)


def asked(observations: list[Observation], *rules: Rule, **more: Any) -> dict[str, float]:
    """The keys in doubt, and how likely each is to be relevant."""
    return {doubt.key: doubt.relevant for doubt in doubts(SITE, observations, RuleBook(rules), **more)}


def numbered(key: str, known: int) -> list[Observation]:
    """*known* pages under three values of a key, and twenty under one, each value another number."""
    rng = Random(1)
    rows = [(i, rng.randrange(10**6)) for i in range(known + 20) for _ in range(3 if i < known else 1)]
    return observed([(f"/v?id={i}&{key}={value}", f"page {i}") for i, value in rows], words=100)


def of_w(status: Status) -> Rule:
    return Rule(SITE, {}, {"q.w": Ignore()}, status)


TELLING = observed([(f"/x/show?id={i // 2}&w=v{i}&z={i}z", f"page {i // 2}") for i in range(60)], words=99)
PROVEN = observed([(f"/x/show?id={i}&w={n}{i}", f"page {i}") for i in range(40) for n in range(2)], words=99)
MATTERS = observed([("/x/show?id=1&w=new", "page 1b")], words=99, time=5.0)
STATED = observed([("/robots.txt", "lines")], words=99, headers={CLEAN_PARAM: "Clean-param: x"})
BOTH, ID = ["q.id", "q.w"], ["q.id"]


@pytest.mark.parametrize(
    ("observations", "rules", "band", "keys"),
    [
        # The segments that all URLs share are in no doubt.
        pytest.param(unique(), [], None, BOTH, id="all that tells nothing by itself"),
        pytest.param(TELLING, [], None, [], id="what the entropies say is beyond doubt"),
        pytest.param(TELLING, [], (0.05, 0.95), ["q.w", "q.z", "q.id"], id="and in a wider band it is not"),
        pytest.param([*unique(), *MATTERS], [], None, ID, id="a parameter that was seen to matter"),
        pytest.param(PROVEN, [], None, [], id="one that is proven"),
        pytest.param(PROVEN[:16], [], None, BOTH, id="by eight groups nobody can be sure"),
        pytest.param(unique(), [], (0.6, 0.9), [], id="another band"),
        pytest.param(unique("/s?id={0}&utm_source=v{0}"), [], (0.1, 0.4), ["q.utm_source"], id="a name that speaks"),
        pytest.param(unique(), [of_w(Status.ACTIVE)], None, BOTH, id="a learned rule"),
        pytest.param(unique(), [of_w(Status.SUSPENDED)], None, BOTH, id="a suspended rule"),
        pytest.param(unique(), [of_w(Status.MANUAL)], None, ID, id="a manual rule"),
        pytest.param(unique(), [of_w(Status.OFF)], None, ID, id="a rule that is off"),
        pytest.param(unique(), [Rule(SITE, {}, {"q.*": Keep()}, Status.MANUAL)], None, [], id="what the user keeps"),
        pytest.param(unique(status=404), [], None, [], id="errors"),
        pytest.param(unique("/x/show?id={0}&w=v{0}&do=delete"), [], None, [], id="what acts"),
        pytest.param(unique("/t/{0}"), [], None, [], id="a segment that was seen to be the page"),
        # What is stated or dropped elsewhere is probed until pages show it: there is no rule without evidence.
        pytest.param([*numbered("x", 0), *STATED], [], None, ["q.id", "q.x"], id="what the site states"),
        pytest.param([*numbered("x", 5), *STATED], [], None, [], id="what the site states and pages show"),
    ],
)
def test_what_is_in_doubt(observations: list[Observation], rules: list[Rule], band: Any, keys: list[str]) -> None:
    assert {*asked(observations, *rules, **({"band": band} if band else {}))} == {*keys}


def test_what_a_doubt_says() -> None:
    for doubt in doubts(SITE, unique(), RuleBook([])):
        assert (doubt.relevant, len(doubt.pages), doubt.urls) == (0.5, 10, 30)
        assert all(value.startswith("v" * (doubt.key == "q.w")) for value in doubt.values)
    assert asked(TELLING, band=(0.05, 0.95)) == {"q.w": 0.1, "q.z": 0.1, "q.id": 0.9}


@pytest.mark.parametrize("key", ["trk", "utm_source"])
def test_what_rules_of_other_sites_drop_is_tried_first_until_pages_show_it(key: str) -> None:
    rules = [Rule(f"s{n}.com", {}, {f"q.{key}": Ignore()}, Status.ACTIVE) for n in range(3)]
    found = asked(numbered(key, 0), *rules)
    assert found[f"q.{key}"] < 0.25
    assert min(found, key=lambda name: found[name]) == f"q.{key}"
    assert f"q.{key}" not in asked(numbered(key, 12), *rules), "ten pages are enough for a rule"


@pytest.mark.parametrize(
    ("url", "key"),
    [
        ("/x;tok={0}/show?id={0}", "m.tok"),
        ("/x/tok=t{0}/show?id={0}", "s.tok"),
        ("/x/c{0}/show?id={0}", "path.1"),
        ("http://m{0}.shop.example/x/show?id={0}", "host.1"),
    ],
)
def test_parts_of_the_path_and_of_the_host_may_be_in_doubt(url: str, key: str) -> None:
    """The document: path components are parameters, too. A host that the site was not seen to have is never asked."""
    seen = unique(url)
    found = {doubt.key: doubt for doubt in doubts(SITE, seen, RuleBook([]))}
    assert set(found) == {"q.id", key}
    changed, dropped = found[key].variants(seen[3].url)
    assert str(changed).endswith("id=3")
    if key == "host.1":
        assert str(changed).partition("/x")[0] in {each.url.partition("/x")[0] for each in seen if each is not seen[3]}
        assert dropped is None
    else:
        assert raw_value(str(changed), key) not in (None, raw_value(seen[3].url, key))
        assert (raw_value(str(dropped), "q.id"), len(str(dropped)) < len(seen[3].url)) == ("3", True)


ACTING = (
    *("/logout", "/user/log-out", "/user/logOut", "/cart?action=AddToCart", "/addtocart/7", "/item/7/delete"),
    *("/p?do=vote&id=1", "/newsletter/unsubscribe?u=1", "/p?act=%64elete", "/buy?id=7", "/p?REMOVE=1", "/a_delete_b"),
    "/login-help",  # caution: a page about it counts, too
)


def test_what_acts_and_what_does_not() -> None:
    assert [target for target in ACTING if not acts(f"http://{SITE}{target}")] == []
    quiet = ("/", "/item/7?sort=address&page=2", "/logotypes", "/order?order=asc")
    assert not any(acts(f"http://{SITE}{target}") for target in quiet)
    assert not acts("http://delete.example/item?id=7#delete"), "the host does not count"


def test_variations_leave_the_rest_as_it_stands() -> None:
    url = f"http://{SITE}/a%41?x=%20&w=1;y=&&z#f"
    assert without(url, "q.w") == f"http://{SITE}/a%41?x=%20;y=&&z"
    assert with_value(url, "q.w", "%7E") == f"http://{SITE}/a%41?x=%20&w=%7E;y=&&z"
    assert (raw_value(url, "q.x"), raw_value(f"http://{SITE}/?w=1&w=2", "q.w")) == ("%20", None)


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
    for other, outcome in (({"ETag": '"a"'}, UNKNOWN), ({"ETag": '"b"'}, OTHER), ({"Content-Length": "7"}, UNKNOWN)):
        assert head_outcome(tag, head_fingerprint(other)) is outcome
    assert head_outcome(None, tag) is UNKNOWN
