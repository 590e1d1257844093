"""Rules in sentences: "On /index.php with p=login, returnto does not matter"."""

from collections.abc import Mapping

from ..learning.phrases import counted
from ..rules.key_wording import noun_of
from ..rules.model import ALIAS, FRAGMENT, Rule
from ..rules.operations import (
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
from ..rules.predicates import Absent, Literal, OfClass, OneOf, Predicate
from ..rules.wording import operations_of
from ..urls import ValueClass

_CLASSES = {
    "empty": "empty",
    "int": "a number",
    "date": "a date",
    "uuid": "a UUID",
    "hex": "hexadecimal digits",
    "alnum": "letters and digits",
    "slug": "letters, digits, dots and dashes",
    "b64": "a token",
    "any": "any text",
}
_UNBOUND = 1_000_000


def sentence_of(rule: Rule) -> str:
    """Return what a rule says, as a sentence.

    >>> from scrapy_dedup.rules import Ignore, Literal, Rule
    >>> match = {"path.0": Literal("index.php"), "path.len": Literal("1"), "q.p": Literal("login")}
    >>> sentence_of(Rule("a.test", match, {"q.returnto": Ignore()}))
    'On /index.php with p=login, returnto does not matter.'
    >>> sentence_of(Rule("a.test", {}, {"q.sid": Ignore(), "q.utm_*": Ignore()}))
    'Everywhere, sid and every parameter that begins with utm_ do not matter.'
    >>> sentence_of(Rule("a.test", {"path.0": Literal("tag")}, {"q.page": Ignore(["1"])}))
    'Below /tag, page does not matter where it is "1".'
    """
    where, clauses = clauses_of(rule)
    return f"{where}, {_and(list(clauses))}."


def clauses_of(rule: Rule) -> tuple[str, tuple[str, ...]]:
    """Return where a rule acts, and what it says there, in clauses."""
    where = _where(rule.match)
    return where[:1].upper() + where[1:], tuple(_done(rule.ops))


def _done(operations: Mapping[str, Operation]) -> list[str]:
    dropped = [key for key, operation in operations.items() if operation == Ignore()]
    said = []
    if dropped:
        said.append(f"{_and([noun_of(key) for key in dropped])} {'does' if len(dropped) == 1 else 'do'} not matter")
    said += [_said(key, operation) for key, operation in operations.items() if key not in dropped]
    return said


def _said(key: str, operation: Operation) -> str:
    noun = noun_of(key)
    match operation:
        case Ignore():
            return f"{noun} does not matter{_only(operation.only)}"
        case IgnoreValue():
            return f"the value of {noun} does not matter{_only(operation.only)}, only whether it is there"
        case Keep():
            return f"{noun} matters"
        case Lower():
            letters = "the first letter of " if operation.first else ""
            return f"upper and lower case of {letters}{noun} do not matter"
        case SetOfValues():
            return f"the order of the values of {noun} does not matter"
        case AnyOrder():
            order = f"the order of the segments that begin with {_or(operation.names)}" if operation.names else noun
            after = f" after the first {operation.after}" if operation.after else ""
            return f"{order}{after} does not matter"
        case Set():
            pairs = [f"{_value(old)} is taken for {_value(new)}" for old, new in operation.values]
            return f"of {noun} {_and(pairs)}"
        case Replace():
            sources = [noun_of(source) for source in operation.sources if source]
            return f"{noun} is made of {_and(sources)}" if sources else f"{noun} is always the same"
        case Nested():
            return f"the URL in {noun} counts as the rules of its own site say"
        case Anchored():
            name = "the fragment" if key == ALIAS + FRAGMENT else noun_of(key.removeprefix(ALIAS))
            return f"a URL whose {name} names an element of the page that links to it is that page"
        case Declared():
            return f"a URL that a page declares as its own ({key.removeprefix(ALIAS)}) is that page"
    return operations_of({key: operation})


def _where(match: Mapping[str, Predicate]) -> str:
    """Return where a rule acts."""
    rest = dict(match)
    segments: list[str] = []
    while isinstance(found := rest.get(f"path.{len(segments)}"), Literal) and not found.optional:
        segments.append(found.value)
        del rest[f"path.{len(segments) - 1}"]
    length = rest.get("path.len")
    ends = isinstance(length, Literal) and length.value == str(len(segments))
    if ends:
        del rest["path.len"]
    path = "/" + "/".join(segments)
    extension = rest.get("ext")
    if ends and isinstance(extension, Literal) and extension.value and not extension.optional:
        del rest["ext"]
        path += f".{extension.value}"
    place = f"on {path}" if ends else f"below {path}" if segments else ""
    conditions = [_condition(key, predicate) for key, predicate in rest.items()]
    if not place:
        return f"where the URL has {_and(conditions)}" if conditions else "everywhere"
    return f"{place} with {_and(conditions)}" if conditions else place


def _condition(key: str, predicate: Predicate) -> str:
    noun = noun_of(key)
    optional = f" or {_without(key)}" if predicate.optional else ""
    if key == "path.len" and isinstance(predicate, Literal) and predicate.value.isdigit():
        return counted(int(predicate.value), "segment")
    match predicate:
        case Literal() if key.startswith("q."):
            return f"{noun}={predicate.value}{optional}"
        case Literal():
            return f'"{predicate.value}" as {noun}{optional}'
        case OneOf():
            return f"{_or(predicate.values)} as {noun}{optional}"
        case OfClass():
            return f"{class_in_words(predicate.value_class)} as {noun}{optional}"
        case Absent():
            return _without(key)
    return noun


def _without(key: str) -> str:
    """Return in words that a key has no value."""
    if key == "path.0":
        return "no path at all"
    return f"no {noun_of(key).removeprefix('a ').removeprefix('the ')}"


def class_in_words(found: ValueClass) -> str:
    """Return what values of a class are.

    >>> class_in_words(ValueClass("hex", 32, 32)), class_in_words(ValueClass("int"))
    ('hexadecimal digits (32 characters)', 'a number')
    """
    name = _CLASSES.get(found.name, found.name)
    if found.min_len == found.max_len:
        return f"{name} ({found.min_len} characters)"
    if found.max_len < _UNBOUND:
        return f"{name} ({found.min_len} to {found.max_len} characters)"
    return name


def _only(only: "frozenset[str] | ValueClass | None") -> str:
    if only is None:
        return ""
    return f" where it is {class_in_words(only) if isinstance(only, ValueClass) else _or(sorted(only))}"


def _value(value: str | None) -> str:
    return "no value" if value is None else f'"{value}"'


def _or(values: "tuple[str, ...] | list[str]") -> str:
    quoted = [f'"{value}"' for value in values]
    more = len(quoted) - 6
    if more > 0:
        return f"{', '.join(quoted[:6])} or one of {more} more"
    return " or ".join(filter(None, [", ".join(quoted[:-1]), quoted[-1]])) if quoted else "none"


def _and(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]])) if parts else "nothing"
