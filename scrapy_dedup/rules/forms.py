"""Predicates and operations as they stand in a rule file.

A *form* is made of strings, numbers, booleans, lists and dictionaries, as TOML and
JSON know them. Reading one raises FormError with what is wrong and what would be right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..files.errors import FormError, halves
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

__all__ = ["FormError", "operation_form", "operation_of", "predicate_form", "predicate_of"]

Form = Any
_UNBOUNDED = ValueClass("any").max_len
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
    + ", { ignore = [..] }, { set = {..} }, { replace = .. }, { nested = {..} }, { any-order = [..] }, { set-of-values = ",
    " } or { anchor = .. }",
)
_PREDICATES = '"a value", { in = [..] }, { class = "..", length = [.., ..] } or { absent = true }'


def predicate_form(predicate: Predicate) -> Form:
    """Return the form of *predicate*.

    >>> predicate_form(Literal("thread")), predicate_form(OneOf(["a", "b"], optional=True))
    ('thread', {'in': ['a', 'b'], 'optional': True})
    >>> predicate_form(OfClass(ValueClass("hex", 32, 32)))
    {'class': 'hex', 'length': [32, 32]}
    """
    form: dict[str, Form]
    match predicate:
        case Literal(value, optional):
            if not optional:
                return value
            form = {"is": value}
        case OneOf(values):
            form = {"in": list(values)}
        case OfClass(value_class):
            form = _class_form(value_class)
        case Absent():
            return {"absent": True}
    if predicate.optional:
        form["optional"] = True
    return form


def predicate_of(form: Form) -> Predicate:
    """Return the predicate that *form* is of.

    >>> predicate_of({"in": ["b", "a"]})
    OneOf(values=('a', 'b'), optional=False)

    Raises FormError.
    """
    if isinstance(form, str):
        return Literal(str(form))
    if not isinstance(form, Mapping):
        raise FormError(f"{_shown(form)} is no condition", f"a condition is {_PREDICATES}")
    optional = _flag(form, "optional")
    if "is" in form:
        _no_other(form, {"is", "optional"})
        return Literal(_string(form["is"], "is"), optional)
    if "in" in form:
        _no_other(form, {"in", "optional"})
        return OneOf(_strings(form["in"], "in"), optional)
    if "class" in form:
        _no_other(form, {"class", "length", "optional"})
        return OfClass(_class_of(form), optional)
    if "absent" in form:
        _no_other(form, {"absent"})
        if not _flag(form, "absent"):
            raise FormError("absent = false says nothing", 'write { class = "any" } for a key that must be there')
        return Absent()
    raise FormError(f"{_shown(form)} is no condition", f"a condition is {_PREDICATES}")


def operation_form(operation: Operation) -> Form:
    """Return the form of *operation*.

    >>> operation_form(Ignore()), operation_form(Ignore(["1"]))
    ('ignore', {'ignore': ['1']})
    >>> operation_form(Set({"show": "", "home": None, None: "x"}))
    {'set': {'show': ''}, 'remove': ['home'], 'default': 'x'}
    """
    word = _WORD_OF.get(operation)
    if word is not None:
        return word
    form: dict[str, Form]
    match operation:
        case Ignore(only, cut):
            return {"cut" if cut else "ignore": _only_form(only)}
        case IgnoreValue(only):
            return {"ignore-value": _only_form(only)}
        case Set(pairs):
            form = {"set": {old: new for old, new in pairs if old is not None and new is not None}}
            removed = [old for old, new in pairs if old is not None and new is None]
            if removed:
                form["remove"] = removed
            for old, new in pairs:
                if old is None and new is not None:
                    form["default"] = new
            return form
        case Replace(source, prefix, suffix, transform, join):
            shown = source if isinstance(source, str) else list(source)
            form = {"replace": shown, "join": join, "prefix": prefix, "suffix": suffix, "transform": transform}
            return {name: text for name, text in form.items() if text or name == "replace"}
        case SetOfValues(delimiter):
            return {"set-of-values": delimiter}
        case Nested():
            inner = operation.by_place()
            return {
                "nested": {
                    place: {key: operation_form(one) for key, one in keys.items()} for place, keys in inner.items()
                }
            }
        case AnyOrder(names, after):
            return {"any-order": list(names), "after": after} if after else {"any-order": list(names)}
        case Anchored(prefix, lead, pages):
            form = {"anchor": prefix, "lead": lead, "pages": list(pages)}
            return {name: value for name, value in form.items() if value or name == "anchor"}
        case _:  # pragma: no cover
            raise TypeError(f"{operation!r} is no operation")


def operation_of(form: Form) -> Operation:
    """Return the operation that *form* is of.

    >>> operation_of({"ignore": {"class": "int", "length": [1, 4]}}).only
    ValueClass(name='int', min_len=1, max_len=4)

    Raises FormError.
    """
    if isinstance(form, str):
        if form not in _WORDS:
            raise FormError(f"{_shown(form)} is no operation", f"an operation is {_OPERATIONS}")
        return _WORDS[form]
    if not isinstance(form, Mapping):
        raise FormError(f"{_shown(form)} is no operation", f"an operation is {_OPERATIONS}")
    for word in ("ignore", "cut", "ignore-value"):
        if word in form:
            _no_other(form, {word})
            only = _only_of(form[word], word)
            return IgnoreValue(only) if word == "ignore-value" else Ignore(only, cut=word == "cut")
    if form.keys() & {"set", "remove", "default"}:
        _no_other(form, {"set", "remove", "default"})
        values: dict[str | None, str | None] = {}
        if "default" in form:
            values[None] = _string(form["default"], "default")
        values.update(dict.fromkeys(_strings(form.get("remove", []), "remove")))
        table = form.get("set", {})
        if not isinstance(table, Mapping):
            raise FormError(f"set = {_shown(table)}", 'set must be a table such as { "old" = "new" }')
        for old, new in table.items():
            values[str(old)] = _string(new, f"set {old}")
        return Set(values)
    if "replace" in form:
        return _replace_of(form)
    if "nested" in form:
        _no_other(form, {"nested"})
        return _nested_of(form["nested"])
    if "any-order" in form:
        _no_other(form, {"any-order", "after"})
        return _any_order_of(_strings(form["any-order"], "any-order"), form.get("after", 0))
    if "set-of-values" in form:
        _no_other(form, {"set-of-values"})
        delimiter = _string(form["set-of-values"], "set-of-values")
        if not delimiter:
            raise FormError("the delimiter of a set is empty", 'write "set-of-values" for a parameter that is repeated')
        return SetOfValues(delimiter)
    if "anchor" in form:
        _no_other(form, {"anchor", "lead", "pages"})
        prefix, lead = (_string(form.get(name, ""), name) for name in ("anchor", "lead"))
        return Anchored(prefix, lead, tuple(_strings(form.get("pages", []), "pages")))
    raise FormError(f"{_shown(form)} is no operation", f"an operation is {_OPERATIONS}")


def _replace_of(form: Mapping[str, Form]) -> Replace:
    _no_other(form, {"replace", "prefix", "suffix", "transform", "join"})
    source = form["replace"]
    several = () if isinstance(source, str) else tuple(_strings(source, "replace"))
    if not isinstance(source, str) and not several:
        raise FormError("replace = []", 'replace is a key such as "path.1", or a list of keys')
    texts = [_string(form.get(name, ""), name) for name in ("prefix", "suffix", "transform", "join")]
    if texts[2] not in TRANSFORMS:
        raise FormError(f"transform = {_shown(texts[2])}", 'a transform is "lower" or "number"')
    return Replace(several or _string(source, "replace"), *texts)


def _any_order_of(names: list[str], after: Form) -> AnyOrder:
    if not isinstance(after, int) or isinstance(after, bool) or after < 0:
        raise FormError(
            f"after = {_shown(after)}", "after is the number of segments that stay in their places, such as 1"
        )
    try:
        return AnyOrder(names, after=after)
    except ValueError as error:
        raise FormError(*halves(str(error))) from None


def _nested_of(form: Form) -> Nested:
    remedy = 'nested must be a table by site, such as { "example.org/video" = { "q.sid" = "ignore" } }'
    if not isinstance(form, Mapping) or not all(isinstance(keys, Mapping) for keys in form.values()):
        raise FormError(f"nested = {_shown(form)}", remedy)
    operations = {str(site): {str(key): operation_of(one) for key, one in keys.items()} for site, keys in form.items()}
    try:
        return Nested(operations)  # type: ignore[arg-type]  # it says so itself
    except ValueError as error:
        raise FormError(str(error), remedy) from None


def _class_form(value_class: ValueClass) -> dict[str, Form]:
    form: dict[str, Form] = {"class": value_class.name}
    if value_class.max_len != _UNBOUNDED:
        form["length"] = [value_class.min_len, value_class.max_len]
    elif value_class.min_len:
        form["length"] = [value_class.min_len]
    return form


def _class_of(form: Mapping[str, Form]) -> ValueClass:
    name = _string(form["class"], "class")
    if name not in CLASS_NAMES:
        raise FormError(f"class = {_shown(name)}", f"a class is one of {', '.join(CLASS_NAMES)}")
    length = form.get("length", [0, _UNBOUNDED])
    if (
        not isinstance(length, Sequence)
        or len(length) not in (1, 2)
        or not all(isinstance(number, int) and not isinstance(number, bool) for number in length)
        or not 0 <= length[0] <= length[-1]
    ):
        raise FormError(
            f"length = {_shown(length)}",
            "length is the least and the greatest, such as [32, 32], or the least, such as [1]",
        )
    return ValueClass(name, int(length[0]), int(length[1]) if len(length) > 1 else _UNBOUNDED)


def _only_form(only: frozenset[str] | ValueClass | None) -> Form:
    assert only is not None  # those are the bare words
    return _class_form(only) if isinstance(only, ValueClass) else sorted(only)


def _only_of(form: Form, name: str) -> list[str] | ValueClass:
    if isinstance(form, Mapping):
        _no_other(form, {"class", "length"})
        if "class" in form:
            return _class_of(form)
    return _strings(form, name)


def _flag(form: Mapping[str, Form], name: str) -> bool:
    value = form.get(name, False)
    if not isinstance(value, bool):
        raise FormError(f"{name} = {_shown(value)}", f"{name} is true or false")
    return value


def _string(form: Form, name: str) -> str:
    if not isinstance(form, str):
        raise FormError(f"{name} = {_shown(form)}", f'{name} must be a string in quotes, such as "1"')
    return str(form)


def _strings(form: Form, name: str) -> list[str]:
    if isinstance(form, str) or not isinstance(form, Sequence):
        raise FormError(f"{name} = {_shown(form)}", f'{name} must be a list of strings, such as ["1", "2"]')
    return [_string(item, f"an item of {name}") for item in form]


def _no_other(form: Mapping[str, Form], names: set[str]) -> None:
    unknown = sorted(set(form) - names)
    if unknown:
        raise FormError(
            f"{', '.join(unknown)} does not belong here",
            f"beside it only {', '.join(sorted(names))} may stand",
        )


def _shown(form: Form) -> str:
    text = str(form) if not isinstance(form, str) else f'"{form}"'
    return text if len(text) <= 60 else text[:57] + "..."
