"""A rule file written: what the user wrote into it stays where it is.

The file is cut into blocks, the head and one for each rule with the comments before
it. The block of a rule that did not change is written again byte by byte; in that of
a rule that changed only what changed is edited (by tomlkit); the blocks of new rules
are put between the others, in order.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ..files.toml_reading import parsed
from ..files.toml_text import Block, assembled, blocks_of, comments_before, edit, edited, toml, toml_key
from ..urls import DeepSplit
from .model import Rule, SiteRules
from .reading import FORMAT, is_rule_header, read_rules

_NOWHERE = Path("-")


def written_rules(rules: SiteRules, old: str = "") -> str:
    """Return the text of a rule file that says *rules*, as near to the text *old* as can be."""
    if old:
        before, faults = read_rules(old, _NOWHERE)
        if before is not None and not faults:
            text = _edited(rules, before, old)
            if text is not None and _says(text, rules):
                return text
    head = f'format = "{FORMAT}"\nsite = {toml(rules.site)}\n' + _deep_text(rules.deep)
    return "\n".join([head, *[_rule_text(rule) for rule in sorted(rules.rules, key=_order)]])


def _says(text: str, rules: SiteRules) -> bool:
    found, _ = read_rules(text, _NOWHERE)
    return found is not None and _content(found) == _content(rules)


def _content(rules: SiteRules) -> tuple[object, ...]:
    return rules.site, {rule.id: rule for rule in rules.rules}, rules.deep


def _order(rule: Rule) -> tuple[bool, list[str], str, str]:
    """Return the place of a rule in its file: the user's first, then by what is done."""
    return not rule.status.users, list(rule.ops), json.dumps(rule.tables()["match"], sort_keys=True), rule.id


def _edited(rules: SiteRules, before: SiteRules, old: str) -> str | None:
    """Return *old*, which says *before*, edited to say *rules*; None where it is not cut as we cut it."""
    head, *blocks = blocks_of(old, is_rule_header)
    if len(blocks) != len(before.rules):
        return None
    wanted = {rule.id: rule for rule in rules.rules}
    kept: list[Block] = []
    for rule, block in zip(before.rules, blocks, strict=True):
        new = wanted.pop(rule.id, None)
        if new is not None:
            kept.append((_order(new), block if new == rule else _edited_block(new, block)))
    if rules.deep != before.deep:
        head = _edited_head(head, rules.deep)
    return assembled(head, kept, [(_order(rule), _rule_text(rule)) for rule in wanted.values()])


def _edited_block(rule: Rule, block: str) -> str:
    added: list[str] = []

    def change(document: Any) -> None:
        table = document["rule"][0]
        edit(table, {"id": rule.id, "status": str(rule.status.value), "note": rule.note or None})
        old = dict(table.unwrap())
        for name, content in rule.tables().items():
            if name in old and content:
                edit(table[name], {**dict.fromkeys(old[name]), **content})
            elif name in old:
                del table[name]
            elif content:
                added.append(_table_text(name, content))

    text = edited(block, change)
    if text is not None:
        text = "\n".join([text if text.endswith("\n") else text + "\n", *added])
        header = f'format = "{FORMAT}"\nsite = {toml(rule.site)}\n'
        if _says(header + text, SiteRules(rule.site, (rule,))):
            return text
    return comments_before(block, is_rule_header) + _rule_text(rule)


def _edited_head(head: str, deep: Mapping[str, DeepSplit]) -> str:
    """Return the head with these deep tokens; where it cannot be edited, as it is: what it says is compared afterwards."""

    def change(document: Any) -> None:
        table = document["deep"]
        edit(table, {**dict.fromkeys(table.unwrap()), **{key: _split_form(split) for key, split in deep.items()}})

    if "deep" in parsed(head, _NOWHERE):
        return edited(head, change) or head
    return head.rstrip("\n") + "\n" + _deep_text(deep) + "\n"


def _rule_text(rule: Rule) -> str:
    text = f'[[rule]]\nid = {toml(rule.id)}\nstatus = "{rule.status.value}"\n'
    if rule.note:
        text += f"note = {toml(rule.note)}\n"
    tables = [_table_text(name, content) for name, content in rule.tables().items() if content or name == "ops"]
    return "\n".join([text, *tables])


def _table_text(name: str, content: Mapping[str, Any]) -> str:
    lines = [f"{toml_key(key)} = {toml(value, lines=key == 'examples')}\n" for key, value in content.items()]
    return f"[rule.{name}]\n" + "".join(lines)


def _deep_text(deep: Mapping[str, DeepSplit]) -> str:
    if not deep:
        return ""
    return "\n[deep]\n" + "".join([f"{toml_key(key)} = {toml(_split_form(split))}\n" for key, split in deep.items()])


def _split_form(split: DeepSplit) -> dict[str, str | bool]:
    form: dict[str, str | bool] = {"delimiter": split.delimiter, "side": split.side}
    return {**form, "optional": True} if split.optional else form
