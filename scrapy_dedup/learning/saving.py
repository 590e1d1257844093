"""Write learned rules and masks into the files of a rules directory."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..masks.files import save_learned_mask
from ..rules import RuleBook, SiteRules, merge, update_site
from ..rules.files import load_sites
from ..rules.writing import written_rules

if TYPE_CHECKING:
    from os import PathLike

    from .alternation import LearnedRulesAndMasks
    from .learn import Learned


def save(
    both: "LearnedRulesAndMasks", directory: "str | PathLike[str]", others: "Sequence[str | PathLike[str]]" = ()
) -> list[SiteRules]:
    """Write learned rules and masks into the files of *directory*; return the rules of each site as written.

    What the user said stands in its file already, or in one of the *others* directories, and stays there; so do learned
    rules of these. Rules leave a file only where the learning says why.
    Raises RuleFileError, RuleWriteError.
    """
    book, written = both.learned.book, []
    gone = {(each.rule.site, each.rule.id) for each in both.learned.departures}
    elsewhere = _elsewhere(book.sites, directory, others)
    for site in book.sites:
        found = book.site_rules(site)
        rules = [rule for rule in found.rules if not rule.status.users and (site, rule.id) not in elsewhere]
        ids = [name for of_site, name in gone if of_site == site]
        written.append(update_site(directory, site, rules, found.deep, gone=ids))
    for mask in both.masks.values():
        save_learned_mask(directory, mask)
    return written


def text_of_file(learned: "Learned", site: str, known: RuleBook) -> str | None:
    """Return the text of a rule file of *site* that was learned beside the rules *known* of it; None where there is nothing to write."""
    found = learned.book.site_rules(site)
    gone = [each.rule.id for each in learned.departures if each.rule.site == site]
    rules = [rule for rule in found.rules if not rule.status.users]
    whole = merge(known.site_rules(site), rules, found.deep, gone=gone)
    return written_rules(whole) if whole.rules or whole.deep else None


def _elsewhere(
    sites: Sequence[str], directory: "str | PathLike[str]", others: "Sequence[str | PathLike[str]]"
) -> set[tuple[str, str]]:
    """Return the sites and ids of the rules that act as they stand in other directories alone."""
    others = [path for path in others if Path(path) != Path(directory)]
    there = {(rule.site, rule.id) for rule in load_sites(others, sites)[0] if rule.status.acts}
    return there and there - {(rule.site, rule.id) for rule in load_sites([directory], sites)[0]}
