"""Predicates, and the classes of values, as they stand in a rule file.

A *form* is made of strings, numbers, booleans, lists and dictionaries, as TOML and
JSON know them. Reading one raises FormError with what is wrong and what would be right.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from ..files.errors import FormError
from ..files.table_fields import flag, only_keys, shown, string, strings
from ..urls import CLASS_NAMES, ValueClass
from .predicates import Absent, Literal, OfClass, OneOf, Predicate

__all__ = ["Form", "class_form", "class_of", "predicate_form", "predicate_of"]

Form = Any
_UNBOUNDED = ValueClass("any").max_len
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
            form = class_form(value_class)
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
        raise FormError(f"{shown(form)} is no condition", f"a condition is {_PREDICATES}")
    optional = flag("optional", form.get("optional", False))
    if "is" in form:
        only_keys(form, {"is", "optional"})
        return Literal(string('"is"', form["is"]), optional)
    if "in" in form:
        only_keys(form, {"in", "optional"})
        return OneOf(strings("in", form["in"]), optional)
    if "class" in form:
        only_keys(form, {"class", "length", "optional"})
        return OfClass(class_of(form), optional)
    if "absent" in form:
        only_keys(form, {"absent"})
        if not flag("absent", form["absent"]):
            raise FormError("absent = false says nothing", 'write { class = "any" } for a key that must be there')
        return Absent()
    raise FormError(f"{shown(form)} is no condition", f"a condition is {_PREDICATES}")


def class_form(value_class: ValueClass) -> dict[str, Form]:
    """Return the form of a class of values."""
    form: dict[str, Form] = {"class": value_class.name}
    if value_class.max_len != _UNBOUNDED:
        form["length"] = [value_class.min_len, value_class.max_len]
    elif value_class.min_len:
        form["length"] = [value_class.min_len]
    return form


def class_of(form: Mapping[str, Form]) -> ValueClass:
    """Return the class of values that *form* is of. Raises FormError."""
    name = string("class", form["class"])
    if name not in CLASS_NAMES:
        raise FormError(f"class is {shown(name)}", f"a class is one of {', '.join(CLASS_NAMES)}")
    length = form.get("length", [0, _UNBOUNDED])
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
