"""What was learned, written into its files: rules and masks, and nothing that stands elsewhere already."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..rules import Rule, RuleBook, SiteRules, update_site
from ..rules.files import load_sites
from ..rules.mask_files import save_learned_mask

if TYPE_CHECKING:
    from os import PathLike

    from .fixed_point import Both

__all__ = ["save"]


def save(
    both: "Both", directory: "str | PathLike[str]", others: "Sequence[str | PathLike[str]]" = ()
) -> list[SiteRules]:
    """Write what was learned into the files of *directory*; return the rules of each site as they stand there now.

    What the user said stands in its file already, or in one of the *others* directories, and stays there; so do learned
    rules of these. Rules leave a file only where the learning says why.
    Raises RuleFileError, RuleWriteError.
    """
    book, written = both.learned.book, []
    gone = {(each.rule.site, each.rule.id) for each in both.learned.departures}
    elsewhere = _elsewhere(book, directory, others)
    for site in book.sites:
        found = book.site_rules(site)
        rules = [rule for rule in found.rules if not rule.status.users and rule.id not in elsewhere.get(site, ())]
        ids = [name for of_site, name in gone if of_site == site]
        written.append(update_site(directory, site, rules, found.deep, gone=ids))
    for mask in both.masks.values():
        save_learned_mask(directory, mask)
    return written


def _elsewhere(
    book: RuleBook, directory: "str | PathLike[str]", others: "Sequence[str | PathLike[str]]"
) -> dict[str, set[str]]:
    """Return, by site, the ids of the rules that act as they stand in other directories alone."""
    own = _ids([directory], book.sites)
    found: dict[str, set[str]] = {}
    for rule in load_sites([path for path in others if Path(path) != Path(directory)], book.sites)[0]:
        if rule.status.acts and rule.id not in own.get(rule.site, ()):
            found.setdefault(rule.site, set()).add(rule.id)
    return found


def _ids(directories: "Sequence[str | PathLike[str]]", sites: Sequence[str]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    rules: list[Rule] = load_sites(directories, sites)[0]
    for rule in rules:
        found.setdefault(rule.site, set()).add(rule.id)
    return found
