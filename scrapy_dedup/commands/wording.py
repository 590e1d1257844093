"""Rules and their evidence in words, for the terminal."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..learning.phrases import counted
from ..rules.operation_forms import operation_form
from ..rules.predicate_forms import predicate_form

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
    from ..learning.lifetime.spot_checks import UNINFORMATIVE, share_lost

    if evidence.apart:
        found_by = f"; {_found_by(evidence)}" if evidence.learners else ""
        return f"it keeps {counted(evidence.apart, 'page')} apart that no witness group joins{found_by}"
    said = [
        f"{counted(evidence.groups, 'witness group')} for it, {evidence.counterexamples} against it",
        f"{counted(evidence.pages, 'page')}, {counted(evidence.urls, 'URL')}, {evidence.removed} of them filtered",
    ]
    if evidence.samples:
        said.append(sampled(evidence))
    share = share_lost(evidence)
    if share < UNINFORMATIVE or evidence.counterexamples or evidence.refuted:
        said.append(f"at most {share:.1%} of what it filters are other pages (95 %)")
    if evidence.probes:
        said.append(f"{counted(evidence.probes, 'probed page')}, {evidence.contradicted} against it")
    if evidence.learners:
        said.append(_found_by(evidence))
    return "; ".join(said)


def _found_by(evidence: "Evidence") -> str:
    """Return who proposed a rule, or which published method decided on it alone."""
    if evidence.method:
        return f"decided by the method {evidence.method} alone"
    return f"found by {', '.join(evidence.learners)}"


def sampled(evidence: "Evidence") -> str:
    """Return what spot checks have shown: URLs that a rule filtered, fetched all the same.

    >>> from scrapy_dedup.rules import Evidence
    >>> sampled(Evidence(samples=59)), sampled(Evidence(samples=1)), sampled(Evidence(samples=9, refuted=1))
    ('59 spot checks: all duplicates', '1 spot check: a duplicate', '9 spot checks: 8 duplicates, 1 other page')
    """
    if not evidence.refuted:
        shown = "a duplicate" if evidence.samples == 1 else "all duplicates"
    else:
        duplicates = counted(evidence.samples - evidence.refuted, "duplicate")
        shown = f"{duplicates}, {counted(evidence.refuted, 'other page')}"
    return f"{counted(evidence.samples, 'spot check')}: {shown}"


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
