"""What the report says: a tree of plain values, which the page and the lines of JSON are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from ..store.rows import CrawlRow, DiscardRow


@dataclass(frozen=True, slots=True)
class ReportSource:
    """What a report is made from: a store, and the directories of rules and masks, the user's own first."""

    store: str
    scope: str = ""
    directories: tuple[Path, ...] = ()
    groups: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    #: The sites that are reported on; all if there are none.
    sites: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Savings:
    """What was saved and spent: by one crawl, or by several, on one site or on several."""

    pages: int = 0
    #: Distinct URLs that were filtered, those of them that were scheduled after all, and the downloads avoided.
    filtered: int = 0
    scheduled: int = 0
    avoided: int = 0
    avoided_bytes: int = 0
    avoided_seconds: float = 0.0
    confirmed: int = 0
    differing: int = 0
    undecided: int = 0
    extra: int = 0

    @property
    def requests(self) -> int:
        """How many pages would have been fetched without the plug-in."""
        return self.pages + self.avoided

    @property
    def share(self) -> float:
        """The share of these that was not fetched."""
        return self.avoided / self.requests if self.requests else 0.0

    @property
    def checks(self) -> int:
        """Spot checks that were made."""
        return self.confirmed + self.differing + self.undecided

    @classmethod
    def of(cls, rows: "list[CrawlRow]") -> "Savings":
        """Return the sum of rows.

        >>> Savings.of([CrawlRow("", "a.test", "", "", 0, 1, pages=6), CrawlRow("", "b.test", "", "", 0, 1, avoided=2)]).share
        0.25
        """
        return cls(*(sum(getattr(row, name) for row in rows) for name in cls.__slots__))


@dataclass(frozen=True, slots=True)
class CrawlTotal:
    """One crawl, all its sites together."""

    spider: str
    job: str
    #: Seconds since 1970.
    began: float
    ended: float
    reason: str
    sites: tuple[str, ...]
    savings: Savings
    learning_seconds: float
    dropped: int


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a URL, and whether it is where another URL differs."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class UrlPair:
    """Two URLs that a rule makes one."""

    one: tuple[Piece, ...]
    two: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class RuleCard:
    """A rule in words, with what it rests on and where it stands."""

    site: str
    id: str
    status: str
    #: What it does, and where, as the commands write it.
    says: str
    evidence: str
    note: str
    filtered: int
    samples: int
    refuted: int
    undecided: int
    file: str
    #: Of its [[rule]] in the file; None where it cannot be told.
    line: int | None
    #: What a candidate waits for, or why it does not act; "" for rules that act.
    waits: str = ""
    pairs: tuple[UrlPair, ...] = ()

    @property
    def off(self) -> str:
        """The lines that switch it off."""
        return f'[[rule]]\nid = "{self.id}"\nstatus = "off"'


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter of the URLs of one template."""

    name: str
    #: Different values, and some of them.
    values: int
    examples: tuple[str, ...]
    #: What rules do with it: "ignored", "kept" or "changed"; "" where none does anything. Their ids.
    does: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Template:
    """URLs that are one but for numbers, tokens and the values of their parameters."""

    label: str
    #: URLs, and those of them that no crawl has fetched.
    urls: int
    filtered: int
    parameters: tuple[Parameter, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteCounts:
    """What is stored of the URLs of a site: of each the latest response."""

    #: URLs that are looked at, of so many that are stored.
    urls: int
    stored: int
    #: URLs whose page no other URL had shown before, and the others.
    new: int
    duplicates: int
    filtered: int
    checks: int
    others: int


@dataclass(frozen=True, slots=True)
class SitePart:
    """All that is said of one site."""

    site: str
    savings: Savings
    counts: SiteCounts
    rules: tuple[RuleCard, ...]
    templates: tuple[Template, ...]
    #: The latest spot checks that were other pages than those they were taken for.
    differing: tuple[DiscardRow, ...] = ()
    #: Rules and templates that are not shown.
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerShown:
    """The latest rows of the ledger, of so many."""

    rows: tuple[DiscardRow, ...]
    total: int
    #: (site, id) of each rule of them that is gone -> ids of the rules that are in its place.
    successors: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    #: Seconds since 1970.
    made: float
    version: str
    scope: str
    #: Where the store is.
    place: str
    crawls: tuple[CrawlTotal, ...]
    savings: Savings
    suspended: int
    sites: tuple[SitePart, ...]
    #: Sites of which nothing but their names are told.
    more_sites: tuple[str, ...]
    ledger: LedgerShown
