"""Strategies for hypothesis: rules as a user may write them, over the keys and values of given URLs, and of none."""

import json
from collections.abc import Sequence

from hypothesis import strategies as st

from scrapy_dedup import RuleBook

KEYS = [
    *("scheme", "host.1", "host.2", "path.0", "path.1", "path.2", "path.trail", "ext", "q./1", "q./2", "m.v"),
    *("m.jsessionid", "s.qid", "q.a", "q.b", "q.c", "q.sid", "q.tag[]", "q.ü"),
]
#: In operations a key may be a beginning; conditions may ask for repeats and numbers, too.
_BEGINNINGS = ["q.*", "q.utm_*", "q.t*", "path.*", "host.*", "m.*", "s.*", "*", "q.a*"]
_ASKED = ["path.len", "q.a[1]", "host.0"]
_DEEP = [f"{key}.{end}" for key in ("q.a", "path.0", "path.1") for end in ("head", "tail")]
_VALUES = [*("", "1", "a", "b", "A", "www", "x y", "ä", "%7e", "*", "..", "a/b", "a;b", "a&b=c", "?", "http", "/")]
_CLASSES = ["empty", "int", "date", "uuid", "hex", "alnum", "slug", "b64", "any"]


def toml(value: object) -> str:
    """A text, a number or a list of them as TOML has it."""
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.one_of(st.sampled_from(_VALUES), st.text(st.characters(exclude_categories=["Cs"]), max_size=5))
_flags = st.sampled_from(["true", "false"])
classes = st.builds(
    lambda name, lengths: f'class = "{name}", length = {sorted(lengths)}',
    st.sampled_from(_CLASSES),
    st.tuples(st.integers(0, 40), st.integers(0, 40)),
)
deep_texts = st.dictionaries(
    st.sampled_from(["q.a", "q.b", "path.0", "path.1", "m.v", "s.qid"]),
    st.builds('{{ delimiter = "{}", side = "{}", optional = {} }}'.format, st.sampled_from([*"-_.,:~|+1"]), st.sampled_from(["first", "last"]), _flags),
    max_size=2,
).map(lambda deep: "\n".join(["[deep]", *(f"{toml(key)} = {form}" for key, form in deep.items())]))  # fmt: skip


def conditions(some: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Conditions on a key whose values are drawn from *some*."""
    value, several = some.map(toml), st.lists(some, max_size=3).map(toml)
    return st.one_of(
        value,
        st.builds("{{ is = {}, optional = {} }}".format, value, _flags),
        st.builds("{{ in = {}, optional = {} }}".format, several, _flags),
        st.builds("{{ {}, optional = {} }}".format, classes, _flags),
        st.just("{ absent = true }"),
    )


def _set_form(values: dict[str, str | None], default: str | None) -> str:
    set_ = ", ".join(f"{toml(one)} = {toml(other)}" for one, other in values.items() if other is not None)
    removed = toml([one for one, other in values.items() if other is None])
    return f"{{ set = {{ {set_} }}, remove = {removed}{'' if default is None else f', default = {toml(default)}'} }}"


def operations(some: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Operations on a key whose values are drawn from *some*."""
    several = st.lists(some, max_size=2).map(toml)
    plain = ["ignore", "cut", "ignore-value", "lower", "lower-first", "set-of-values", "nested", "keep"]
    return st.one_of(
        st.sampled_from([toml(name) for name in plain]),
        st.just('{ set-of-values = "," }'),
        st.builds("{{ {} = {} }}".format, st.sampled_from(["ignore", "ignore-value"]), several),
        st.builds("{{ ignore = {{ {} }} }}".format, classes),
        st.builds(_set_form, st.dictionaries(some, st.none() | some, max_size=3), st.none() | some),
        st.builds(
            "{{ replace = {}, prefix = {}, transform = {}, join = {} }}".format,
            st.lists(st.sampled_from(KEYS), min_size=1, max_size=3).map(toml),
            some.map(toml),
            st.sampled_from(['"lower"', '"number"']),
            st.sampled_from(['"" ', '":"', '"/"', '"&"', '"%"']),
        ),
        st.builds(
            "{{ nested = {{ {} = {{ {} = {} }} }} }}".format,
            st.sampled_from(['"example.com"', '"example.org"']),
            st.sampled_from(['"q.a"', '"q.sid"', '"q.tag[]"']),
            st.one_of(st.just('"ignore"'), st.builds("{{ ignore = {} }}".format, several)),
        ),
    )


def _wholes(some: st.SearchStrategy[str]) -> dict[str, st.SearchStrategy[str]]:
    """Operations that are about more than the value of a named key, by their keys."""
    names = st.lists(some.map(lambda text: text.replace("/", "-") or "a"), max_size=3, unique=True)
    order = st.builds("{{ any-order = {}, after = {} }}".format, names.map(toml), st.integers(0, 2))
    bare = st.builds("{{ ignore = {} }}".format, st.lists(some, max_size=2).map(toml))
    any_order = st.sampled_from(['"any-order"', '"any-order"', '"keep"'])
    return {"path": order, "query": any_order, "matrix": any_order, "bare": bare}


@st.composite
def rule_texts(
    draw: st.DrawFn,
    urls: Sequence[str] = (),
    *,
    some: st.SearchStrategy[str] = values,
    keys: Sequence[str] = (*KEYS, *_DEEP),
    statuses: Sequence[str] = ("active", "active", "manual", "off"),
    most: int = 4,
) -> list[str]:
    """Rules over the *keys* and those of *urls*, with their values and *some* others."""
    own: dict[str, list[str]] = {}
    for url in urls:
        for key, value in RuleBook().explain(url).values.items():
            own.setdefault(key, []).append(value or "")
    acted = [
        key
        for key in {**dict.fromkeys(keys), **own}
        if (key not in _ASKED and not key.endswith("]")) or key.endswith("[]")
    ]
    wholes = _wholes(some) if "path.0" in keys else {}

    def drawn(key: str) -> st.SearchStrategy[str]:
        return st.one_of(st.sampled_from(own[key]), some) if key in own else some

    found = {}
    for _ in range(draw(st.integers(0, most))):
        asked = draw(st.lists(st.sampled_from([*keys, *own, *_ASKED]), max_size=2, unique=True))
        done = draw(st.lists(st.sampled_from([*acted, *_BEGINNINGS, *wholes]), min_size=1, max_size=3, unique=True))
        match = [f"{toml(key)} = {draw(conditions(drawn(key)))}" for key in sorted(asked)]
        ops = [
            f"{toml(key)} = {draw(wholes[key] if key in wholes else operations(drawn(key)))}" for key in sorted(done)
        ]
        lines = [*(["[rule.match]", *match] if match else []), "[rule.ops]", *ops]
        found["\n".join(lines)] = f'[[rule]]\nstatus = "{draw(st.sampled_from(statuses))}"'
    return [f"{head}\n{text}" for text, head in found.items()]
