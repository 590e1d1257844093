"""Rules as values: ids, merging, forms, redaction."""

import copy
import json
import pickle  # noqa: TID251 - our own, to a child process and back
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given

from scrapy_dedup.rules import (
    Absent,
    AnyOrder,
    Evidence,
    FormError,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    Nested,
    Operation,
    Replace,
    Rule,
    RuleBook,
    RuleFileError,
    RuleWriteError,
    Set,
    SiteRules,
    Status,
    merge,
    operation_form,
    operation_of,
    predicate_form,
    predicate_of,
    redact,
)
from scrapy_dedup.urls import DeepSplit

from .rules import any_rules, rules_for
from .urls import any_text, plain_urls

SITE = "example.com"


def rule(name: str, status: Status = Status.ACTIVE) -> Rule:
    return Rule(SITE, {}, {f"q.{name}": Ignore()}, status)


@given(any_rules(SITE))
def test_forms(rules: list[Rule]) -> None:
    for one in rules:
        for predicate in one.match.values():
            assert predicate_of(predicate_form(predicate)) == predicate
        for operation in one.ops.values():
            assert operation_of(operation_form(operation)) == operation


def test_ids() -> None:
    one = Rule(SITE, {"q.a": Literal("1"), "q.b": Absent()}, {"q.c": Ignore()})
    two = Rule(SITE, {"q.b": Absent(), "q.a": Literal("1")}, {"q.c": Ignore()}, Status.OFF, note="x")
    assert one.id == two.id == "90e94689"  # stable: it stands in files
    assert one.id != Rule("example.org", one.match, one.ops).id
    assert one.id != replace(one, ops={"q.c": IgnoreValue()}, id="").id
    assert not one.edited
    assert replace(one, ops={}).edited
    assert len({one, copy.copy(one), two}) == 2


@pytest.mark.parametrize("key", ["sid", "paths", "path.x", "path.1.middle", "Q.a", "", "host.www"])
def test_keys_that_no_view_has(key: str) -> None:
    with pytest.raises(ValueError, match="no URL has the key"):
        Rule(SITE, {key: Absent()}, {})
    with pytest.raises(ValueError, match="no URL has the key"):
        Rule(SITE, {}, {key: Ignore()})


@pytest.mark.parametrize(
    ("key", "operation", "said"),
    [
        ("path", Ignore(), "about the order"),
        ("q.a", AnyOrder(), "in no order"),
        ("path.0", AnyOrder(), "in no order"),
        ("query", AnyOrder(["a-"]), 'write "query" = "any-order"'),
        ("matrix", AnyOrder(after=1), 'write "matrix" = "any-order"'),
        ("bare", Lower(), "can be ignored or kept"),
        ("bare", Ignore(cut=True), "can be ignored or kept"),
    ],
)
def test_operations_that_do_not_fit_their_keys(key: str, operation: Operation, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Rule(SITE, {}, {key: operation})


def test_orders_of_nothing() -> None:
    for name in ("", "/", "a/b"):
        with pytest.raises(ValueError, match="begins no segment"):
            AnyOrder([name])
    with pytest.raises(ValueError, match="number of segments"):
        AnyOrder(after=-1)


def test_operations_are_on_all_repeats() -> None:
    with pytest.raises(ValueError, match=r'write "q.a", or "q.a%5B1%5D"'):
        Rule(SITE, {}, {"q.a[1]": Ignore()})
    assert Rule(SITE, {}, {"q.a[]": Ignore(), "q.b*": Ignore()}).ops


def test_merging() -> None:
    edited = replace(rule("edited"), ops={"q.edited": Keep()})
    old = SiteRules(
        SITE,
        (
            rule("manual", Status.MANUAL),
            replace(rule("renamed", Status.OFF), id="mine"),
            edited,
            rule("suspended", Status.SUSPENDED),
            replace(rule("noted"), note="mine"),
            rule("stays", Status.CANDIDATE),
            rule("gone"),
        ),
        {"q.t": DeepSplit("-")},
    )
    names = ["new", "manual", "renamed", "edited", "suspended", "noted"]
    found = merge(old, [rule(name) for name in names], gone=[rule("gone").id])
    assert [(next(iter(one.ops)), one.status.value, one.note) for one in found.rules] == [
        ("q.manual", "manual", ""),
        ("q.renamed", "off", ""),
        ("q.edited", "manual", ""),
        ("q.suspended", "suspended", ""),
        ("q.noted", "active", "mine"),
        ("q.stays", "candidate", ""),
        ("q.new", "active", ""),
    ]
    assert found.rules[2].ops == {"q.edited": Keep()}
    assert found.deep == old.deep
    assert merge(old, [], {}).deep == {}
    assert merge(found, [rule(name) for name in names]) == found
    with pytest.raises(ValueError, match=r"other\.com"):
        merge(old, [Rule("other.com", {}, {"q.a": Ignore()})])
    with pytest.raises(ValueError, match="two rules"):
        SiteRules(SITE, (rule("a"), rule("a")))


@given(any_rules(SITE), any_rules(SITE))
def test_what_is_the_users_stays(before: list[Rule], learned: list[Rule]) -> None:
    old = SiteRules(SITE, tuple(before))
    learned = [replace(one, status=Status.ACTIVE) for one in learned if not one.edited]
    found = merge(old, learned)
    users = [one for one in old.rules if one.status.users]
    assert [one for one in found.rules if one.status.users] == users
    off = {Rule(SITE, one.match, one.ops).id for one in users if one.status is Status.OFF}
    assert not {one.id for one in found.rules if one.status.acts and not one.status.users} & off
    assert merge(found, learned) == found


@pytest.mark.parametrize(
    ("url", "ops", "shown"),
    [
        ("http://me:secret@h.com/#x", {}, "http://h.com/"),
        ("http://h.com/?sid=0123456789abcdef&id=7", {"q.sid": Ignore()}, "http://h.com/?id=7&sid=0123…"),
        ("http://h.com/?n=17&u=me@h.com", {"q.*": Ignore()}, "http://h.com/?n=…&u=me…"),
        ("http://h.com/?page=1&do=", {"q.page": Ignore(["1"]), "q.do": Ignore()}, "http://h.com/?do=&page=1"),
        ("http://h.com/?a=show&b=x", {"q.a": Set({"show": None}), "q.b": Keep()}, "http://h.com/?a=show&b=x"),
        ("http://h.com/a/tok-en/b.html", {"path.1": IgnoreValue()}, "http://h.com/a/to…/b.html"),
        ("http://h.com/a;jsessionid=0AF;v/", {"m.jsessionid": Ignore()}, "http://h.com/a;jsessionid=0…;v/"),
        ("http://u7.h.com/", {"host.1": Ignore()}, "http://….h.com/"),
        ("http://h.com/?C=N;O=D", {"q.C": Ignore()}, "http://h.com/?C=…;O=D"),
        ("mailto:x", {}, "mailto:x"),
    ],
)
def test_redaction(url: str, ops: dict[str, Ignore], shown: str) -> None:
    assert redact(url, ops) == shown


def test_redaction_of_named_values_deep_tokens_and_length() -> None:
    assert redact("http://h.com/?a=1", Rule("h.com", {"q.a": Literal("1")}, {"q.a": Ignore()})) == "http://h.com/?a=1"
    deep = {"q.t": DeepSplit(".")}
    assert redact("http://h.com/?t=41.ab-9", {"q.t.tail": Ignore()}, deep=deep) == "http://h.com/?t=41.a…"
    assert len(redact("http://h.com/?a=" + "x" * 9000, {})) == 500


@given(plain_urls().flatmap(lambda url: rules_for(SITE, [url]).map(lambda rules: (url, rules))), any_text)
def test_redaction_is_total(case: tuple[str, list[Rule]], text: str) -> None:
    url, rules = case
    for one in rules:
        redact(url, one)
        shown = redact(f"http://me:Secret42@h.com/{text}", one)
        assert "Secret42" not in shown or "@" in text


def test_values_that_are_none() -> None:
    with pytest.raises(ValueError, match="transform"):
        Replace("q.a", transform="upper")
    with pytest.raises(ValueError, match="no source"):
        Replace([])
    with pytest.raises(FormError, match="list of keys"):
        operation_of({"replace": []})
    with pytest.raises(FormError, match="lower, number"):
        operation_of({"replace": "q.a", "transform": "upper"})
    with pytest.raises(ValueError, match="no query parameter"):
        Nested({"example.org": {"path.0": Ignore()}})
    with pytest.raises(FormError, match="table by site"):
        operation_of({"nested": ["q.sid"]})
    with pytest.raises(FormError, match="can only be ignored"):
        operation_of({"nested": {"example.org": {"q.sid": "lower"}}})
    with pytest.raises(FormError, match="no operation"):
        operation_of("drop")
    assert Set({None: None}) == Set({})


def test_errors_and_books_travel_between_processes() -> None:
    for error in (RuleFileError(Path("a"), 3, "b", "c"), RuleWriteError(Path("a"), "b", "c")):
        again = pickle.loads(pickle.dumps(error))
        assert str(again) == str(error)
        assert vars(again) == vars(error)
    book = RuleBook([rule("a")], {SITE: {"q.t": DeepSplit("-")}}, {"g": ["example.org"]})
    assert pickle.loads(pickle.dumps(book)) == book


def test_a_rule_is_a_mapping() -> None:
    one = Rule("a.example", {}, {"q.a": Ignore()}, evidence=Evidence(groups=3))
    assert (one.to_dict()["site"], one.to_dict()["ops"]) == ("a.example", {"q.a": "ignore"})
    assert json.loads(json.dumps(one.to_dict())) == one.to_dict()
