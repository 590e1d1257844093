"""Predicates and operations as they stand in a rule file.

A *TOML value* is made of strings, numbers, booleans, lists and dictionaries, as TOML and
JSON know them. Reading one raises FormError with what is wrong and what would be right.
"""

from collections.abc import Callable, Mapping, Sequence
from difflib import get_close_matches
from functools import partial
from operator import attrgetter
from typing import Any

from ..files.errors import FormError, problem_and_remedy
from ..files.table_fields import TableField, flag, one_of, only_keys, shown, string, strings, written
from ..urls import CLASS_NAMES, ValueClass
from .operations import (
    TRANSFORMS,
    Anchored,
    AnyOrder,
    Declared,
    Ignore,
    IgnoreValue,
    Keep,
    Lower,
    Nested,
    Operation,
    Replace,
    Set,
    SetOfValues,
)
from .predicates import Absent, Literal, OfClass, OneOf, Predicate

TomlValue = Any
_UNBOUNDED = ValueClass("any").max_len
_PREDICATES = '"a value", { in = [..] }, { class = "..", length = [.., ..] } or { absent = true }'


def predicate_form(predicate: Predicate) -> TomlValue:
    """Return *predicate* as a TOML value.

    >>> predicate_form(Literal("thread")), predicate_form(OneOf(["a", "b"], optional=True))
    ('thread', {'in': ['a', 'b'], 'optional': True})
    >>> predicate_form(OfClass(ValueClass("hex", 32, 32)))
    {'class': 'hex', 'length': [32, 32]}
    """
    toml: dict[str, TomlValue]
    match predicate:
        case Literal(value, optional):
            if not optional:
                return value
            toml = {"is": value}
        case OneOf(values):
            toml = {"in": list(values)}
        case OfClass(value_class):
            toml = class_form(value_class)
        case Absent():
            return {"absent": True}
    if predicate.optional:
        toml["optional"] = True
    return toml


def predicate_of(toml: TomlValue) -> Predicate:
    """Return the predicate that a TOML value stands for.

    >>> predicate_of({"in": ["b", "a"]})
    OneOf(values=('a', 'b'), optional=False)

    Raises FormError.
    """
    if isinstance(toml, str):
        return Literal(str(toml))
    if not isinstance(toml, Mapping):
        raise FormError(f"{shown(toml)} is no condition", f"a condition is {_PREDICATES}")
    optional = flag("optional", toml.get("optional", False))
    if "is" in toml:
        only_keys(toml, {"is", "optional"})
        return Literal(string('"is"', toml["is"]), optional)
    if "in" in toml:
        only_keys(toml, {"in", "optional"})
        return OneOf(strings("in", toml["in"]), optional)
    if "class" in toml:
        only_keys(toml, {"class", "length", "optional"})
        return OfClass(class_of(toml), optional)
    if "absent" in toml:
        only_keys(toml, {"absent"})
        if not flag("absent", toml["absent"]):
            raise FormError("absent = false says nothing", 'write { class = "any" } for a key that must be there')
        return Absent()
    raise FormError(f"{shown(toml)} is no condition", f"a condition is {_PREDICATES}")


def class_form(value_class: ValueClass) -> dict[str, TomlValue]:
    """Return a class of values as a TOML value."""
    toml: dict[str, TomlValue] = {"class": value_class.name}
    if value_class.max_len != _UNBOUNDED:
        toml["length"] = [value_class.min_len, value_class.max_len]
    elif value_class.min_len:
        toml["length"] = [value_class.min_len]
    return toml


def class_of(toml: Mapping[str, TomlValue]) -> ValueClass:
    """Return the class of values that a TOML value stands for. Raises FormError."""
    name = string("class", toml["class"])
    if name not in CLASS_NAMES:
        raise FormError(f"class is {shown(name)}", f"a class is one of {', '.join(CLASS_NAMES)}")
    length = toml.get("length", [0, _UNBOUNDED])
    if (
        not isinstance(length, Sequence)
        or len(length) not in (1, 2)
        or not all(isinstance(number, int) and not isinstance(number, bool) for number in length)
        or not 0 <= length[0] <= length[-1]
    ):
        raise FormError(
            f"length is {shown(length)}",
            "length is the least and the greatest, such as [32, 32], or the least, such as [1]",
        )
    return ValueClass(name, int(length[0]), int(length[1]) if len(length) > 1 else _UNBOUNDED)


_WORDS: dict[str, Operation] = {
    "ignore": Ignore(),
    "cut": Ignore(cut=True),
    "ignore-value": IgnoreValue(),
    "keep": Keep(),
    "lower": Lower(),
    "lower-first": Lower(first=True),
    "nested": Nested(),
    "set-of-values": SetOfValues(),
    "any-order": AnyOrder(),
    "declared": Declared(),
}
_WORD_OF = {operation: word for word, operation in _WORDS.items()}
_OPERATIONS = (
    ", ".join([f'"{word}"' for word in _WORDS])
    + ", { ignore = [..] }, { set = {..} }, { replace = .. }, { nested = {..} }, { any-order = [..] }, "
    '{ set-of-values = "," } or { anchor = .. }'
)


def operation_form(operation: Operation) -> TomlValue:
    """Return *operation* as a TOML value.

    >>> operation_form(Ignore()), operation_form(Ignore(["1"]))
    ('ignore', {'ignore': ['1']})
    >>> operation_form(Set({"show": "", "home": None, None: "x"}))
    {'set': {'show': ''}, 'remove': ['home'], 'default': 'x'}
    """
    if operation in _WORD_OF:
        return _WORD_OF[operation]
    if isinstance(operation, Set):
        return _set_form(operation)
    word = "cut" if isinstance(operation, Ignore) and operation.cut else _WORD_OF_KIND[type(operation)]
    return written(_TABLES[word][1], operation)


def operation_of(toml: TomlValue) -> Operation:
    """Return the operation that a TOML value stands for.

    >>> operation_of({"ignore": {"class": "int", "length": [1, 4]}}).only
    ValueClass(name='int', min_len=1, max_len=4)

    Raises FormError.
    """
    if isinstance(toml, str) and toml in _WORDS:
        return _WORDS[toml]
    if isinstance(toml, Mapping):
        if toml.keys() & {"set", "remove", "default"}:
            return _set_of(toml)
        for word, (kind, fields) in _TABLES.items():
            if word in toml:
                only_keys(toml, {field.key for field in fields})
                values = {field.name: field.read(field.key, toml[field.key]) for field in fields if field.key in toml}
                try:
                    return kind(**values)
                except ValueError as error:
                    raise FormError(*problem_and_remedy(str(error))) from None
    words = [toml] if isinstance(toml, str) else [*toml] if isinstance(toml, Mapping) else []
    near = [known for word in words for known in get_close_matches(word, {*_WORDS, *_TABLES, "set"}, 1)]
    remedy = f"did you mean {near[0]}?" if near else f"an operation is {_OPERATIONS}"
    raise FormError(f"{shown(toml)} is no operation", remedy)


def _set_form(operation: Set) -> TomlValue:
    pairs = operation.values
    toml: dict[str, TomlValue] = {"set": {old: new for old, new in pairs if old is not None and new is not None}}
    removed = [old for old, new in pairs if old is not None and new is None]
    if removed:
        toml["remove"] = removed
    if pairs and pairs[0][0] is None:  # sorted, and what is absent comes first
        toml["default"] = pairs[0][1]
    return toml


def _set_of(toml: Mapping[str, TomlValue]) -> Set:
    only_keys(toml, {"set", "remove", "default"})
    values: dict[str | None, str | None] = {}
    if "default" in toml:
        values[None] = string("default", toml["default"])
    values.update(dict.fromkeys(strings("remove", toml.get("remove", []))))
    table = toml.get("set", {})
    if not isinstance(table, Mapping):
        raise FormError(f"set is {shown(table)}", 'set is a table such as { "old" = "new" }')
    return Set({**values, **{str(old): string(f"set {old}", new) for old, new in table.items()}})


def _only(key: str, toml: TomlValue) -> tuple[str, ...] | ValueClass:
    if isinstance(toml, Mapping):
        only_keys(toml, {"class", "length"})
        if "class" in toml:
            return class_of(toml)
    return strings(key, toml)


def _only_form(only: frozenset[str] | ValueClass) -> TomlValue:
    return class_form(only) if isinstance(only, ValueClass) else sorted(only)


def _sources(key: str, toml: TomlValue) -> str | tuple[str, ...]:
    sources = toml if isinstance(toml, str) else strings(key, toml)
    if isinstance(sources, tuple) and not sources:
        raise FormError(f"{key} is []", f'{key} is a key such as "path.1", or a list of keys')
    return sources


def _nested(key: str, toml: TomlValue) -> dict[str, dict[str, Operation]]:
    remedy = f'{key} is a table by site, such as {{ "example.org/video" = {{ "q.sid" = "ignore" }} }}'
    if not isinstance(toml, Mapping) or not all(isinstance(keys, Mapping) for keys in toml.values()):
        raise FormError(f"{key} is {shown(toml)}", remedy)
    found = {str(site): {str(name): operation_of(one) for name, one in keys.items()} for site, keys in toml.items()}
    try:
        Nested(found)  # type: ignore[arg-type]  # it says so itself
    except ValueError as error:
        raise FormError(str(error), remedy) from None
    return found


def _delimiter(key: str, toml: TomlValue) -> str:
    if toml == "":
        raise FormError("the delimiter of a set is empty", f'write "{key}" for a parameter that is repeated')
    return str(string(key, toml))


def _after(key: str, toml: TomlValue) -> int:
    if not isinstance(toml, int) or isinstance(toml, bool) or toml < 0:
        raise FormError(
            f"{key} is {shown(toml)}", f"{key} is the number of segments that stay in their places, such as 1"
        )
    return toml


def _unless_empty(key: str, read: Callable[[str, Any], Any], write: Callable[[Any], Any] = str) -> TableField:
    return TableField(key, read, write, when=attrgetter(key))


_TABLES: dict[str, tuple[Callable[..., Operation], tuple[TableField, ...]]] = {
    "ignore": (Ignore, (TableField("ignore", _only, _only_form, attribute="only"),)),
    "cut": (partial(Ignore, cut=True), (TableField("cut", _only, _only_form, attribute="only"),)),
    "ignore-value": (IgnoreValue, (TableField("ignore-value", _only, _only_form, attribute="only"),)),
    "replace": (
        Replace,
        (
            TableField(
                "replace", _sources, lambda found: found if isinstance(found, str) else list(found), attribute="source"
            ),
            *[_unless_empty(key, string) for key in ("join", "prefix", "suffix")],
            _unless_empty("transform", one_of(*TRANSFORMS)),
        ),
    ),
    "nested": (
        Nested,
        (
            TableField(
                "nested",
                _nested,
                lambda ignore: {place: {key: operation_form(one) for key, one in keys} for place, keys in ignore},
                attribute="ignore",
            ),
        ),
    ),
    "any-order": (
        AnyOrder,
        (TableField("any-order", strings, list, attribute="names"), _unless_empty("after", _after, int)),
    ),
    "set-of-values": (SetOfValues, (TableField("set-of-values", _delimiter, attribute="delimiter"),)),
    "anchor": (
        Anchored,
        (
            TableField("anchor", string, attribute="prefix"),
            _unless_empty("lead", string),
            _unless_empty("pages", strings, list),
        ),
    ),
}
"""By the first key of a table: the operation that it is, and its fields in the order in which they are written."""
_WORD_OF_KIND = {kind: word for word, (kind, _) in _TABLES.items()}
