"""A site: its endpoints, and the page key of every URL."""

from collections.abc import Sequence

from scrapy_dedup.rules import Rule, RuleBook, Status

from .model import START, Content, Endpoint, Knobs, PageKey, Place, Request
from .seeded import rng_of, word


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
