"""``scrapy learn-rules --import``: rules of another tool become the user's own."""

import sys
from typing import TYPE_CHECKING

from ..learning.phrases import counted
from ..rules.exchange import READ, add_rules, imported
from .base import DONE, Mistake, Nothing
from .observation_sources import site_named
from .wording import condition_of, operations_of

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings


def import_rules(settings: "DedupSettings", names: list[str], file: str, form: str | None, *, dry_run: bool) -> int:
    """Read the rules of a file, show them, and add them to the rule files unless *dry_run*.

    Raises Mistake and Nothing.
    """
    if form not in READ:
        raise Mistake(f"--import needs --format: one of {', '.join(READ)}")
    sites = [site_named(name, settings) for name in names]
    try:
        found = imported(file, form, sites, settings.site_groups)
    except ValueError as error:
        raise Mistake(str(error)) from error
    for each in found.left_out:
        print(f"{file}, {each}", file=sys.stderr)
    if not found.rules:
        raise Nothing(f"there is no rule in {file}" + (f" for {', '.join(sites)}" if sites else ""))
    for rule in found.rules:
        print(f"{rule.site}: {operations_of(rule.ops)}, {condition_of(rule)}")
    if dry_run:
        print("Nothing was written (--dry-run).")
        return DONE
    count, off = add_rules(settings.learned_directory, found.rules)
    for each in off:
        print(each, file=sys.stderr)
    verb = "is now a manual rule" if count == 1 else "are now manual rules"
    print(f"{counted(count, 'rule')} of {file} {verb} in {settings.learned_directory}.")
    return DONE
