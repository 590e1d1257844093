"""Where no disk is kept, as docs/how-to/deploy.rst says: a project in an egg, rules in a package, nothing learned or written."""

import os
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


def shop(asked: Asked) -> object:
    if asked.path == "/":
        return page("start", *(f"/p?id={number}&sid={sid}" for number in range(6) for sid in "abc"))
    return page(prose(asked.query["id"]), f"/p?id={asked.query['id']}&sid=again")


class Job:
    """The environment of a service: a package of rules that is installed, a project in an egg, a folder that is gone afterwards."""

    def __init__(self, folder: Path, site: str) -> None:
        rules = folder / "site-packages" / "our_rules"
        rules.mkdir(parents=True)
        (rules / "__init__.py").touch()
        RuleBook([rule(site, {"q.sid": Ignore()})]).save(rules / "dedup-rules")
        (folder / "site-packages" / "pyproject.toml").write_text(PYPROJECT)
        self.egg = folder / "shop-1.0-py3.egg"
        with zipfile.ZipFile(self.egg, "w") as egg:
            for name, text in {
                "shop/__init__.py": "",
                "shop/settings.py": SETTINGS + 'DEDUP_RULES = ["our_rules:dedup-rules"]\nDEDUP_LEARN = "off"\n',
                "shop/spiders/__init__.py": "",
                "shop/spiders/shop.py": SPIDER,
            }.items():
                egg.writestr(name, text)
        self.folder = folder / "job"
        self.folder.mkdir()
        self._paths = [str(self.egg), str(folder / "site-packages"), os.environ.get("PYTHONPATH", "")]

    def begin(self, start: str, **settings: object) -> "subprocess.Popen[str]":
        """Begin a crawl, as Scrapyd does: the egg is on the path, and no scrapy.cfg is there."""
        options = [word for name, value in settings.items() for word in ("-s", f"{name}={value}")]
        return subprocess.Popen(
            [sys.executable, "-m", "scrapy", "crawl", "shop", "-a", f"start={start}", *options],
            cwd=self.folder,
            env={**os.environ, "SCRAPY_SETTINGS_MODULE": "shop.settings", "PYTHONPATH": os.pathsep.join(self._paths)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )


def said_by(process: "subprocess.Popen[str]") -> str:
    output, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, output
    assert "Traceback" not in output, output
    assert "dedup/errors" not in output, output
    return output


def test_a_job_whose_disk_is_gone_afterwards(serve: Serve, tmp_path: Path) -> None:
    server = serve(shop)
    job = Job(tmp_path, f"127.0.0.1:{server.port}")
    output = said_by(job.begin(server.url("/"), DEDUP_SAMPLE=0, DEDUP_EXTRA=0, DEDUP_STARTER=0))
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
    jobs = []
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        jobs.append(Job(tmp_path / name, f"127.0.0.1:{server.port}"))
    begun = [job.begin(server.url("/"), DEDUP_SAMPLE=0, DEDUP_EXTRA=0, DEDUP_STARTER=0, **fleet) for job in jobs]
    for each in begun:
        said_by(each)
    pages = {target for target in server.hits if target != "/"}
    assert len(pages) == 6
    assert all(server.hits[target] == 1 for target in pages)
