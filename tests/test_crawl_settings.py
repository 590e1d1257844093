"""Every setting is checked at the start, as a settings file or the command line gives it: a wrong one stops crawl and command with one clear line."""

import json
from pathlib import Path
from typing import Any

import pytest
from scrapy.crawler import AsyncCrawlerRunner
from scrapy.exceptions import NotConfigured
from scrapy.settings import Settings
from scrapy.utils.defer import deferred_from_coro

from scrapy_dedup import Addon

from .conftest import Project, Serve
from .crawling import BASE, Links, crawl, crawl_sites, ignore, in_reactor, messages, observed, save_rules, statuses
from .server import Asked, page, prose


def install(**given: Any) -> Settings:
    """The settings of a crawl when the add-on has seen them."""
    settings = Settings(given)
    Addon().update_settings(settings)
    return settings


# Values

TRUTH = "it must be True or False"
WRONG: dict[str, list[tuple[Any, str]]] = {
    "DEDUP_ENABLED": [("yes", TRUTH), (2, TRUTH)],
    "DEDUP_MODE": [(value, 'it must be "observe", "shadow" or "active"') for value in ("activ", ["observe"])],
    "DEDUP_PROBE_BAND": [
        (0.5, "it must be two numbers from 0 to 1"),
        ((0.9, 0.1), "the smaller one first"),
        ("0.1,2", "it must be two numbers from 0 to 1"),
    ],
    "DEDUP_EXTRA": [(2, "it must be a number from 0 to 1")],
    "DEDUP_REVISITS": [(-1, "it must be a whole number of at least 0")],
    "DEDUP_STARTER": [(-1, "it must be a whole number of at least 0"), (0.02, "it must be a whole number")],
    "DEDUP_SHARE_CACHE": [("maybe", TRUTH)],
    "DEDUP_SITES": [
        (["shop.test"], "it must be a dictionary"),
        ("{", "it is not JSON"),
        ({"www.shop.test": "shadow"}, "'www.shop.test' is not a site. Write 'shop.test'."),
        ({"http://shop.test/": "shadow"}, "is not a site"),
        ({"shop.test": True}, "'shop.test' has True"),
        ({3: "shadow"}, "3 is not a site"),
    ],
    "DEDUP_SITE_GROUPS": [
        ({"shop": "shop.test"}, "'shop' has 'shop.test', not a list of domains"),
        ({"shop": ["www.shop.test"]}, "is not a registrable domain. Write 'shop.test'."),
        ({"a/b": ["shop.test"]}, "'a/b' is not a name"),
        ({"a": ["shop.test"], "b": ["shop.test"]}, "stands in two site groups"),
    ],
    "DEDUP_RULES": [
        (["nowhere"], "there is no directory"),
        (["no_such_package:rules"], "there is no package 'no_such_package'"),
        (3, "it must be a list of directories"),
        ([3], "3 is not a directory"),
    ],
    "DEDUP_DIR": [("", "it must be the path of a directory"), (__file__, "it is a file")],
    "DEDUP_SCOPE": [("../x", "it must be a name")],
    "DEDUP_STORE": [
        ("/", "it is a directory"),
        ("foo://x", "SQLAlchemy knows no database 'foo'"),
        ("://x", "it is no SQLAlchemy URL"),
        ("postgresql://host:port/x", "it is no SQLAlchemy URL"),
        ("sqlite://", "it is gone when the crawl ends"),
        (3, "it must be a path, an SQLAlchemy URL or None"),
        # No password is told.
        ("postgres://user:s3cr@t@host/database", "DEDUP_STORE is 'postgres://user:***@host/database': "),
        ("postgresql://user:s3cr@t@host/database", "'postgresql://user:***@host/database'"),
        ("postgresql://user:s3cr@t@host/database", "Write %40 for @ in a password"),
    ],
    "DEDUP_REPORT": [("/", "it is a directory")],
    "DEDUP_EVIDENCE_DAYS": [(0, "it must be a number above 0, or None for no limit")],
    "DEDUP_STORE_MAX_ROWS": [(0.5, "it must be a whole number of at least 1, or None for no limit")],
    "DEDUP_SKETCHES_PER_SITE": [(-1, "it must be a whole number of at least 0")],
    "DEDUP_MAX_BODY": [(value, "it must be a whole number of at least 1") for value in ("0", True)],
    "DEDUP_MEDIA": [("maybe", TRUTH)],
    "DEDUP_LEARN": [("never", 'it must be "live", "close" or "off"')],
    "DEDUP_LEARN_TIMEOUT": [(float("nan"), "it must be a number above 0")],
    "DEDUP_NAMES": [
        (["ref"], "it must be a dictionary"),
        ("ref", "it is not JSON"),
        ({"junk": ["ref"]}, "'junk' is none of relevant, irrelevant, return"),
        ({"irrelevant": 3}, "'irrelevant' has 3, not a list of names"),
        ({"irrelevant": ["a*b"]}, "'irrelevant' has 'a*b', not the name of a parameter"),
        (
            {"relevant": ["Ref"], "return": ["ref"]},
            "'ref' is listed as relevant, and as irrelevant or return, too",
        ),
    ],
    "DEDUP_MAX_LOSS": [(1, "it must be a number between 0 and 1")],
    "DEDUP_CONTENT_FIELDS": [
        (["body"], "it must be a dictionary"),
        ({"body": "HTML"}, "'body' has 'HTML', not \"html\" or \"text\""),
        ({"reviews..text": "text"}, "'reviews..text' is not the name of a field"),
        ({7: "text"}, "7 is not the name of a field"),
    ],
    "DEDUP_STRIP": [(value, 'it must be "remove", "mark" or "off"') for value in ("yes", ["mark"])],
    "DEDUP_TRANSIENT_METHOD": [(value, 'it must be "default" or "seed".') for value in ("sed", ["seed"])],
    "DEDUP_TRANSIENT_OPTIONS": [
        ({"threshold": 0}, "threshold is 0: it is a number over 0, and 1 at most"),
        ('{"max_marked": 1.01}', "max_marked is 1.01: it is a number over 0, and 1 at most"),
        ({"max_marked": True}, "max_marked is True"),
        ({"max_share": float("nan")}, "max_share is nan: it is a number over 0, and 1 at most"),
        ({"max_path": 0}, "max_path is 0: it is a whole number of characters, at least 1"),
        ({"max_path": 99.5}, "max_path is 99.5"),
        ({"treshold": 1}, "there is no option 'treshold': there are threshold, max_marked, max_share, max_path"),
        (0.5, 'it must be a dictionary. Write a dictionary such as {"threshold": 0.5}.'),
    ],
    "DEDUP_TRANSIENT_PRIORITY": [(-1, "it must be a whole number of at least 0")],
    "DUPEFILTER_CLASS": [("no.such.Filter", "it cannot be loaded (No module named 'no'). Name a dupe filter.")],
    # What is meant is told by the name without the prefix.
    "DEDUP_MDOE": [("x", "scrapy-dedup has no such setting. Is DEDUP_MODE meant?")],
    "DEDUP_RULE": [("x", "Is DEDUP_RULES meant?")],
    "DEDUP_CONTENT_FIELD": [("x", "Is DEDUP_CONTENT_FIELDS meant?")],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_values(name: str, caplog: pytest.LogCaptureFixture) -> None:
    for value, problem in WRONG[name]:
        caplog.clear()
        with pytest.raises(ValueError, match=rf"^{name} is [^\n]+$") as caught:
            install(**{name: value})
        assert problem in str(caught.value)
        assert messages(caplog) == [f"The crawl is not started: {caught.value}"]


RIGHT: dict[str, list[Any]] = {
    "DEDUP_ENABLED": ["1", "true", "True", True],
    "DEDUP_SITES": ['{"other.test": false, "localhost:80": "active"}', {"shop.test": "observe"}],
    "DEDUP_SITE_GROUPS": ['{"shop": ["shop.test", "shop.example"]}'],
    "DEDUP_RULES": ["", [], Path(), ["."]],
    "DEDUP_STORE": ["", None, Path("/var/x.db"), "sqlite:////var/x.db", "mysql.db"],
    "DEDUP_REPORT": ["", None, "None", "x.html"],
    "DEDUP_MAX_LOSS": ["0.01"],
    "DEDUP_MAX_BODY": ["1000"],
    "DEDUP_EVIDENCE_DAYS": ["None", "", "0.5", None],
    "DEDUP_STORE_MAX_ROWS": ["None", "", "7", None],
    "DEDUP_SKETCHES_PER_SITE": ["0"],
    "DEDUP_LEARN_TIMEOUT": ["1.5"],
    "DEDUP_NAMES": [{"irrelevant": ["Ref", "trk_*"], "return": ("zurueck",)}, {"irrelevant": "ref, trk_*"}, "{}"],
    "DEDUP_CONTENT_FIELDS": ['{"body": "html", "reviews.text": "text"}'],
    "DEDUP_PROBE_BAND": ["0.1,0.9", (0, 1)],
    "DEDUP_TRANSIENT_OPTIONS": ['{"threshold": 1, "max_path": 500}', {"max_share": 1.0}, None],
    "DEDUP_TRANSIENT_PRIORITY": ["5"],
}


def test_right_values(caplog: pytest.LogCaptureFixture) -> None:
    plain = install()["DUPEFILTER_CLASS"]
    for name, values in RIGHT.items():
        for value in values:
            assert install(**{name: value})["DUPEFILTER_CLASS"] is plain, (name, value)
    for off in ("0", "false", "False", False):
        with pytest.raises(NotConfigured):
            install(DEDUP_ENABLED=off, DEDUP_MODE="not looked at")
    assert not messages(caplog)
    # The prefix alone makes no name near: others have settings of it, too.
    others = ("DEDUP_DB", "DEDUP_OTHER_PLUGIN", "DEDUP_REDIS_URL", "DEDUP_STORE_PATH", "DEDUP_TABLE", "DEDUP_URL")
    install(**dict.fromkeys(others, "x"))
    assert messages(caplog) == [f"{name} is no setting of scrapy-dedup" for name in others]


# Crawls


@in_reactor
async def test_whoever_awaits_a_crawl_gets_the_error(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    class Own(Links):
        custom_settings = {"DEDUP_MAX_LOSS": 7}

    server = serve({"*": page("x")})
    told = "DEDUP_MAX_LOSS is 7: it must be a number between 0 and 1. 0.001 is one page of a thousand."
    with pytest.raises(ValueError, match=r"^DEDUP_MAX_LOSS is 7: ") as caught:
        await deferred_from_coro(AsyncCrawlerRunner(BASE).crawl(Own, server.url("/")))
    assert str(caught.value) == told
    assert messages(caplog) == [f"The crawl is not started: {told}"]
    assert not server.asked


IDS, SESSIONS = 3, (("a", "x"), ("b", "x"), ("b", "y"))


def shop(asked: Asked) -> str:
    if asked.path == "/":
        return page("start", *(f"/p?id={n}&sid={sid}&ref={ref}" for n in range(IDS) for sid, ref in SESSIONS))
    return page(prose(asked.query["id"]))


@in_reactor
@pytest.mark.usefixtures("loopback_names")
async def test_texts_of_the_command_line_and_of_a_spider(
    serve: Serve, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Relative paths begin at the folder of scrapy.cfg, from wherever in the project a crawl is started."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    (tmp_path / "deep/er").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep/er")
    server = serve(shop)
    group, learned = f"shop:{server.port}", tmp_path / "dedup-rules/members"
    for site, key, folder in (
        (group, "q.sid", tmp_path / "reviewed"),
        (group, "q.ref", learned),
        (server.site, "q.sid", learned),
    ):
        save_rules(site, ignore(key), directory=folder)
    starts = [server.url("/", host) for host in ("www.shop.test", "other.test", "127.0.0.1")]
    done = await crawl(
        Links,
        *starts,
        DEDUP_SITES=json.dumps({group: "active", server.site: False}),
        DEDUP_SITE_GROUPS='{"shop": ["shop.test", "other.test"]}',
        DEDUP_MODE="observe",
        DEDUP_RULES="reviewed",
        DEDUP_SCOPE="members",
        DEDUP_STORE="x/store.db",
    )
    fetched = {host: server.counted(host=host).total() for host in ("www.shop.test", "other.test", "127.0.0.1")}
    assert fetched == {"www.shop.test": 1 + IDS, "other.test": 1 + IDS, "127.0.0.1": 1 + IDS * len(SESSIONS)}
    assert set(observed("members", tmp_path / "x/store.db")) == {
        url for url in (item["url"] for item in done.items) if not url.startswith(starts[2])
    }
    assert not done.faults()

    texts = {"DEDUP_EVIDENCE_DAYS": "None", "DEDUP_MAX_LOSS": "0.01", "DEDUP_STORE_TEXTS": "0", "DEDUP_MEDIA": "True"}
    few = await crawl(Links, starts[0], **texts, DEDUP_STORE="few.db", DEDUP_MAX_BODY="5", DEDUP_STORE_MAX_ROWS="4")
    assert not few.faults()
    assert 0 < len(observed(store=tmp_path / "few.db")) <= 4

    class Observes(Links):
        custom_settings = {"DEDUP_MODE": "observe"}

    class Off(Links):
        custom_settings = {"ADDONS": {"scrapy_dedup.Addon": None}}

    done = await crawl(Observes, starts[0])
    assert len(observed(store=tmp_path / ".scrapy/dedup/store.sqlite")) == len(done.items) == 1 + IDS * len(SESSIONS)
    assert not (await crawl(Off, starts[0])).dedup()


@in_reactor
async def test_names_of_parameters_reach_the_process_that_learns(serve: Serve) -> None:
    def few(name: str) -> Any:
        """Forty pages with a parameter that says nothing, three of them under two URLs: too few by themselves."""
        links = [f"/view?id={n}&{name}={ref + n}" for ref, many in ((100, 40), (200, 3)) for n in range(many)]
        return lambda asked: page("start", *links) if asked.path == "/" else page(prose(asked.query["id"], 100))

    names = '{"irrelevant": ["TRK_*"]}'
    done = await crawl_sites(
        serve, {name: few(name) for name in ("trk_a", "xyz")}, DEDUP_LEARN="close", DEDUP_NAMES=names
    )
    assert {name: statuses(each.server.site) for name, each in done.items()} == {
        "trk_a": {"q.trk_a": "active"},
        "xyz": {},
    }


# Commands


def test_commands_stop_without_a_traceback(project: Project) -> None:
    start = ("crawl", "shop", "-a", "start=http://127.0.0.1:1/")
    mode = 'DEDUP_MODE is \'activ\': it must be "observe", "shadow" or "active".'
    project.refuses(start, (("-s", "DEDUP_MODE=activ"), 1, f"The crawl is not started: {mode}"))
    method = 'DEDUP_TRANSIENT_METHOD is \'sed\': it must be "default" or "seed".'
    project.refuses(("learn-rules",), (("-s", "DEDUP_TRANSIENT_METHOD=sed"), 2, method))
    # Lists in one another are too much for who reads a rule file.
    head = 'format = "dedup-rules/1"\nsite = "shop.test"\n[[rule]]\n[rule.ops]\n'
    path = project.write("dedup-rules/shop.test.toml", f'{head}"q.a" = {"[" * 1000}{"]" * 1000}\n')
    project.write("urls.jsonl", '{"url": "http://shop.test/", "content": "a"}\n')
    said = f"{path}:5: more than 32 lists, tables or parts of a key in one another; correct the line"
    for command, code, before in (
        (("dedup", "check"), 1, ""),
        (("dedup", "explain", "http://shop.test/"), 2, "dedup explain: "),
        (("learn-rules", "--from", "urls.jsonl"), 2, "learn-rules: "),
        (start, 1, "The crawl is not started: "),
    ):
        project.refuses(command, ((), code, before + said))
