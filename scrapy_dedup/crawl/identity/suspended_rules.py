"""The rules that this crawl has refuted: they are suspended in it, whatever the rule files say."""

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ...rules.book import RuleBook
from ...rules.model import Status

if TYPE_CHECKING:
    from ...rules.model import Rule
    from ..support.tally import Tally


@dataclass(frozen=True, slots=True)
class Suspension:
    """Why a rule is suspended: the spot check, and the page that it was taken for."""

    url: str
    page: str
    #: Seconds since 1970.
    time: float
    #: The spot checks of the crawl by then, and those of them that were another page: they stand in the file.
    samples: int = 0
    refuted: int = 0


class SuspendedRules:
    """Suspended rules, and the sites some of whose filtered requests are left to the next crawl."""

    def __init__(self, tally: "Tally") -> None:
        self._tally = tally
        #: Site and id of a rule -> why it is suspended.
        self.found: dict[tuple[str, str], Suspension] = {}
        self.deferred: set[str] = set()

    def __contains__(self, rule: tuple[str, str]) -> bool:
        return rule in self.found

    def defers(self, site: str) -> bool:
        """Whether what a rule that is gone has filtered on a site is left to the next crawl.

        It is where revisits were paid out of what turned out to be no savings: the crawl would make more
        requests than without the plug-in.
        """
        if self._tally.covers(site):
            return False
        self.deferred.add(site)
        return True

    def amended(self, book: RuleBook) -> RuleBook:
        """Return *book*, in which what this crawl has refuted is suspended, whoever has made it."""
        if not any(self._is_to_change(rule) for rule in book):
            return book
        rules = [replace(rule, status=Status.SUSPENDED) if self._is_to_change(rule) else rule for rule in book]
        return RuleBook(rules, {site: book.site_rules(site).deep for site in book.sites}, book.groups)

    def _is_to_change(self, rule: "Rule") -> bool:
        return rule.status is Status.ACTIVE and (rule.site, rule.id) in self.found


def rule_by_id(book: RuleBook, site: str, name: str) -> "Rule | None":
    """Return a rule of a site by its id; None if it is not in use any more."""
    return next((each for each in book.for_site(site) if each.id == name), None)
