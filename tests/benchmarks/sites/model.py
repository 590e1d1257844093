"""What a site is made of: requests, endpoints, the truth (page keys) and what is seen of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from random import Random
from typing import ClassVar
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from scrapy_dedup.rules import Literal, Operation, Predicate, Rule, RuleBook, Status

from .seeded import number_of, rng_of, slug, word

PageKey = tuple[str, ...]
"""(endpoint id, what decides the content ..): equal for duplicates and for nothing else."""

DAY = 86_400.0
START = 1_767_225_600.0
"""The time of the first observation: 2026-01-01, in seconds since 1970."""
TURN = START + 30 * DAY
"""From here on sites have drifted, and URLs come up that no crawl before could show."""


@dataclass(frozen=True, slots=True)
class Knobs:
    """How large and how unclean a site is.

    pages: distinct pages of each endpoint. ratio: duplicate URLs / URLs that are aimed at. zipf:
    exponent of the URLs per page, which are at most ``most_variants``. junk: unique parameters of
    D2. rare: share of T2's pages that its parameter matters for. mega: variants of T24's one page.
    noise: share of observations whose content is not that of the page. clusters: share of URLs whose
    content is seen to equal that of the page; each other one shows a content of its own. missing: share
    of URLs that are answered with an error, so that their content is not known. again: share of URLs that are
    asked twice, which shows what is noise. singles: share of the pages with one URL that are left out of the
    crawl. siblings: share of words that sibling pages have in common.
    """

    pages: int = 200
    ratio: float = 0.6
    zipf: float = 1.2
    most_variants: int = 40
    junk: int = 2
    rare: float = 0.02
    mega: int = 2000
    noise: float = 0.0
    clusters: float = 1.0
    missing: float = 0.0
    again: float = 0.0
    singles: float = 0.0
    siblings: float = 0.5

    def __post_init__(self) -> None:
        for name in ("ratio", "rare", "noise", "clusters", "missing", "again", "singles", "siblings"):
            value = getattr(self, name)
            if not 0 <= value <= 1:
                raise ValueError(f"{name} is {value!r}: it must be a share from 0 to 1")
        if self.ratio == 1:
            raise ValueError("ratio is 1: some URL must be the first of its page")
        for name in ("pages", "most_variants"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1")
        if not 0 <= self.junk <= 5:
            raise ValueError(f"junk is {self.junk!r}: it must be 0 to 5")


@dataclass(frozen=True, slots=True)
class Request:
    """A URL as the site's server understands it.

    segments: those of the path, unescaped, without empty and dot segments. params: matrix parameters
    (``;name=value``). Written without the code that is to be measured.
    """

    url: str
    scheme: str
    host: str
    segments: tuple[str, ...]
    params: Mapping[str, str]
    query: tuple[tuple[str, str], ...]

    @classmethod
    def of(cls, url: str) -> "Request | None":
        """The request for *url*, None for a text that is no URL of a host."""
        try:
            parts = urlsplit(url)
            host = parts.hostname or ""
        except ValueError:
            return None
        if not host:
            return None
        params: dict[str, str] = {}
        segments: list[str] = []
        for segment in parts.path.split("/"):
            text, *pairs = segment.split(";")
            params.update((name, value) for name, _, value in (pair.partition("=") for pair in pairs))
            if text == "..":
                del segments[-1:]
            elif text not in {"", "."}:
                segments.append(unquote(text))
        query = tuple(parse_qsl(parts.query, keep_blank_values=True, max_num_fields=None))
        return cls(url, parts.scheme.lower(), host.lower(), tuple(segments), params, query)

    def get(self, name: str, default: str = "") -> str:
        """The first value of a parameter."""
        return next((value for key, value in self.query if key == name), default)

    def all(self, name: str) -> tuple[str, ...]:
        """All values of a parameter, in order."""
        return tuple([value for key, value in self.query if key == name])


@dataclass(frozen=True, slots=True)
class Content:
    """What one response shows: which words (equal for equal identities), and how it is declared.

    An identity that is not the page key's is a lie of the site: a log-in page in the page's place,
    "no results", a front page that is new each time.
    """

    identity: tuple[str, ...]
    status: int = 200
    words: int = 200
    canonical: str | None = None
    redirect: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class TrueRule:
    """A rule of the truth, below the endpoint's own directory (``path.0``)."""

    ops: Mapping[str, Operation]
    match: Mapping[str, Predicate] = field(default_factory=dict)
    anywhere: bool = False
    """True for a rule whose ``match`` is all that it asks."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where an endpoint stands: on which domain, under which directory, and what its numbers begin at."""

    seed: str
    domain: str
    directory: str
    knobs: Knobs

    @property
    def host(self) -> str:
        return f"www.{self.domain}"


def drawn(rng: Random, share: float, name: str, values: int | Sequence[str]) -> list[tuple[str, str]]:
    """A parameter with one of some values, or with a number below so many, on a share of the URLs; nothing on others."""
    if rng.random() >= share:
        return []
    return [(name, str(rng.randrange(values)) if isinstance(values, int) else rng.choice(values))]


class Endpoint:
    """One kind of pages. Subclasses say which URLs lead to a page, and which page a URL leads to.

    Pages are numbered from 0. A page of a trap may differ from the page before it in what the trap
    is about.
    """

    id: ClassVar[str] = ""
    title: ClassVar[str] = ""
    hard: ClassVar[bool] = False
    """Whether no page may ever be lost: what it takes to see the trap is in the crawl."""
    allowed: ClassVar[int] = 0
    """Pages that may be lost all the same."""
    drifts: ClassVar[bool] = False
    """Whether its late URLs refute what was true before, so that only a relearn can be right."""
    refusal: ClassVar[int] = 404
    """The status where there is no page."""
    near: ClassVar[bool] = False
    """Whether duplicates agree in their main text only."""
    siblings: ClassVar[float | None] = None
    """Share of words that sibling pages have in common, where the endpoint is about that."""
    words: ClassVar[int] = 0
    """Words of a page, 0 for the usual 60 to 400."""
    names: ClassVar[tuple[str, ...]] = ()
    """Parameters whose values are the page; where the first one is missing there is none."""
    under: ClassVar[tuple[str, ...] | None] = None
    """Segments behind which the page's name stands, where that is all that says which page it is."""
    truth: ClassVar["Sequence[TrueRule]"] = ()
    """The rules of truth, as far as rules can say it."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.knobs = place.knobs
        self.seed = f"{place.seed}|{self.id}"

    @property
    def is_trap(self) -> bool:
        return self.id.startswith("T")

    # -- what subclasses say

    def url(self, page: int, rng: Random) -> str:
        """One of the URLs of a page, drawn from *rng*."""
        raise NotImplementedError

    def late_url(self, page: int, rng: Random) -> str | None:
        """A URL that comes up after the turn only, or None."""
        return None

    def identity(self, request: Request, time: float) -> tuple[str, ...] | None:
        """What decides the content of the page at a URL; None where there is no page."""
        if self.under is not None:
            *before, name = self.below(request) or ("",)
            return (name,) if name and tuple(before) == self.under else None
        found = tuple([request.get(name) for name in self.names])
        return found if found[0] else None

    def content(self, request: Request, key: PageKey, time: float) -> Content:
        """What the page shows to one request."""
        return Content(key)

    def bare(self, request: Request) -> bool:
        """Whether the page comes without the site's template, as a print view does."""
        return False

    def rules(self) -> Sequence[TrueRule]:
        """The truth as rules."""
        return self.truth

    def counts(self) -> Mapping[int, int]:
        """Pages that have a number of variants of their own."""
        return {}

    def fetches(self, page: int) -> int:
        """How often each URL of a page is fetched in a crawl."""
        return 1

    # -- what they are made with

    def number(self, page: int) -> str:
        """The number that names a page; larger for later pages, not in steps of one."""
        return str(1000 + number_of(self.seed) % 5000 + 7 * page + number_of(self.seed, page) % 7)

    def slug(self, page: int, words: int = 3) -> str:
        """The words that name a page."""
        return slug(self.seed, page, words=words)

    def at(
        self,
        path: str = "",
        query: Sequence[tuple[str, str]] | str = (),
        *,
        host: str = "",
        scheme: str = "http",
        before: str = "",
    ) -> str:
        """A URL below the endpoint's directory; *path* begins with a slash, *before* stands before it."""
        text = query if isinstance(query, str) else urlencode(query)
        path = f"{before}/{self.place.directory}{path}"
        return f"{scheme}://{host or self.place.host}{path}" + (f"?{text}" if text else "")

    def below(self, request: Request) -> tuple[str, ...]:
        """The segments of a request behind the endpoint's directory."""
        return request.segments[request.segments.index(self.place.directory) + 1 :]

    def directory_is(self) -> dict[str, Predicate]:
        return {"path.0": Literal(self.place.directory)}


class Site:
    """A made-up site of the given kinds of endpoints.

    *name* is its domain. The same seed and kinds give the same site.
    """

    def __init__(self, name: str, seed: int, kinds: Sequence[type[Endpoint]], knobs: Knobs | None = None) -> None:
        self.domain = name
        self.seed = seed
        self.knobs = knobs or Knobs()
        rng = rng_of(seed, name, "directories")
        self.endpoints: dict[str, Endpoint] = {}
        self._at: dict[str, Endpoint] = {}
        for kind in kinds:
            directory = word(rng)
            while directory in self._at:
                directory = word(rng)
            endpoint = kind(Place(f"{seed}|{name}", name, directory, self.knobs))
            self.endpoints[endpoint.id] = self._at[directory] = endpoint

    def endpoint_of(self, request: Request) -> Endpoint | None:
        """The endpoint that answers a request: its directory is among the first two segments."""
        for segment in request.segments[:2]:
            if segment in self._at:
                return self._at[segment]
        return None

    def page_key(self, url: str, time: float = START) -> PageKey | None:
        """The truth: what decides the content at *url*, at a time; None where there is no page."""
        request = Request.of(url)
        endpoint = self.endpoint_of(request) if request else None
        if request is None or endpoint is None:
            return None
        identity = endpoint.identity(request, time)
        return None if identity is None else (endpoint.id, *identity)

    def content(self, url: str, time: float = START) -> Content | None:
        """What a response at *url* shows at a time; None for 404."""
        request = Request.of(url)
        endpoint = self.endpoint_of(request) if request else None
        if request is None or endpoint is None:
            return None
        identity = endpoint.identity(request, time)
        if identity is None:
            return None
        return endpoint.content(request, (endpoint.id, *identity), time)

    def rules(self, endpoint: Endpoint) -> list[Rule]:
        """The rules of truth of one endpoint."""
        return [
            Rule(
                self.domain,
                dict(rule.match) if rule.anywhere else {**endpoint.directory_is(), **rule.match},
                rule.ops,
                Status.MANUAL,
                note=f"{endpoint.id}: {endpoint.title}",
            )
            for rule in endpoint.rules()
        ]

    def book(self) -> RuleBook:
        """The truth as far as rules can say it."""
        return RuleBook([rule for endpoint in self.endpoints.values() for rule in self.rules(endpoint)])
