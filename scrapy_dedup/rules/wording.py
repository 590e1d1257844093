"""Rules, and the keys of URLs, in words."""

import json
from collections.abc import Mapping
from typing import Any

from .forms import operation_form, predicate_form
from .operations import Operation
from .predicates import Predicate


def operations_of(operations: Mapping[str, Operation]) -> str:
    """Return what is done to which key, such as ``q.sid ignore hex{32}, host.1 ignore "www"``."""
    return ", ".join(f"{key} {_short(operation_form(operation))}" for key, operation in operations.items())


def condition_of(match: Mapping[str, Predicate]) -> str:
    """Return where a rule acts, such as ``path.0 = "tag", q.page absent``; "everywhere" where it asks for nothing."""
    return ", ".join(f"{key} {_asked(predicate_form(form))}" for key, form in match.items()) or "everywhere"


def _asked(form: Any) -> str:
    """Write what is asked of a key."""
    if isinstance(form, str):
        return f"= {_quoted(form)}"
    if form.get("absent"):
        return "absent"
    optional = ", or absent" if form.get("optional") else ""
    return f"= {_one_of(form.get('is', form.get('in', form)))}{optional}"


def _short(form: Any) -> str:
    """Write what is done to a key: a bare word, or a word and the values that it is about."""
    if isinstance(form, str):
        return form
    if form.keys() & {"set", "remove", "default"}:
        pairs = [f"{_quoted(old)} as {_quoted(new)}" for old, new in form.get("set", {}).items()]
        pairs += [f"{_quoted(old)} as absent" for old in form.get("remove", ())]
        pairs += [f"absent as {_quoted(form['default'])}"] if "default" in form else []
        return " and ".join(pairs)
    if "replace" in form:
        sources = [form["replace"]] if isinstance(form["replace"], str) else form["replace"]
        shown = form.get("join", "").join([f"<{source}>" if source else "" for source in sources])
        parts = (form.get("prefix", ""), shown, form.get("suffix", ""))
        return f"as {''.join(parts)} {form.get('transform', '')}".rstrip()
    if "any-order" in form:
        names = f" of segments {' or '.join(map(_quoted, form['any-order']))}" if form["any-order"] else ""
        return f"any-order{names}" + (f" after the first {form['after']}" if "after" in form else "")
    if "nested" in form:
        inner = [
            f"{key} {_short(one)} of {place}" for place, keys in form["nested"].items() for key, one in keys.items()
        ]
        return f"nested ({', '.join(inner)})"
    return " ".join(f"{word} {_one_of(values)}" for word, values in form.items())


def _one_of(values: Any) -> str:
    """Write values, or a class of values with the lengths that they have, as in regular expressions: ``hex{32}``, ``any{1,}``."""
    if isinstance(values, str):
        return _quoted(values)
    if isinstance(values, Mapping):
        if values["class"] == "empty":
            return _quoted("")
        least, most = (*map(str, values.get("length", ())), "", "")[:2]
        return (
            f"{values['class']}{{{least if least == most else f'{least},{most}'}}}" if least else str(values["class"])
        )
    return " or ".join(map(_quoted, values))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


_PARAMETERS = {"q": "parameter", "m": "matrix parameter", "s": "segment with a value"}
_NOUNS = {
    "scheme": "the scheme",
    "host.1": "the subdomain",
    "path.len": "the number of segments",
    "path.trail": "a slash at the end",
    "ext": "the extension",
    "bare": "a parameter without a value",
}
_PARTS = {"head": "the first part of ", "tail": "the last part of "}


def key_in_words(key: str) -> str:
    """Return what a key of a URL is, as a word of a sentence.

    >>> key_in_words("q.sid"), key_in_words("path.0"), key_in_words("host.1"), key_in_words("ext")
    ('the parameter sid', 'segment 1 of the path', 'the subdomain', 'the extension')
    """
    kind, _, name = key.partition(".")
    number, _, part = name.partition(".")
    if kind in _PARAMETERS:
        return f"the {_PARAMETERS[kind]} {name}"
    if kind == "path" and number.isdigit():
        return f"{_PARTS.get(part, '')}segment {int(number) + 1} of the path"
    return _NOUNS.get(key, f"label {name} of the subdomain" if kind == "host" else key)
