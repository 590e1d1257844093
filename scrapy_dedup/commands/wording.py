"""Rules and their evidence in words, for the terminal."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..rules.forms import operation_form, predicate_form

if TYPE_CHECKING:
    from ..rules.model import Evidence, Rule


def operations_of(rule: "Rule") -> str:
    """Return what a rule does, such as ``q.sid ignore, host.1 { ignore = ["www"] }``."""
    return ", ".join(f"{key} {_form(operation_form(operation))}" for key, operation in rule.ops.items())


def condition_of(rule: "Rule") -> str:
    """Return where a rule acts, such as ``path.0 = "tag", q.page absent``; "everywhere" where it asks for nothing."""
    conditions = []
    for key, predicate in rule.match.items():
        form = predicate_form(predicate)
        if form == {"absent": True}:
            conditions.append(f"{key} absent")
        else:
            conditions.append(f"{key} = {json.dumps(form) if isinstance(form, str) else _form(form)}")
    return ", ".join(conditions) or "everywhere"


def evidence_of(evidence: "Evidence | None") -> str:
    """Return what a rule rests on, in one line."""
    if evidence is None:
        return "no evidence is known"
    learners = f", found by {', '.join(evidence.learners)}" if evidence.learners else ""
    return (
        f"{evidence.groups} groups agree, {evidence.counterexamples} do not; {evidence.pages} pages, "
        f"{evidence.urls} URLs, {evidence.removed} of them removed; "
        f"at most {evidence.upper95:.1%} of the pages lost (95 %){learners}"
    )


def _form(form: Any) -> str:
    """Write a form as a rule file does."""
    if isinstance(form, Mapping):
        return "{ " + ", ".join(f"{name} = {_form(value)}" for name, value in form.items()) + " }"
    if isinstance(form, str) and form.replace("-", "").isalpha():
        return form
    return json.dumps(form, ensure_ascii=False)
