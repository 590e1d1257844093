"""Rules and their evidence in words, for the terminal."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..rules.forms import operation_form, predicate_form

if TYPE_CHECKING:
    from ..rules.model import Evidence, Rule
    from ..rules.operations import Operation


def operations_of(operations: "Mapping[str, Operation]") -> str:
    """Return what is done to which key, such as ``q.sid ignore hex{32}, host.1 ignore "www"``."""
    return ", ".join(f"{key} {_short(operation_form(operation))}" for key, operation in operations.items())


def condition_of(rule: "Rule") -> str:
    """Return where a rule acts, such as ``path.0 = "tag", q.page absent``; "everywhere" where it asks for nothing."""
    return ", ".join(f"{key} {_asked(predicate_form(form))}" for key, form in rule.match.items()) or "everywhere"


def evidence_of(evidence: "Evidence | None") -> str:
    """Return what a rule rests on, in one line."""
    if evidence is None:
        return "no evidence is known"
    samples = ""
    if evidence.samples:
        samples = f"; {sampled(evidence)}"
    if evidence.probes:
        samples += f"; {counted(evidence.probes, 'probed page')}, {evidence.contradicted} against it"
    learners = f", found by {', '.join(evidence.learners)}" if evidence.learners else ""
    return (
        f"{counted(evidence.groups, 'group')} for it, {evidence.counterexamples} against it; "
        f"{counted(evidence.pages, 'page')}, {counted(evidence.urls, 'URL')}, {evidence.removed} of them removed; "
        f"at most {evidence.upper95:.1%} of the pages lost (95 %){learners}{samples}"
    )


def sampled(evidence: "Evidence") -> str:
    """Return what samples of the discards have shown, with the bound that they give.

    >>> from scrapy_dedup.rules import Evidence
    >>> sampled(Evidence(samples=59))
    '59 samples, 0 other pages (at most 5.0% of the discards, 95 %)'
    """
    from ..learning.evidence import upper_bound

    bound = upper_bound(evidence.refuted, evidence.samples)
    others = counted(evidence.refuted, "other page")
    return f"{counted(evidence.samples, 'sample')}, {others} (at most {bound:.1%} of the discards, 95 %)"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "group"), counted(2, "group")
    ('1 group', '2 groups')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


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
        source = form["replace"]
        parts = (form.get("prefix", ""), f"<{source}>" if source else "", form.get("suffix", ""))
        return f"as {''.join(parts)} {form.get('transform', '')}".rstrip()
    if "nested" in form:
        inner = [
            f"{key} {_short(one)} of {place}" for place, keys in form["nested"].items() for key, one in keys.items()
        ]
        return f"nested ({', '.join(inner)})"
    return " ".join(f"{word} {_one_of(values)}" for word, values in form.items())


def _one_of(values: Any) -> str:
    """Write values, or a class of values with the lengths that they have: ``hex{32}``."""
    if isinstance(values, str):
        return _quoted(values)
    if isinstance(values, Mapping):
        if values["class"] == "empty":
            return _quoted("")
        lengths = dict.fromkeys(values.get("length", ()))
        return str(values["class"]) + (f"{{{','.join(map(str, lengths))}}}" if lengths else "")
    return " or ".join(map(_quoted, values))


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
