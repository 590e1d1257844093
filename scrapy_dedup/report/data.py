"""What the report says: a tree of plain values, which the page and the lines of JSON are made of."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from ..store.rows import CrawlRow, DiscardRow

Verdict = Literal["relevant", "irrelevant", "unknown"]


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
    """A part of a text, and whether it is marked: as the part of a URL that differs, or as transient."""

    text: str
    marked: bool = False


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A text of two pages: in both (" "), in the first only ("-"), in the second only ("+"), or left out ("…")."""

    sign: str
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class UrlPair:
    """Two URLs that a rule makes one, and how their pages differ as far as these are stored."""

    one: str
    two: str
    one_pieces: tuple[Piece, ...]
    two_pieces: tuple[Piece, ...]
    #: What is known of the two pages, in words.
    said: str
    diff: tuple[DiffLine, ...] = ()


@dataclass(frozen=True, slots=True)
class RuleCard:
    """A rule in words, with what it rests on and where it stands."""

    site: str
    id: str
    status: str
    sentence: str
    #: Where it acts and what it says there, one by one: some rules say much.
    where: str
    clauses: tuple[str, ...]
    short: str  # as the commands write it
    evidence: str
    note: str
    filtered: int
    samples: int
    refuted: int
    undecided: int
    #: When it first acted, in seconds since 1970, as far as the store knows.
    since: float | None
    #: Whether it acts since the last crawl only.
    is_new: bool
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
    urls: int
    values: int
    examples: tuple[str, ...]
    verdict: Verdict
    why: str
    rules: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class TreeNode:
    """A host, or a part of the path, with what stands below; its parameters are those of the URLs that end here."""

    label: str
    #: URLs here and below, and those that end here.
    urls: int
    filtered: int
    own: int
    parameters: tuple[Parameter, ...] = ()
    children: tuple["TreeNode", ...] = ()


@dataclass(frozen=True, slots=True)
class UnfilteredReason:
    """Why URLs were fetched that might have been filtered, or were fetched after all."""

    text: str
    urls: int


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
class AttributeRow:
    """A value that is transient but no visible text."""

    place: str
    name: str
    pieces: tuple[Piece, ...]
    act: str


@dataclass(frozen=True, slots=True)
class MaskedText:
    """A text of a page: what is marked in it is taken out of items, or left out where pages are compared."""

    act: Literal["", "stripped", "left-out"]
    pieces: tuple[Piece, ...]


@dataclass(frozen=True, slots=True)
class MaskedPage:
    """A stored page with its transient parts marked."""

    site: str
    url: str
    time: float
    texts: tuple[MaskedText, ...]
    #: Texts that are not shown.
    more: int
    attributes: tuple[AttributeRow, ...]
    words: int
    transient_words: int


@dataclass(frozen=True, slots=True)
class RuleChangeShown:
    """A rule that has come or gone since the last crawl began."""

    id: str
    came: bool
    said: str
    #: Whether it is in the rule files.
    known: bool = True


@dataclass(frozen=True, slots=True)
class SitePart:
    """All that is said of one site."""

    site: str
    savings: Savings
    counts: SiteCounts
    reasons: tuple[UnfilteredReason, ...]
    notes: tuple[str, ...]
    changes: tuple[RuleChangeShown, ...]
    rules: tuple[RuleCard, ...]
    candidates: tuple[RuleCard, ...]
    tree: tuple[TreeNode, ...]
    masks: tuple[MaskedPage, ...]
    #: The latest spot checks that were other pages than those they were taken for.
    differing: tuple[DiscardRow, ...] = ()
    #: Rules, candidates and templates that are not shown.
    left_out: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class LedgerShown:
    """The latest rows of the ledger, of so many."""

    rows: tuple[DiscardRow, ...]
    total: int
    #: (site, id) of each rule of them that is gone -> ids of the rules that are in its place.
    successors: Mapping[tuple[str, str], tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Health:
    """How the store is."""

    place: str
    size: int
    #: Table -> rows.
    tables: Mapping[str, int]
    #: Seconds since 1970, of the first and of the last response; None without any.
    first: float | None
    last: float | None
    learning_seconds: float
    dropped: int


@dataclass(frozen=True, slots=True)
class Report:
    """The whole report."""

    #: Seconds since 1970.
    made: float
    version: str
    scope: str
    crawls: tuple[CrawlTotal, ...]
    savings: Savings
    suspended: int
    sites: tuple[SitePart, ...]
    #: Sites of which nothing but their names are told.
    more_sites: tuple[str, ...]
    ledger: LedgerShown
    health: Health
    faults: tuple[str, ...] = ()
