"""Where no disk is kept, as docs/how-to/deploy.rst says: a project in an egg, rules in a package, evidence in a database, learning elsewhere."""

import os
import shutil
import zipfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from .conftest import SETTINGS, SPIDER, Project, Serve
from .crawling import ignore, save_rules, without
from .server import Asked, page, prose
from .servers import RedisServer

IDS, SIDS = 16, "abc"
EVERY = {"/": 1, **dict.fromkeys((f"/p?id={number}" for number in range(IDS)), 1)}
PLAIN = {"/": 1, **dict.fromkeys(EVERY.keys() - {"/"}, len(SIDS))}


def shop(asked: Asked) -> object:
    if asked.path == "/":
        return page("start", *(f"/p?id={number}&sid={sid}" for number in range(IDS) for sid in SIDS))
    return page(prose(asked.query["id"]), f"/p?id={asked.query['id']}&sid=a")


def package_of_rules(folder: Path, site: str) -> Path:
    """Write a package of rules, as pip installs it; return its folder of rules."""
    rules = save_rules(site, ignore("q.sid"), directory=folder / "site-packages" / "our_rules" / "dedup-rules").parent
    (rules.parent / "__init__.py").touch()
    return rules


class Job(Project):
    """The environment of a service: a project in an egg, a package of rules that is installed, a folder that is gone afterwards."""

    def __init__(self, folder: Path, rules: Path, **settings: object) -> None:
        super().__init__(folder / "job")
        self.folder.mkdir(parents=True)
        settings = {"DEDUP_RULES": ["our_rules:dedup-rules"], "DEDUP_LEARN": "off", **settings}
        egg_path = folder / "shop-1.0-py3.egg"
        with zipfile.ZipFile(egg_path, "w") as egg:
            for name, text in {
                "shop/__init__.py": "",
                "shop/settings.py": SETTINGS + "".join(f"{name} = {value!r}\n" for name, value in settings.items()),
                "shop/spiders/__init__.py": "",
                "shop/spiders/shop.py": SPIDER,
            }.items():
                egg.writestr(name, text)
        self._path = [str(egg_path), str(rules.parent.parent), os.environ.get("PYTHONPATH", "")]

    @property
    def environment(self) -> dict[str, str]:
        """As Scrapyd does: the egg is on the path, and no scrapy.cfg is there."""
        return {
            **super().environment,
            "SCRAPY_SETTINGS_MODULE": "shop.settings",
            "PYTHONPATH": os.pathsep.join(filter(None, self._path)),
        }

    def says(self, *words: str) -> str:
        """What a command says, which ends well."""
        done = self.scrapy(*words)
        output = done.stdout + done.stderr
        assert done.returncode == 0, output
        assert "Traceback" not in output, output
        assert "dedup/errors" not in output, output
        return output

    def crawls(self, start: str) -> str:
        """What a crawl says whose only requests are those of its spider."""
        own = [word for name in ("SAMPLE", "EXTRA", "STARTER") for word in ("-s", f"DEDUP_{name}=0")]
        output = self.says("crawl", "shop", "-a", f"start={start}", *own)
        assert not list(self.folder.rglob("*.toml")), "no rules are written"
        return output


def test_a_job_whose_disk_is_gone_afterwards(serve: Serve, tmp_path: Path) -> None:
    server = serve(shop)
    job = Job(tmp_path / "one", package_of_rules(tmp_path, server.site))
    assert "1 rule for 1 site" in job.crawls(server.url("/"))
    assert without("sid", server.hits.elements()) == EVERY
    assert (job.folder / ".scrapy/dedup/store.sqlite").exists(), "no scrapy.cfg is needed to find the place"


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
    rules = package_of_rules(tmp_path, server.site)
    jobs = [Job(tmp_path / name, rules, **fleet) for name in ("one", "two")]
    with ThreadPoolExecutor() as pool:
        list(pool.map(lambda job: job.crawls(server.url("/")), jobs))
    fetched = without("sid", server.hits.elements())
    assert {**fetched, "/": 1} == EVERY, "each page is fetched once, by either"


@pytest.mark.postgresql
def test_a_package_of_what_was_learned_from_such_jobs(serve: Serve, tmp_path: Path, postgresql_url: str) -> None:
    server = serve(shop)
    rules = package_of_rules(tmp_path, "another.example")
    for name, expected in (("first", PLAIN), ("second", EVERY)):
        server.reset()
        job = Job(tmp_path / name, rules, DEDUP_STORE=postgresql_url)
        job.crawls(server.url("/"))
        assert without("sid", server.hits.elements()) == expected, name
        shutil.rmtree(job.folder)
        if name == "first":
            learns = Job(tmp_path / "learns", rules, DEDUP_STORE=postgresql_url)
            assert "1 rule" in learns.says("learn-rules")
            shutil.copytree(learns.folder / "dedup-rules", rules, dirs_exist_ok=True)
            shutil.rmtree(learns.folder)
