"""The rows that go into the store. They are tuples, since the crawl makes one per response."""

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any, Final, NamedTuple

from ..pages.response import Fingerprints


class ObservationRow(NamedTuple):
    """One response. URLs may hold user name and password: the store removes them."""

    scope: str
    site: str
    url: str
    #: Seconds since 1970.
    time: float
    status: int
    spider: str = ""
    #: What identifies the content; None where there is none (redirects, errors, HEAD).
    fingerprints: Fingerprints | None = None
    #: Bytes of the body, decompressed.
    length: int | None = None
    #: Headers that matter, by lower-case name.
    headers: Mapping[str, str] | None = None
    canonical: str | None = None
    #: Where a redirect leads to.
    redirect: str | None = None
    #: URLs that led here by redirects, the first one first.
    hops: Sequence[str] = ()
    from_cache: bool = False
    #: The packed texts of the page, where they are kept (see :mod:`scrapy_dedup.pages.versions`).
    version: bytes | None = None
    #: Whether its closing tags have come; False only where nothing but these tells, since the connection ended it.
    ends: bool | None = None
    #: Whether it has a field for a password; None where nobody has looked.
    password: bool | None = None
    #: The number of its crawl: milliseconds from 1970 to its beginning. None of what no crawl has fetched.
    crawl: int | None = None


class DiscardState(str, Enum):
    """What became of a filtered request."""

    PENDING = "pending"
    #: Fetched after all, since its rule was refuted.
    REPLAYED = "replayed"
    #: Fetched after all, since the URL that it was taken for failed.
    RELEASED = "released"
    #: Fetched after all, to see whether it is the page it was taken for.
    SAMPLED = "sampled"
    #: Fetched as a spot check, and another page than that it was taken for.
    DIFFERING = "differing"
    #: To be fetched in the next crawl: its rule was refuted, and its crawl has ended.
    OWED = "owed"
    #: Scheduled after all by a run of a job that was killed, and lost with Scrapy's queue, unless its page has come.
    LOST = "lost"


#: What the ``meta`` of a differing spot check holds under this name: the ids of all the rules that say it is that page.
RULES: Final = "dedup_rules"

#: States of what was scheduled after all; whether its page has come is not written.
SCHEDULED: Final = (DiscardState.REPLAYED, DiscardState.RELEASED, DiscardState.SAMPLED)


class DiscardRow(NamedTuple):
    """One filtered request; the store keeps one for each URL per scope, spider and job."""

    scope: str
    spider: str
    site: str
    url: str
    #: Id of the rule that filtered it.
    rule: str
    #: Its canonical key.
    key: str
    #: The URL that stands for the key.
    taken_for: str
    time: float
    callback: str | None = None
    #: JSON-safe part of the request's meta.
    meta: Mapping[str, Any] | None = None
    state: DiscardState = DiscardState.PENDING
    #: Name of the job that it is of, "" when that has ended.
    job: str = ""
    #: Set by the store.
    id: int | None = None


class SightingRow(NamedTuple):
    """A URL that was seen on a page, or is declared by it, and may be another URL of that page.

    The store keeps one for each page, URL and key per scope.
    """

    scope: str
    site: str
    page: str
    #: The URL, with its fragment if it is that which names an element.
    link: str
    #: The key whose value names an element of the page, ``fragment``, or a declaration
    #: (``canonical``, ``og:url``, ``redirect``, ``shortlink``).
    key: str
    #: Seconds since 1970.
    time: float
    #: The number or id at the end of the value, and the letters before it.
    token: str = ""
    lead: str = ""
    #: What the name of the element begins with; the token follows.
    prefix: str = ""


class CheckRow(NamedTuple):
    """What spot checks and probes of one crawl have shown of a rule."""

    scope: str
    site: str
    rule: str
    #: Seconds since 1970.
    time: float
    #: Filtered requests that were fetched and compared, and those of them that were another page.
    samples: int = 0
    refuted: int = 0
    #: Pages on which a parameter that the rule drops was probed, and those of them on which it matters.
    probes: int = 0
    contradicted: int = 0
    #: Filtered requests that were fetched, too, and of which nobody can tell.
    undecided: int = 0


class CrawlRow(NamedTuple):
    """What one crawl has saved and spent on one site."""

    scope: str
    site: str
    spider: str
    job: str
    #: Seconds since 1970, when it began and when it ended.
    began: float
    time: float
    #: Why it ended, as Scrapy says it.
    reason: str = ""
    #: Pages that came, their bytes and the seconds that they took.
    pages: int = 0
    size: int = 0
    seconds: float = 0.0
    #: Distinct URLs that were filtered, those of them that were scheduled after all, and the downloads that were avoided.
    filtered: int = 0
    scheduled: int = 0
    avoided: int = 0
    #: About as many bytes and seconds that these would have been.
    avoided_bytes: int = 0
    avoided_seconds: float = 0.0
    #: Spot checks that were the page they were taken for, and those that were not.
    confirmed: int = 0
    differing: int = 0
    #: Refetches.
    extra: int = 0
    #: Of the whole crawl, in each of its rows: the time that learning took, and rows that the store could not take.
    learning_seconds: float = 0.0
    dropped: int = 0
    #: Spot checks of which nobody can tell.
    undecided: int = 0


StoreRow = ObservationRow | DiscardRow | SightingRow | CheckRow | CrawlRow
