"""Where no disk is kept, as docs/how-to/deploy.rst says: a project in an egg, rules in a package or in the store, learning elsewhere."""

import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Ignore

from .conftest import SETTINGS, SPIDER, Serve
from .crawling import rule
from .server import Asked, page, prose
from .servers import RedisServer
from .waiting import PATIENCE

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"

[project]
name = "our-rules"
version = "2026.11.25"

[tool.setuptools]
packages = ["our_rules"]

[tool.setuptools.package-data]
our_rules = ["dedup-rules/*.toml"]
"""


FROM_PACKAGE: dict[str, object] = {"DEDUP_RULES": ["our_rules:dedup-rules"], "DEDUP_LEARN": "off"}


def shop(asked: Asked) -> object:
    if asked.path == "/":
        return page("start", *(f"/p?id={number}&sid={sid}" for number in range(6) for sid in "abc"))
    return page(prose(asked.query["id"]), f"/p?id={asked.query['id']}&sid=again")


def package_of_rules(folder: Path, site: str) -> Path:
    """Write a package of rules, as pip installs it; return the folder that is on the path then."""
    rules = folder / "site-packages" / "our_rules"
    rules.mkdir(parents=True)
    (rules / "__init__.py").touch()
    RuleBook([rule(site, {"q.sid": Ignore()})]).save(rules / "dedup-rules")
    (rules.parent / "pyproject.toml").write_text(PYPROJECT)
    return rules.parent


class Job:
    """The environment of a service: a project in an egg, packages that are installed, a folder that is gone afterwards."""

    def __init__(self, folder: Path, *packages: Path, **settings: object) -> None:
        folder.mkdir(exist_ok=True)
        egg_path = folder / "shop-1.0-py3.egg"
        with zipfile.ZipFile(egg_path, "w") as egg:
            for name, text in {
                "shop/__init__.py": "",
                "shop/settings.py": SETTINGS + "".join(f"{name} = {value!r}\n" for name, value in settings.items()),
                "shop/spiders/__init__.py": "",
                "shop/spiders/shop.py": SPIDER,
            }.items():
                egg.writestr(name, text)
        self.folder = folder / "job"
        self.folder.mkdir()
        self._paths = [*map(str, (egg_path, *packages)), os.environ.get("PYTHONPATH", "")]

    def begin(self, *words: str, **settings: object) -> "subprocess.Popen[str]":
        """Begin a command of Scrapy, as Scrapyd does: the egg is on the path, and no scrapy.cfg is there."""
        options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", *words, *options],
            cwd=self.folder,
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": "shop.settings", "PYTHONPATH": os.pathsep.join(self._paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def crawl(self, start: str, **settings: object) -> "subprocess.Popen[str]":
        """Begin a crawl whose only requests are those of its spider, unless the settings say otherwise."""
        own: dict[str, object] = {"DEDUP_SAMPLE": 0, "DEDUP_EXTRA": 0, "DEDUP_STARTER": 0}
        return self.begin("crawl", "shop", "-a", f"start={start}", **own | settings)


def said_by(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "Traceback" not in output, output
    assert "dedup/errors" not in output, output
    return output


def test_a_job_whose_disk_is_gone_afterwards(serve: Serve, tmp_path: Path) -> None:
    server = serve(shop)
    rules = package_of_rules(tmp_path, f"127.0.0.1:{server.port}")
    job = Job(tmp_path / "one", rules, **FROM_PACKAGE)
    output = said_by(job.crawl(server.url("/")))
    assert server.downloads == 1 + 6
    assert "1 rule for 1 site" in output
    assert not (job.folder / "dedup-rules").exists(), "nothing is learned"


@pytest.mark.redis
def test_a_fleet_of_such_jobs(serve: Serve, tmp_path: Path, redis_server: RedisServer) -> None:
    pytest.importorskip("scrapy_redis")
    server = serve(shop)
    fleet = {
        "SCHEDULER": "scrapy_redis.scheduler.Scheduler",
        "DUPEFILTER_CLASS": "scrapy_redis.dupefilter.RFPDupeFilter",
        "SCHEDULER_PERSIST": True,
        "REDIS_URL": redis_server.url,
    }
    rules = package_of_rules(tmp_path, f"127.0.0.1:{server.port}")
    jobs = [Job(tmp_path / name, rules, **FROM_PACKAGE, **fleet) for name in ("one", "two")]
    for each in [job.crawl(server.url("/")) for job in jobs]:
        said_by(each)
    pages = {target for target in server.hits if target != "/"}
    assert len(pages) == 6
    assert all(server.hits[target] == 1 for target in pages)


class LargeShop:
    """A shop of which rules can be learned."""

    every = frozenset(f"/p?id={number}" for number in range(40))
    #: Requests without rules, and with them.
    most, least = 1 + 3 * 40, 1 + 40

    def __init__(self, serve: Serve) -> None:
        self.server = serve(self._answer)

    def _answer(self, asked: Asked) -> object:
        if asked.path == "/":
            return page("start", *(f"{link}&sid={sid}" for link in sorted(self.every) for sid in "abc"))
        return page(prose(asked.query["id"]))

    def crawl(self, job: Job) -> None:
        """Crawl it all, and lose the folder."""
        self.server.reset()
        said_by(job.crawl(self.server.url("/")))
        assert {target.partition("&")[0] for target in self.server.hits if target != "/"} == self.every, (
            "no page is lost"
        )
        assert not list(job.folder.rglob("*.toml")), "no rules are written"
        shutil.rmtree(job.folder)


@pytest.mark.postgresql
def test_a_package_of_what_was_learned_from_such_jobs(serve: Serve, tmp_path: Path, postgresql_url: str) -> None:
    large = LargeShop(serve)
    store = {"DEDUP_STORE": postgresql_url}
    package = package_of_rules(tmp_path, "another.example")
    large.crawl(Job(tmp_path / "first", package, **FROM_PACKAGE, **store))
    assert large.server.downloads == large.most

    learns = Job(tmp_path / "learns", package, **FROM_PACKAGE, **store)
    assert "1 rule" in said_by(learns.begin("learn-rules"))
    shutil.copytree(learns.folder / "dedup-rules", package / "our_rules" / "dedup-rules", dirs_exist_ok=True)
    shutil.rmtree(learns.folder)

    large.crawl(Job(tmp_path / "second", package, **FROM_PACKAGE, **store))
    assert large.server.downloads == large.least
