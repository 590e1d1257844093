"""A recorded site replayed inside the crawler, in simulated time: nothing of the crawl depends on how busy the machine is.

The download handler answers from the recording, one request after the other, and each answer takes ``1 / rate`` seconds of
simulated time. The add-on is used as it is, with its own schedule and its own learning process; but while that one computes,
nothing is downloaded, and what it has found is used once as much simulated time has passed as it has used of a processor. Where
nothing is to be downloaded meanwhile, since all that is left waits for a learning, the time passes by itself. With a rate of 0
learning takes no time.
"""

import asyncio
import json
import threading
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final
from urllib.parse import urljoin

from scrapy import Request
from scrapy.core.downloader.handlers.base import BaseDownloadHandler
from scrapy.crawler import Crawler
from scrapy.http import Headers, Response
from scrapy.responsetypes import responsetypes

from ..recordings.recording import Answer
from .noise import Noise, at_present, stepping
from .spiders import BREADTH_FIRST, StatsSpider

BEGINNING: Final = 1_700_000_000.0
"""The time (seconds since 1970) that clocks of the pages show first."""
_SOON: Final = 0.002
_IDLE: Final = 60
"""Turns of the event loop without a download after which nothing is taken to be left to download."""
_STEP: Final = 0.5
"""Simulated seconds that pass at once then."""


@dataclass(slots=True)
class World:
    """What is replayed: a recording with the links of its pages."""

    start: list[str]
    answers: dict[str, Answer]
    links: dict[str, list[str]]
    rate: float = 0.0
    noise: Sequence[str] = ()
    has_clock: bool = False
    start_twice: bool = False

    def save(self, path: Path) -> None:
        """Write it for the process that crawls."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def load(cls, path: Path) -> "World":
        """Read what :meth:`save` wrote."""
        found = json.loads(path.read_text(encoding="utf-8"))
        answers = {url: Answer(**each) for url, each in found.pop("answers").items()}
        return cls(answers=answers, **found)


@dataclass(eq=False)
class SimulatedTime:
    """The clock of a replay, and what waits for it. It goes on with downloads alone."""

    rate: float
    now: float = 0.0
    downloads: int = 0
    #: Whether a learning computes, or what it has found is being taken over.
    stands: bool = False
    #: Seconds of a processor that all learnings have used.
    learning: float = 0.0
    _calls: list[tuple[float, Callable[[], object]]] = field(default_factory=list)

    def at(self, moment: float, call: Callable[[], object]) -> None:
        """Call something at a *moment*, in the event loop."""
        self._calls.append((moment, call))
        self._calls.sort(key=lambda each: each[0])

    def goes_on(self, seconds: float) -> None:
        """Let time pass."""
        self.now += seconds
        while self._calls and self._calls[0][0] <= self.now:
            self._calls.pop(0)[1]()

    async def turn(self) -> None:
        """Wait until the clock does not stand, and let a download take its time."""
        if self.rate:
            self.goes_on(1 / self.rate)
        while self.stands:
            await asyncio.sleep(_SOON)
        self.downloads += 1

    async def pass_idle(self) -> None:
        """For ever, let time pass when something waits for it and nothing is downloaded."""
        idle, before = 0, -1
        while True:
            await asyncio.sleep(_SOON)
            idle = idle + 1 if before == self.downloads and self._calls and not self.stands else 0
            before = self.downloads
            if idle >= _IDLE:
                self.goes_on(min(_STEP, self._calls[0][0] - self.now))


class Replayed(BaseDownloadHandler):
    """Answers as the recorded site did, anything else with 404."""

    lazy = False

    def __init__(self, crawler: Crawler) -> None:
        super().__init__(crawler)
        world: World = crawler.spider.world  # type: ignore[union-attr]
        self._world = world
        self._noise = Noise(tuple(world.noise), clock=stepping(BEGINNING, 1.0))
        self._time = crawler.spider.time  # type: ignore[union-attr]
        self._asked: Counter[str] = crawler.spider.asked  # type: ignore[union-attr]
        self._passing = asyncio.get_running_loop().create_task(self._time.pass_idle())

    async def download_request(self, request: Request) -> Response:
        """Answer when it is this request's turn."""
        await self._time.turn()
        self._asked[f"{request.method} {request.url}"] += 1
        answer = self._world.answers.get(request.url)
        if answer is None:
            return Response(request.url, status=404)
        body = answer.body
        if answer.is_html and answer.status == 200:
            now = self._noise.clock(self._time.downloads)
            body = at_present(body, now) if self._world.has_clock else body
            body = self._noise.on(body, answer.address[1])
        headers = Headers({"Content-Type": answer.content_type} if answer.content_type else {})
        if answer.location:
            headers["Location"] = answer.location
        kind = responsetypes.from_args(headers=headers, url=request.url, body=body)
        return kind(request.url, status=answer.status, headers=headers, body=b"" if request.method == "HEAD" else body)

    async def close(self) -> None:
        """Let the clock stand for good."""
        self._passing.cancel()
        with suppress(asyncio.CancelledError):
            await self._passing


class ReplayedSpider(StatsSpider):
    """Follows every recorded link, breadth first, as ``RecordedSpider`` does; *world* names what :meth:`World.save` wrote."""

    name = "replayed"
    custom_settings = {**BREADTH_FIRST, "DOWNLOAD_HANDLERS": {"http": Replayed, "https": Replayed}}

    def __init__(self, world: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.world = World.load(Path(world))
        self.time = SimulatedTime(self.world.rate)
        self.asked: Counter[str] = Counter()

    async def start(self) -> AsyncIterator[Request]:
        """As ``RecordedSpider``."""
        simulate(self.crawler, self.time)
        for url in self.world.start:
            yield Request(url, self.parse, dont_filter=self.world.start_twice)

    def parse(self, response: Response, **kwargs: Any) -> Iterator[Request]:
        """Follow the links."""
        for url in self.world.links.get(response.url, ()):
            yield Request(url, self.parse)

    def closed(self, reason: str) -> None:
        """Leave the stats for the benchmark, and what was asked for."""
        self.crawler.stats.set_value("replay/learning_seconds", self.time.learning)
        super().closed(reason)
        self.stats_file.with_name("asked.json").write_text(json.dumps(self.asked))


def simulate(crawler: Crawler, time: SimulatedTime) -> None:
    """Have the learnings of a crawl take simulated time."""
    from scrapy_dedup.crawl.support.components import components_of

    components = components_of(crawler)
    runs, learning = components.learning_runs, type(components.learning)
    kinds = type(runs), type(runs.learner)
    learn, learn_in_thread = (kind.learn for kind in kinds)
    learn_due = learning._learn_due
    loop = asyncio.get_running_loop()

    async def begin(*arguments: Any) -> Any:
        time.stands = True
        return await learn(*arguments)

    def compute(*arguments: Any) -> Any:
        outcome = learn_in_thread(*arguments)
        time.learning += outcome.summary["cpu_seconds"] if outcome.summary is not None else 0.0
        if time.stands and outcome.summary is not None and time.rate:
            over = threading.Event()
            seconds = outcome.summary["cpu_seconds"]
            loop.call_soon_threadsafe(wait, seconds, over)
            while not over.wait(1.0) and crawler.engine is not None and crawler.engine.running:
                pass
        return outcome

    def wait(seconds: float, over: threading.Event) -> None:
        def use() -> None:
            time.stands = True
            over.set()

        time.stands = False
        time.at(time.now + seconds, use)

    async def use_due(*arguments: Any) -> None:
        await learn_due(*arguments)
        time.stands = False

    for kind, put in zip(kinds, (begin, compute), strict=True):  # one crawl a process
        kind.learn = put
    learning._learn_due = use_due


def links_of(answers: dict[str, Answer], links: Callable[[Response], list[str]]) -> dict[str, list[str]]:
    """The links of each HTML page among *answers* that lead to others of them, in order."""
    found = {}
    for url, answer in answers.items():
        if answer.status == 200 and answer.is_html:
            headers = Headers({"Content-Type": answer.content_type})
            kind = responsetypes.from_args(headers=headers, url=url, body=answer.body)
            found[url] = links(kind(url, headers=headers, body=answer.body))
    return found


def redirect_of(url: str, answer: Answer) -> str | None:
    """Where an answer redirects to."""
    return urljoin(url, answer.location) if answer.location and 300 <= answer.status < 400 else None
