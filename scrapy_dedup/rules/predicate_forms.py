"""Predicates, and the classes of values, as they stand in a rule file.

A *TOML value* is made of strings, numbers, booleans, lists and dictionaries, as TOML and
JSON know them. Reading one raises FormError with what is wrong and what would be right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..files.errors import FormError
from ..files.table_fields import flag, only_keys, shown, string, strings
from ..urls import CLASS_NAMES, ValueClass
from .predicates import Absent, Literal, OfClass, OneOf, Predicate

__all__ = ["TomlValue", "class_form", "class_of", "predicate_form", "predicate_of"]

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
