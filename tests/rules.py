"""Strategies for hypothesis: rules over the keys and values of given URLs, and of none."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import strategies as st

from scrapy_dedup.rules import (
    Absent,
    AnyOrder,
    Evidence,
    Ignore,
    IgnoreValue,
    Keep,
    Literal,
    Lower,
    Nested,
    OfClass,
    OneOf,
    Operation,
    Predicate,
    Replace,
    Rule,
    Set,
    SetOfValues,
    Status,
)
from scrapy_dedup.rules.model import operation_key_problem
from scrapy_dedup.rules.operations import TRANSFORMS
from scrapy_dedup.urls import CLASS_NAMES, DeepSplit, ValueClass, class_of, values_of

_KEYS = [
    "scheme",
    "host.0",
    "host.1",
    "host.2",
    "path.0",
    "path.1",
    "path.2",
    "path.len",
    "path.trail",
    "ext",
    "q./1",
    "q./2",
    "m.v",
    "m.jsessionid",
    "s.qid",
    "q.a",
    "q.b",
    "q.c",
    "q.sid",
    "q.tag[]",
    "q.a[1]",
    "q.ü",
]
_PREFIXES = ["q.*", "q.utm_*", "q.t*", "path.*", "host.*", "m.*", "s.*", "*", "p*", "q.a*"]
_DEEP_KEYS = [f"{key}.{end}" for key in ("q.a", "path.0", "path.1") for end in ("head", "tail")]
_VALUES = [
    "",
    "1",
    "a",
    "b",
    "A",
    "www",
    "x y",
    "ä",
    "%7e",
    "*",
    "..",
    "a/b",
    "a;b",
    "a&b=c",
    "?",
    "http",
    "https",
    "/",
]

value_classes = st.builds(
    lambda name, a, b: ValueClass(name, min(a, b), max(a, b)),
    st.sampled_from(CLASS_NAMES),
    st.integers(0, 40),
    st.integers(0, 40),
)
values = st.one_of(st.sampled_from(_VALUES), st.text(max_size=5))
deep_splits = st.builds(
    DeepSplit, st.sampled_from([*"-_.,:~|+", "%3A", "1"]), st.sampled_from(["first", "last"]), st.booleans()
)


def predicates(some: st.SearchStrategy[str], own: Sequence[str] = ()) -> st.SearchStrategy[Predicate]:
    """Predicates on a key whose values are drawn from *some*, or of the class of its *own*."""
    return st.one_of(
        st.builds(Literal, some, st.booleans()),
        st.builds(OneOf, st.lists(some, max_size=3), st.booleans()),
        st.builds(OfClass, value_classes, st.booleans()),
        st.builds(OfClass, st.just(class_of(own)), st.booleans()),
        st.just(Absent()),
    )


def operations(some: st.SearchStrategy[str]) -> st.SearchStrategy[Operation]:
    """Operations on a key whose values are drawn from *some*."""
    only = st.one_of(st.none(), st.lists(some, max_size=2), value_classes)
    maybe = st.one_of(st.none(), some)
    return st.one_of(
        st.builds(Ignore),
        st.builds(lambda only, cut: Ignore(only, cut=cut), only, st.booleans()),
        st.builds(IgnoreValue),
        st.builds(IgnoreValue, only),
        st.builds(Set, st.dictionaries(maybe, maybe, max_size=3)),
        st.builds(
            Replace,
            st.one_of(st.sampled_from([*_KEYS, ""]), st.lists(st.sampled_from(_KEYS), min_size=2, max_size=3)),
            some,
            st.just(""),
            st.sampled_from(TRANSFORMS),
            st.sampled_from(["", ":", "/", "&", "%"]),
        ),
        st.sampled_from([Lower(), Lower(first=True), SetOfValues(), SetOfValues(","), Nested(), Keep()]),
        st.builds(
            lambda site, key, only: Nested({site: {key: Ignore(only)}}),
            st.sampled_from(["example.com", "example.org"]),
            st.sampled_from(["q.a", "q.b", "q.sid", "q.tag[]", "q.ü"]),
            only,
        ),
    )


def whole_operations(some: st.SearchStrategy[str]) -> st.SearchStrategy[dict[str, Operation]]:
    """Operations that are about more than the value of a named key, by their keys; mostly none."""
    names = st.builds("{}{}".format, some.map(lambda text: text.replace("/", "-")), st.sampled_from(["", "/", "-"]))
    orders = st.builds(
        lambda names, after: AnyOrder([name for name in names if name not in {"", "/"}], after=after),
        st.lists(names, max_size=3),
        st.integers(0, 2),
    )
    only = st.one_of(st.none(), st.lists(some, max_size=2), value_classes)
    ops = {
        "path": st.one_of(orders, orders, st.just(Keep())),
        "query": st.sampled_from([AnyOrder(), AnyOrder(), Keep()]),
        "matrix": st.sampled_from([AnyOrder(), AnyOrder(), Keep()]),
        "bare": st.one_of(st.builds(Ignore, only), st.builds(IgnoreValue, only), st.just(Keep())),
    }
    return st.lists(st.sampled_from(["", "", *ops]), max_size=2, unique=True).flatmap(
        lambda keys: st.fixed_dictionaries({key: ops[key] for key in keys if key})
    )


@st.composite
def rules_for(draw: st.DrawFn, site: str, urls: Sequence[str], most: int = 4) -> list[Rule]:
    """Rules of *site* over the keys and values of *urls*, and some others."""
    own: dict[str, list[str]] = {key: [] for key in _KEYS}
    for url in urls:
        for key, value in values_of(url).items():
            own.setdefault(key, []).append(value or "")
    keys = [*own, *_DEEP_KEYS]
    segments = [value or "" for key in own if key.startswith(("path.", "s.")) for value in own[key]]
    wholes = whole_operations(st.one_of(st.sampled_from([*segments, "a"]), values))

    def some(key: str) -> st.SearchStrategy[str]:
        seen = own.get(key)
        return st.one_of(st.sampled_from(seen), values) if seen else values

    found: dict[str, Rule] = {}
    for _ in range(draw(st.integers(0, most))):
        match = {key: draw(predicates(some(key), own.get(key, ()))) for key in draw(_some_of(keys, 2))}
        ops = {key: draw(operations(some(key))) for key in draw(_some_of([*_without_repeats(keys), *_PREFIXES], 3))}
        ops |= draw(wholes)
        status = draw(st.sampled_from([Status.ACTIVE, Status.ACTIVE, Status.MANUAL, Status.OFF]))
        rule = Rule(site, match, ops, status)
        found[rule.id] = rule
    return list(found.values())


def _some_of(keys: Sequence[str], most: int) -> st.SearchStrategy[list[str]]:
    return st.lists(st.sampled_from(keys), max_size=most, unique=True)


def _without_repeats(keys: Sequence[str]) -> list[str]:
    return [key for key in keys if _acts(key)]


deep_tokens = st.dictionaries(
    st.sampled_from(["q.a", "q.b", "path.0", "path.1", "m.v", "s.qid"]), deep_splits, max_size=2
)

_text = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
evidences = st.builds(
    Evidence,
    learners=st.lists(_text, max_size=2).map(tuple),
    groups=st.integers(0, 10**9),
    counterexamples=st.integers(0, 10),
    pages=st.integers(0, 10),
    urls=st.integers(0, 10),
    removed=st.integers(0, 10),
    upper95=st.floats(0, 1),
    examples=st.lists(st.tuples(_text, _text), max_size=2).map(tuple),
    samples=st.integers(0, 10),
    refuted=st.integers(0, 10),
    refuted_at=st.integers(0, 4 * 10**9),
    probes=st.integers(1, 10),
    contradicted=st.integers(0, 10),
)


_any_predicates = predicates(_text)
_any_operations = operations(_text)
_whole = whole_operations(_text)
_any_keys = st.one_of(st.sampled_from(_KEYS), st.builds("{}{}".format, st.sampled_from(["q.", "m.", "s."]), _text))


def _acts(key: str) -> bool:
    return operation_key_problem(key) is None


@st.composite
def any_rules(draw: st.DrawFn, site: str) -> list[Rule]:
    """Rules of *site* with whatever text a rule may hold."""
    found: dict[str, Rule] = {}
    for _ in range(draw(st.integers(0, 4))):
        match = draw(st.dictionaries(_any_keys, _any_predicates, max_size=2))
        ops = draw(
            st.dictionaries(st.one_of(_any_keys.filter(_acts), st.sampled_from(_PREFIXES)), _any_operations, max_size=2)
        )
        ops |= draw(_whole)
        status = draw(st.sampled_from(list(Status)))
        rule = Rule(site, match, ops, status, draw(st.none() | evidences), draw(_text))
        if status.users and draw(st.booleans()):
            rule = replace(rule, id="mine")
        found[rule.id] = rule
    return list(found.values())
