"""The options of the published methods: what each document leaves to who uses it, with the document's own values.

Every option is a field with a default, the values that it may have and a line of help; ``options_of`` reads them from
texts (``scrapy learn-rules --method-option KEY=VALUE``) or from Python values. Nothing is learned here, so that
settings can be checked where nothing learns.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from math import inf, nan
from typing import Any

Read = Callable[[Any], Any]
"""From a text, or a value of Python, to the value of an option. Raises ValueError, which says what is right."""


def one_of(*values: str) -> Read:
    """Return the reader of a choice."""

    def read(value: Any) -> str:
        if value not in values:
            raise ValueError(f"one of {', '.join(values)}")
        return str(value)

    return read


def truth(value: Any) -> bool:
    """Read "true" or "false"."""
    return bool(one_of("true", "false")(str(value).lower()) == "true")


def number(least: float, most: float = inf, *, whole: bool = False) -> Read:
    """Return the reader of a number in a range."""
    kind = "a whole number" if whole else "a number"
    right = f"{kind} from {least:g} to {most:g}" if most < inf else f"{kind} of at least {least:g}"

    def read(value: Any) -> float:
        try:
            found = float("nan" if isinstance(value, bool) else value)
        except (TypeError, ValueError):
            found = nan
        if not least <= found <= most or found == inf or (whole and found != int(found)):
            raise ValueError(right)
        return int(found) if whole else found

    return read


def or_none(read: Read) -> Read:
    """Return the reader of what *read* reads, or of "none"."""

    def read_or_none(value: Any) -> Any:
        try:
            return None if value in (None, "", "none", "None") else read(value)
        except ValueError as error:
            raise ValueError(f"{error}, or none") from None

    return read_or_none


def names(*known: str) -> Read:
    """Return the reader of a list of names, or of some of those that are *known*."""
    right = f"some of {', '.join(known)}, parted by commas" if known else "names, parted by commas"

    def read(value: Any) -> tuple[str, ...]:
        given = value.split(",") if isinstance(value, str) else value
        if not isinstance(given, list | tuple) or not all(isinstance(name, str) for name in given):
            raise ValueError(right)
        found = tuple(dict.fromkeys(name.strip() for name in given if name.strip()))
        if known and (not found or not {*found} <= {*known}):
            raise ValueError(right)
        return found

    return read


class WrongOption(ValueError):
    """A method or an option that is not there, or a wrong value; the message is one line that says what is right."""


def _option(default: Any, read: Read, right: str, text: str) -> Any:
    """Return a field: its default, what reads it, what values are right in words, and what it is for."""
    return field(default=default, metadata={"read": read, "right": right, "help": text})


def _choice(default: str, values: tuple[str, ...], text: str) -> Any:
    return _option(default, one_of(*values), " | ".join(values), text)


@dataclass(frozen=True, slots=True)
class EntropyOptions:
    """The method of url-parameter-relevance: H(F|V) and H(V|F) of each parameter against thresholds."""

    scope: str = _choice(
        "host/path", ("host/path", "host", "domain", "any"), "what the URLs of a cluster have in common"
    )
    minimum: int = _option(20, number(1, whole=True), "whole number from 1", "URLs that a cluster needs for rules")
    fingerprint_given_value: float = _option(
        0.5, number(0), "bits", "a relevant parameter has H(F|V) below this: the value tells the page"
    )
    value_given_fingerprint: float = _option(
        0.5, number(0), "bits", "a relevant parameter has H(V|F) below this: the page tells the value"
    )
    relative: bool = _option(False, truth, "true | false", "the two thresholds are shares of H(F) and H(V), not bits")
    conflict: str = _choice(
        "path-specific",
        ("path-specific", "ratio", "relevant-anywhere"),
        "where a parameter is relevant in one cluster and irrelevant in another",
    )
    ratio: float = _option(
        1.0, number(0), "number", "with conflict=ratio: relevant clusters to others above which it is relevant"
    )
    largest_tuple: int = _option(
        3, number(1, 4, whole=True), "1 to 4", "parameters of the largest tuple that is tested; 1 tests none"
    )
    case: float = _option(
        0.5, number(0), "bits", "H(F|lower(V)) - H(F|V) below which a parameter is shown in lower case"
    )
    parts: tuple[str, ...] = _option(
        ("query",), names("query", "path", "host"), "query,path,host", "parts of a URL that are parameters"
    )
    prefixes: bool = _option(
        False, truth, "true | false", "leave alone what a significant prefix of all URLs of a cluster settles"
    )
    relevant: tuple[str, ...] = _option((), names(), "NAME,..", "names that are relevant whatever is found; NAME* too")
    irrelevant: tuple[str, ...] = _option((), names(), "NAME,..", "names that are irrelevant whatever is found")


@dataclass(frozen=True, slots=True)
class EquivalenceOptions:
    """The method of url-normalization-rule-inference: rewrite rules, which one counterexample refutes."""

    min_urls: int = _option(
        10, number(0, whole=True), "whole number", "a rule is activated when it held for more URLs than these"
    )
    representative: str = _choice(
        "intersection", ("intersection", "ends"), "what the URLs of a class share: segments, or those at both ends"
    )
    fold_case: bool = _option(False, truth, "true | false", "segments that differ in case only are equal")
    pages: str = _choice(
        "text",
        ("text", "rare words", "shingles"),
        "which pages are one: of equal text, or near-identical by rare words or shingles of the texts kept",
    )
    window_days: float | None = _option(
        None, or_none(number(0)), "days | none", "what was seen longer before the latest response does not count"
    )


@dataclass(frozen=True, slots=True)
class PatternTreeOptions:
    """The method of the pattern-tree paper: candidate rules of a tree, a false-positive filter, a selection."""

    fpr_max: float = _option(0.05, number(0, 1), "0 to 1", "the false-positive rate (equation 3) a rule may have")
    selection: str = _choice(
        "graph", ("graph", "naive", "naive by fpr"), "which rules are deployed: section 5.3 and Figure 7"
    )
    min_overlap: float = _option(
        0.5, number(0, 1), "0 to 1", "the share of common URLs (equation 6) from which on two nodes are duplicate nodes"
    )
    min_sigma: float = _option(
        0.5,
        number(0, 1),
        "0 to 1",
        "the rate of common values (Algorithm 3) above which two keys are mapped to each other",
    )
    max_differing: float = _option(
        0.2, number(0, 1), "0 to 1", "the share of duplicates that differ in a key above which its replace is a fake"
    )


MethodOptions = EntropyOptions | EquivalenceOptions | PatternTreeOptions

METHODS: Mapping[str, type[MethodOptions]] = {
    "entropy": EntropyOptions,
    "equivalence": EquivalenceOptions,
    "pattern-tree": PatternTreeOptions,
}
"""Name of a published method -> its options."""


def options_of(method: str, given: Mapping[str, Any]) -> MethodOptions:
    """Return the options of a method, those that are not *given* as the document has them.

    Values may be texts. Raises WrongOption for a method or an option that is not there, and for a wrong value.

    >>> options_of("equivalence", {"min_urls": "5", "fold_case": "true"})
    EquivalenceOptions(min_urls=5, representative='intersection', fold_case=True, pages='text', window_days=None)
    """
    if method not in METHODS:
        raise WrongOption(f"there is no method {method!r} with options; there are {', '.join(METHODS)}")
    kind = METHODS[method]
    known = {one.name: one for one in fields(kind)}
    found: dict[str, Any] = {}
    for name, value in given.items():
        if name not in known:
            raise WrongOption(f"the method {method} has no option {name!r}; it has {', '.join(known)}")
        try:
            found[name] = known[name].metadata["read"](value)
        except ValueError as error:
            raise WrongOption(f"{name} is {value!r}: it must be {error}") from None
    return kind(**found)


def described(method: str) -> list[tuple[str, str, str, str]]:
    """Return (name, values, default, help) of each option of a method."""
    return [
        (one.name, one.metadata["right"], _shown(one.default), one.metadata["help"]) for one in fields(METHODS[method])
    ]


def _shown(default: Any) -> str:
    text = ",".join(default) if isinstance(default, tuple) else f"{default}"
    return text.lower() if text in {"True", "False", "None"} else text or "none"
