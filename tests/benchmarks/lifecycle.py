"""What was proven stays: the rules of a project, and its files, through all that may happen to it.

    python -m tests.benchmarks.lifecycle [--quiet] [--check] [--json]

A shop on loopback is crawled once, from which rules are learned. Then each of these happens in a copy of that project:
a crawl without its store, in full and of 20 pages; one that only observes; ``scrapy fetch`` and ``scrapy parse``; one
whose evidence is 120 days old; one after ``dedup forget``; a spider with a ``queue.py`` beside it; a spider that
has nothing to do, and one of seven requests. Told are the rules that act before and after, whether the rule files are
the same byte for byte (so are masks on quiet pages; on others they may hide more), downloads and the pages that are
reached, and the seconds beside those of the same command without the plug-in. Last, fifteen sites of thin evidence: rules without witness groups, URLs that are merged though nobody saw
them, and the share of the duplicates that is removed.

Its pages carry a clock, a counter, a token and rotating teasers (``--quiet``: they show the same whenever they are served).
"""

import json
import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from random import Random
from time import perf_counter
from typing import Any

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.masks.files import load_masks
from scrapy_dedup.rules import Keep

from ..server import Asked, Server, page, prose
from .command import QUIET, Arguments, Command, scratch
from .crawling.noise import usual
from .crawling.project import COMMON_SETTINGS, PLUGIN_SETTINGS, Project
from .crawling.serving import ROOT
from .scoring.checks import Check, print_table, rate

SECTIONS = ("books", "tools", "games", "music")
PRODUCTS = 15
"""Of each section."""
PAGES = 1 + len(SECTIONS) * (1 + PRODUCTS)
DAY = 86_400
MOST_SECONDS = 0.3
"""That the plug-in may add to a crawl of seven requests, and to commands that are no crawls."""

SPIDER = """
import scrapy

class Few(scrapy.Spider):
    name = "few"

    def parse(self, response):
        yield from response.follow_all(css="a")

class Idle(scrapy.Spider):
    name = "idle"

    async def start(self):
        return
        yield

"""


def answer(asked: Asked) -> Any:
    """A page of the shop: links come with a new session id on each page, and with where they were followed from."""
    section, _, number = asked.path.strip("/").partition("/")
    drawn = Random(asked.path)

    def links(*targets: str) -> list[str]:
        marks = (f"?sid={drawn.getrandbits(64):016x}", f"?ref={drawn.choice(SECTIONS)}", "")
        return [target + mark for target in targets for mark in marks]

    if asked.path == "/":
        return page(prose("home"), *links(*(f"/{name}" for name in SECTIONS)), title="The shop")
    if section not in SECTIONS or (number and not (number.isdecimal() and int(number) < PRODUCTS)):
        return None
    if not number:
        return page(prose(section), *links(*(f"/{section}/{n}" for n in range(PRODUCTS))), title=section)
    others = drawn.sample(range(PRODUCTS), 3)
    return page(prose(asked.path), *links("/", *(f"/{section}/{n}" for n in others)), title=asked.path)


@dataclass(frozen=True, slots=True)
class Case:
    """What one case did to a project.

    ``rules``: rules that act, before and after; ``same``: whether the files stay (:meth:`Files.stay_in`); ``downloads`` of
    ``pages`` distinct ones, None where none were to be counted; ``seconds`` of the command, ``without`` the plug-in.
    """

    name: str
    rules: tuple[int, int]
    same: bool
    downloads: int | None = None
    pages: int | None = None
    seconds: float | None = None
    without: float | None = None
    note: str = ""


class Shop:
    """The served shop and the project that was crawled once."""

    def __init__(self, server: Server, folder: Path, *, quiet: bool) -> None:
        self.server = server
        self.quiet = quiet
        self.folder = folder
        self.learned = self.project("learned")
        self.crawl(self.learned)

    def project(self, name: str) -> Project:
        """A new project with the one line in its settings."""
        return Project(self.folder / name, PLUGIN_SETTINGS)

    def copy(self, name: str) -> Project:
        """A copy of the project that was crawled once."""
        made = self.project(name)
        for part in (".scrapy", "dedup-rules"):
            shutil.copytree(self.learned.folder / part, made.folder / part)
        return made

    def crawl(self, project: Project, *options: str) -> tuple[int, int]:
        """Crawl the shop; return the downloads and the distinct pages."""
        self.server.reset()
        url = self.server.url("/")
        project.scrapy("crawl", "families", "-a", f"start={url}", "-a", "stats_file=stats.json", *options)
        return self.server.downloads, len({target.partition("?")[0] for target in self.server.hits})

    def kept(self, files: "Files", project: Project) -> bool:
        """Whether a project has the *files* that it had."""
        return files.stay_in(Files.of(project), quiet=self.quiet)

    def case(self, project: Project, name: str, *options: str, note: str = "") -> Case:
        """Crawl the shop in *project*; return what that did to its files."""
        before, files = acting(project), Files.of(project)
        start = perf_counter()
        downloads, pages = self.crawl(project, *options)
        seconds = perf_counter() - start
        return Case(name, (before, acting(project)), self.kept(files, project), downloads, pages, seconds, note=note)


def acting(project: Project) -> int:
    """How many rules of a project act."""
    return sum(rule.status.acts for rule in RuleBook.load(project.folder / "dedup-rules", missing_ok=True))


@dataclass(frozen=True, slots=True)
class Files:
    """What a rule directory holds: the files of rules and those of masks by name, and the places that masks hide."""

    rules: dict[str, bytes]
    masks: dict[str, bytes]
    hidden: frozenset[tuple[str, str, str]]

    @classmethod
    def of(cls, project: Project) -> "Files":
        """The files of a project."""
        folder = project.folder / "dedup-rules"
        files = {path.name: path.read_bytes() for path in folder.glob("*")}
        masks = {name: text for name, text in files.items() if name.endswith(".mask.toml")}
        hidden = (
            (site, path.selector, path.attribute)
            for site, mask in (load_masks([folder]) if masks else {}).items()
            for path in mask.paths
            if path.is_left_out
        )
        return cls({name: files[name] for name in files.keys() - masks}, masks, frozenset(hidden))

    def stay_in(self, after: "Files", *, quiet: bool) -> bool:
        """Whether all files are the same byte for byte; where pages are never *quiet*, masks may have learned to hide more."""
        masks_stay = self.masks == after.masks if quiet else self.hidden <= after.hidden
        return self.rules == after.rules and masks_stay


def cases(shop: Shop) -> list[Case]:
    """All that happens to copies of the project."""
    plain = shop.project("plain")
    downloads, pages = shop.crawl(plain, "-s", "ADDONS={}")
    rules = acting(shop.learned)
    found = [
        Case("plain Scrapy", (0, 0), same=True, downloads=downloads, pages=pages),
        Case("once crawled", (0, rules), same=True, note="the rules that are to stay"),
        shop.case(shop.copy("again"), "crawled again"),
    ]
    few = ("-s", "CLOSESPIDER_PAGECOUNT=20")
    for name, options in (("no store", ()), ("no store, 20 pages", few)):
        project = shop.copy(name.replace(" ", "-"))
        shutil.rmtree(project.folder / ".scrapy")
        found.append(shop.case(project, name, *options))
    found.append(shop.case(shop.copy("observed"), "observe", "-s", "DEDUP_MODE=observe"))
    old = shop.copy("old")
    age(old.folder / ".scrapy" / "dedup" / "store.sqlite", 120)
    found.append(shop.case(old, "evidence 120 days old"))
    forgotten = shop.copy("forgotten")
    forgotten.scrapy("dedup", "forget", shop.server.url("/"))
    found.append(shop.case(forgotten, "--forget, 20 pages", *few))
    found += [command(shop, name) for name in ("fetch", "parse")]
    found += [shadowed(shop), idle(shop), seven(shop)]
    return found


def age(store: Path, days: int) -> None:
    """Make what a store holds so many days older."""
    with sqlite3.connect(store) as connection:
        for table in ("observation", "discard", "alias_sighting"):
            connection.execute(f"UPDATE {table} SET time = time - ?", (days * DAY,))
    connection.close()


def command(shop: Shop, name: str) -> Case:
    """A command that is no crawl, in a project that has no files of the plug-in yet, with and without the add-on."""
    project = shop.project(name)
    url = shop.server.url("/books?sid=1234567890abcdef")
    spider = () if name == "fetch" else ("--spider", "families", "-a", f"start={url}", "-a", "stats_file=stats.json")
    seconds, without = paired(project, (name, "--nolog", *spider, url))
    written = sorted({path.name for path in project.folder.iterdir()} & {".scrapy", "dedup-rules"})
    return Case(f"scrapy {name}", (0, 0), not written, seconds=seconds, without=without, note=", ".join(written))


def paired(project: Project, arguments: Sequence[str], turns: int = 3) -> tuple[float, float]:
    """The least seconds that a command takes with the add-on and without, in turns."""
    found: dict[bool, list[float]] = {True: [], False: []}
    for _ in range(turns):
        for with_it in (True, False):
            off = () if with_it else ("-s", "ADDONS={}")
            found[with_it].append(project.scrapy(*arguments[:1], *off, *arguments[1:]).seconds)
    return min(found[True]), min(found[False])


def shadowed(shop: Shop) -> Case:
    """A spider that has modules beside it with the names of standard ones, run without a project."""
    folder = shop.folder / "shadowed"
    folder.mkdir()
    for name in ("queue.py", "typing.py"):
        (folder / name).write_text("raise ImportError('not the one of the standard library')\n")
    return runspider(shop, folder, "a queue.py beside the spider")


def runspider(shop: Shop, folder: Path, name: str) -> Case:
    """Run the families spider from a file in *folder*; return what was learned."""
    (folder / "spider.py").write_text(
        "from tests.benchmarks.crawling.spiders import FamilySpider as Spider\n\nclass S(Spider):\n    pass\n"
    )
    shop.server.reset()
    settings = {**COMMON_SETTINGS, **PLUGIN_SETTINGS, "SPIDER_MODULES": []}
    options = [
        word
        for key, value in settings.items()
        for word in ("-s", f"{key}={value if isinstance(value, str) else json.dumps(value)}")
    ]
    arguments = ["-a", f"start={shop.server.url('/')}", "-a", "stats_file=stats.json"]
    start = perf_counter()
    done = subprocess.run(
        # -P: Scrapy itself would meet them otherwise, in the folder that it is started from.
        [sys.executable, "-P", "-m", "scrapy.cmdline", "runspider", "spider.py", *options, *arguments],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    seconds = perf_counter() - start
    rules = sum(rule.status.acts for rule in RuleBook.load(folder / "dedup-rules", missing_ok=True))
    problem = next((line for line in done.stderr.splitlines() if "No rules were learned" in line), "")
    return Case(name, (0, rules), same=True, downloads=shop.server.downloads, seconds=seconds, note=problem[-80:])


def idle(shop: Shop) -> Case:
    """A spider that asks for nothing."""
    project = shop.copy("idle")
    (project.folder / "own_spiders.py").write_text(SPIDER)
    options = ("crawl", "idle", "-s", "SPIDER_MODULES=own_spiders")
    files = Files.of(project)
    project.scrapy(*options)
    rules = acting(project)
    return Case("an empty spider", (rules, rules), shop.kept(files, project))


def seven(shop: Shop) -> Case:
    """A spider of seven requests on a site of which nothing is known, with and without the add-on."""
    project = shop.project("seven")
    options = ("-s", "SPIDER_MODULES=own_spiders", "-s", "CLOSESPIDER_PAGECOUNT=7", "-s", "CONCURRENT_REQUESTS=1")
    (project.folder / "own_spiders.py").write_text(
        SPIDER + f"\nclass Seven(Few):\n    name = 'seven'\n    start_urls = [{shop.server.url('/books')!r}]\n"
    )
    seconds, without = paired(project, ("crawl", *options, "seven"))
    # Where pages are never quiet, a start page that is fetched twice teaches a mask.
    written = (project.folder / "dedup-rules").exists() if shop.quiet else bool(Files.of(project).rules)
    return Case("seven requests", (0, 0), not written, seconds=seconds, without=without)


# Sites of thin evidence

HOST = "http://thin.example"
UNSEEN = (
    ("/content/video?file=n1", "/content/story?file=n1"),
    ("/products/video", "/products/story"),
    ("/products/yhoo", "/products/story"),
    ("/blog/yhoo?id=1", "/blog/story?id=1"),
)
"""URLs that no site has shown, of other sections: nothing can say that they are one page."""


@dataclass(frozen=True, slots=True)
class Thin:
    """What is learned from fifteen sites of which only some forms of each page were seen."""

    sites: int
    unfounded: int
    """Rules that act without a witness group."""
    merged: int
    """Sites on which URLs are merged that nobody saw."""
    removed: int
    duplicates: int
    lost: int


def thin_site(seed: int, share: float) -> list[Observation]:
    """Articles and videos under several forms each, of which a share was seen."""
    drawn = Random(seed)
    found = []
    for number in range(40):
        name = f"%7B{number * 7919:08X}%2DBB62%2D457C%7D"
        for form in range(3):
            marks = [mark for mark in ("source=blq/yhoo", "siteid=yhoo", "dist=yhoo") if drawn.random() < 0.5]
            path = drawn.choice(("yhoo/", ""))
            found.append(
                Observation(f"{HOST}/news/{path}story.asp?{'&'.join([*marks, f'guid={name}'])}", f"story {number}")
            )
            more = f"&irrelevantparam={drawn.randrange(10**4)}" if form else ""
            found.append(
                Observation(f"{HOST}/content/video?file=news{number:04d}&player=small{more}", f"video {number}")
            )
    return [each for each in found if drawn.random() < share]


def thin() -> Thin:
    """Learn fifteen such sites, and score on all that each of them has."""
    unfounded = merged = removed = duplicates = lost = 0
    for seed in range(15):
        share = (0.6, 0.5, 0.4)[seed % 3]
        book = learn_rules(thin_site(seed, share))
        rows = {each.url: each.fingerprint for each in thin_site(seed, 1.0)}
        first: dict[str, str] = {}
        for url, name in rows.items():
            kept = first.setdefault(book.canonical_key(url), name)
            removed += kept == name
        removed -= len(first)
        lost += len(set(rows.values()) - set(first.values()))
        duplicates += len(rows) - len(set(rows.values()))
        unfounded += sum(
            rule.status.acts and rule.evidence is not None and not rule.evidence.groups
            for rule in book
            if not all(isinstance(operation, Keep) for operation in rule.ops.values())
        )
        merged += any(book.equivalent(HOST + one, HOST + other) for one, other in UNSEEN)
    return Thin(15, unfounded, merged, removed, duplicates, lost)


def checks(found: Sequence[Case], sites: Thin) -> list[Check]:
    """The aims: nothing is lost, no file is touched, nothing takes longer, and what was saved is saved still."""
    plain, learned, *others = found
    aims = [
        Check("rules learned", learned.rules[1], least=1),
        Check("rules without witness groups", sites.unfounded, most=0),
        Check("thin sites with URLs merged that nobody saw", sites.merged, most=0),
        Check("pages lost on thin sites", sites.lost, most=0),
        Check("duplicates removed on thin sites", sites.removed / sites.duplicates, least=0.3),
    ]
    assert plain.downloads is not None
    for case in others:
        if case.rules[0]:
            aims.append(Check(f"{case.name}: rules after", case.rules[1], least=case.rules[0]))
            aims.append(Check(f"{case.name}: files the same", int(case.same), least=1))
        elif case.name.startswith("a queue.py"):
            aims.append(Check(f"{case.name}: rules learned", case.rules[1], least=1))
        else:
            aims.append(Check(f"{case.name}: nothing written", int(case.same), least=1))
        if case.pages is not None and "20 pages" not in case.name:
            aims.append(Check(f"{case.name}: pages", case.pages, least=PAGES))
            if case.name != "observe":
                aims.append(Check(f"{case.name}: downloads", case.downloads, most=plain.downloads // 2))
        if case.seconds is not None and case.without is not None:
            aims.append(Check(f"{case.name}: seconds more", case.seconds - case.without, most=MOST_SECONDS))
    return aims


def print_tables(found: Sequence[Case], sites: Thin) -> None:
    """Print all cases, and what thin evidence teaches."""
    rows = [
        (
            *(case.name, *case.rules, "yes" if case.same else "NO", case.downloads, case.pages),
            *(rate(case.seconds, 2), rate(case.without, 2), case.note),
        )
        for case in found
    ]
    columns = ("case", "rules before", "after", "files the same", "downloads", "pages", "seconds", "without", "note")
    print_table("", columns, rows)
    print(
        f"{sites.sites} sites of thin evidence: {sites.unfounded} acting rules without a witness group, {sites.merged} sites with "
        f"URLs merged that nobody saw, {sites.removed} of {sites.duplicates} duplicates removed, {sites.lost} pages lost",
    )


def measured(args: Arguments) -> tuple[list[Case], Thin]:
    """Crawl the shop, and learn from the sites of thin evidence."""
    noise = usual(quiet=args.quiet)

    def noisy(asked: Asked) -> Any:
        html = answer(asked)
        return 404 if html is None else noise.on_text(html, asked.target)

    with scratch() as folder, Server(noisy) as server:
        return cases(Shop(server, folder, quiet=args.quiet)), thin()


main = Command(
    __doc__,
    [QUIET],
    measure=measured,
    show=lambda _, found: print_tables(*found),
    as_json=lambda _, found: {"cases": [asdict(case) for case in found[0]], "thin": asdict(found[1])},
    checks=lambda _, found: checks(*found),
)

if __name__ == "__main__":
    sys.exit(main())
