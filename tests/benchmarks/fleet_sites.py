"""What the fleet benchmark crawls: a made-up site without an end, or a recorded one."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .crawling.project import Project, Run
from .crawling.server import Server
from .recorded import Bench
from .recordings.recording import Recording
from .sites.families import PAGES, FamilySite

PLAIN = "plain"


@dataclass(frozen=True, slots=True)
class Counted:
    """What a crawl has downloaded, by the site's server: URLs, distinct pages, and how many of those it should have are not there."""

    downloads: int
    distinct: int
    lost: int


class FleetSite(Protocol):
    """A site that fleets crawl; the rules in a project are of its port."""

    name: str
    spider: str
    arguments: dict[str, str]

    def project(self, name: str, settings: dict[str, Any], workers: int) -> Project:
        """A new project for crawls of that name by so many workers."""

    def counted(self, name: str) -> Counted:
        """What the site was asked for since the last call, by the crawl of that name."""


class MadeUpSite:
    """The site of ``sites/families``. Its plain crawl is cut off after *most* downloads, and can lose nothing."""

    name = spider = "families"

    def __init__(self, site: FamilySite, folder: Path, most: int) -> None:
        self._site = site
        self._folder = folder
        self._most = most
        self.arguments = {"start": f"http://127.0.0.1:{site.port}/"}

    def project(self, name: str, settings: dict[str, Any], workers: int) -> Project:
        """A project."""
        ending = {"CLOSESPIDER_PAGECOUNT": self._most // workers} if name == PLAIN else {}
        return Project(self._folder / f"{name}-{workers}", {**settings, **ending})

    def counted(self, name: str) -> Counted:
        """What the site was asked for."""
        served = self._site.served()
        return Counted(len(served.targets), served.distinct, 0 if name == PLAIN else PAGES - served.distinct)


class RecordedSite:
    """A recorded site, crawled as by ``tests.benchmarks.recorded``; lost is what the plain crawl has found, as far as it can be reached."""

    spider = "recorded"

    def __init__(self, recording: Recording, server: Server, folder: Path) -> None:
        self.name = recording.name
        self._bench = Bench(recording, server, folder, start_twice=recording.has_clock)
        self.arguments = self._bench.arguments

    def project(self, name: str, settings: dict[str, Any], workers: int) -> Project:
        """A project; what its workers say is not in a file."""
        return self._bench.project(f"{name}-{workers}", {**settings, "LOG_FILE": None})

    def counted(self, name: str) -> Counted:
        """What the site was asked for."""
        crawl = self._bench.counted(name, Run(0.0, 0.0, ""), {})
        return Counted(crawl.downloads, crawl.bag, crawl.lost_count)


@contextmanager
def made_up(seconds: float, most: int, folder: Path) -> Iterator[FleetSite]:
    """Serve the made-up site, which waits so many *seconds* before it answers."""
    with FamilySite(seconds) as site:
        yield MadeUpSite(site, folder, most)


@contextmanager
def recorded(path: Path, folder: Path) -> Iterator[FleetSite]:
    """Serve a recorded site."""
    with Server(path) as server:
        yield RecordedSite(Recording.load(path), server, folder)


def recordings_in(folder: Path, names: Sequence[str]) -> list[Path]:
    """The recorded sites below a folder: those of these names, all where there are none."""
    paths = (
        path.with_name(path.name.replace(".labels.tsv.gz", ".jsonl.gz")) for path in folder.rglob("*.labels.tsv.gz")
    )
    found = sorted(path for path in paths if path.exists())
    return [path for path in found if not names or path.name.split(".")[0] in names]
