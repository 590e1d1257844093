"""Every setting is checked at the start, and a wrong one stops the crawl with one clear line."""

import json
import re
import runpy
import sys
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings

import scrapy_dedup.crawl
from scrapy_dedup.crawl.learn.learner import command_of
from scrapy_dedup.crawl.observe.kept_texts import takes_markup
from scrapy_dedup.crawl.settings.dedup_settings import SETTINGS, DedupSettingError, DedupSettings, Mode
from scrapy_dedup.learning.evidence.user_names import Names
from scrapy_dedup.masks.published.thresholds import Thresholds

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, messages
from .server import page
from .waiting import PATIENCE


def read(**settings: Any) -> DedupSettings:
    return DedupSettings.from_crawler_settings(Settings(settings))


def test_defaults() -> None:
    settings = read()
    assert settings == read(**{setting.name: setting.default for setting in SETTINGS})
    assert (settings.mode, settings.learn, settings.compares) == (Mode.ACTIVE, "live", True)
    assert settings.dir == Path.cwd() / "dedup-rules"
    assert settings.store == str(Path.cwd() / ".scrapy/dedup/store.sqlite")
    assert settings.rule_directories == ()
    assert len(settings.load_rules()) == 0
    assert settings.mode_of("shop.test") is Mode.ACTIVE
    assert settings.published_thresholds is None
    assert read(DEDUP_TRANSIENT_METHOD="seed").published_thresholds == Thresholds()


def test_the_table_is_whole() -> None:
    assert {setting.name for setting in SETTINGS} >= {
        "DEDUP_ENABLED",
        "DEDUP_MAX_BODY",
        "DEDUP_FALLBACK_DUPEFILTER_CLASS",
    }
    for setting in SETTINGS:
        assert setting.help.endswith(".")
        assert "\n" not in setting.help
        assert setting.type


def test_values_as_the_command_line_gives_them() -> None:
    settings = read(
        DEDUP_ENABLED="0",
        DEDUP_MODE="shadow",
        DEDUP_SITES='{"other.test": false, "localhost:80": "active"}',
        DEDUP_SITE_GROUPS='{"shop": ["shop.test", "shop.example"]}',
        DEDUP_RULES=f"scrapy_dedup:crawl,{Path.cwd()}",
        DEDUP_MAX_LOSS="0.01",
        DEDUP_MAX_BODY="1000",
        DEDUP_EVIDENCE_DAYS="None",
        DEDUP_STORE_MAX_ROWS="",
        DEDUP_SKETCHES_PER_SITE="0",
        DEDUP_MEDIA="True",
        DEDUP_LEARN_TIMEOUT="1.5",
        DEDUP_CONTENT_FIELDS='{"body": "html", "reviews.text": "text"}',
        DEDUP_STRIP="mark",
        DEDUP_TRANSIENT_METHOD="seed",
        DEDUP_TRANSIENT_THRESHOLD="1",
        DEDUP_TRANSIENT_MAX_MARKED="0.4",
        DEDUP_TRANSIENT_MAX_SHARE="0.3",
        DEDUP_TRANSIENT_MAX_PATH="500",
        DEDUP_STRIP_MARKUP="0",
        DEDUP_TRANSIENT_LINKS="1",
        DEDUP_TRANSIENT_PRIORITY="5",
    )
    assert settings.enabled is False
    assert settings.mode is Mode.SHADOW
    assert settings.mode_of("other.test") is None
    assert settings.mode_of("localhost:80") is Mode.ACTIVE
    assert settings.site_groups == {"shop": ("shop.test", "shop.example")}
    assert settings.rules == (Path(scrapy_dedup.crawl.__file__).parent, Path.cwd())
    assert (settings.max_loss, settings.max_body, settings.sketches_per_site) == (0.01, 1000, 0)
    assert (settings.evidence_days, settings.store_max_rows) == (None, None)
    assert (settings.media, settings.learn_timeout) == (True, 1.5)
    assert settings.content_fields == {"body": "html", "reviews.text": "text"}
    assert settings.published_thresholds == Thresholds(1, 0.4, 0.3, 500)
    assert (settings.strip, settings.transient_links, settings.transient_priority) == ("mark", True, 5)
    assert (settings.strip_markup, takes_markup(settings)) == (False, False)
    assert takes_markup(read(DEDUP_CONTENT_FIELDS={"body": "html"}))
    assert takes_markup(read(DEDUP_CONTENT_FIELDS={"body": "text"}))
    assert not takes_markup(read())


def test_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Relative ones start at the folder of scrapy.cfg, from wherever in the project a crawl is started."""
    (tmp_path / "scrapy.cfg").write_text("[settings]\n")
    (tmp_path / "deep/er").mkdir(parents=True)
    (tmp_path / "reviewed").mkdir()
    (tmp_path / "dedup-rules/members").mkdir(parents=True)
    monkeypatch.chdir(tmp_path / "deep/er")
    settings = read(DEDUP_RULES=["reviewed", tmp_path], DEDUP_SCOPE="members", DEDUP_STORE="x/store.db")
    assert settings.rules == (tmp_path / "reviewed", tmp_path)
    assert settings.learned_directory == tmp_path / "dedup-rules/members"
    assert settings.rule_directories == (*settings.rules, settings.learned_directory)
    assert settings.store == str(tmp_path / "x/store.db")
    assert read().store == str(tmp_path / ".scrapy/dedup/store.sqlite")
    url = "postgresql://user@host/database"
    assert read(DEDUP_STORE=url).store == url
    assert read(DEDUP_STORE=Path("/var/x.db"), DEDUP_DIR=Path("/var/rules")).store == "/var/x.db"
    # A settings module without a scrapy.cfg, as scrapyd has it.
    (tmp_path / "scrapy.cfg").unlink()
    (tmp_path / "somewhere_settings.py").write_text("")
    monkeypatch.setenv("SCRAPY_SETTINGS_MODULE", "somewhere_settings")
    monkeypatch.syspath_prepend(tmp_path)
    assert read().store == str(tmp_path / "deep/er/.scrapy/dedup/store.sqlite")


WRONG: list[tuple[str, Any, str]] = [
    ("DEDUP_ENABLED", "yes", "it must be True or False"),
    ("DEDUP_ENABLED", 2, "it must be True or False"),
    ("DEDUP_MODE", "activ", 'it must be "observe", "shadow" or "active"'),
    ("DEDUP_MODE", ["observe"], 'it must be "observe", "shadow" or "active"'),
    ("DEDUP_PROBE_BAND", 0.5, "it must be two numbers from 0 to 1"),
    ("DEDUP_PROBE_BAND", (0.9, 0.1), "the smaller one first"),
    ("DEDUP_PROBE_BAND", "0.1,2", "it must be two numbers from 0 to 1"),
    ("DEDUP_EXTRA", 2, "it must be a number from 0 to 1"),
    ("DEDUP_REVISITS", -1, "it must be a whole number of at least 0"),
    ("DEDUP_STARTER", -1, "it must be a whole number of at least 0"),
    ("DEDUP_STARTER", 0.02, "it must be a whole number"),
    ("DEDUP_SHARE_CACHE", "maybe", "it must be True or False"),
    ("DEDUP_SITES", ["shop.test"], "it must be a dictionary"),
    ("DEDUP_SITES", "{", "it is not JSON"),
    ("DEDUP_SITES", {"www.shop.test": "shadow"}, "'www.shop.test' is not a site. Write 'shop.test'."),
    ("DEDUP_SITES", {"http://shop.test/": "shadow"}, "is not a site"),
    ("DEDUP_SITES", {"shop.test": True}, "'shop.test' has True"),
    ("DEDUP_SITES", {3: "shadow"}, "3 is not a site"),
    ("DEDUP_SITE_GROUPS", {"shop": "shop.test"}, "'shop' has 'shop.test', not a list of domains"),
    ("DEDUP_SITE_GROUPS", {"shop": ["www.shop.test"]}, "is not a registrable domain. Write 'shop.test'."),
    ("DEDUP_SITE_GROUPS", {"a/b": ["shop.test"]}, "'a/b' is not a name"),
    ("DEDUP_SITE_GROUPS", {"a": ["shop.test"], "b": ["shop.test"]}, "stands in two site groups"),
    ("DEDUP_RULES", ["nowhere"], "there is no directory"),
    ("DEDUP_RULES", ["no_such_package:rules"], "there is no package 'no_such_package'"),
    ("DEDUP_RULES", 3, "it must be a list of directories"),
    ("DEDUP_RULES", [3], "3 is not a directory"),
    ("DEDUP_DIR", "", "it must be the path of a directory"),
    ("DEDUP_DIR", __file__, "it is a file"),
    ("DEDUP_SCOPE", "../x", "it must be a name"),
    ("DEDUP_STORE", "/", "it is a directory"),
    ("DEDUP_STORE", "foo://x", "SQLAlchemy knows no database 'foo'"),
    ("DEDUP_STORE", "://x", "it is no SQLAlchemy URL"),
    ("DEDUP_STORE", "postgresql://host:port/x", "it is no SQLAlchemy URL"),
    ("DEDUP_STORE", "sqlite://", "it is gone when the crawl ends"),
    ("DEDUP_STORE", 3, "it must be a path, an SQLAlchemy URL or None"),
    ("DEDUP_EVIDENCE_DAYS", 0, "it must be a number above 0, or None for no limit"),
    ("DEDUP_STORE_MAX_ROWS", 0.5, "it must be a whole number of at least 1, or None for no limit"),
    ("DEDUP_SKETCHES_PER_SITE", -1, "it must be a whole number of at least 0"),
    ("DEDUP_MAX_BODY", "0", "it must be a whole number of at least 1"),
    ("DEDUP_MAX_BODY", True, "it must be a whole number of at least 1"),
    ("DEDUP_MEDIA", "maybe", "it must be True or False"),
    ("DEDUP_LEARN", "never", 'it must be "live", "close" or "off"'),
    ("DEDUP_LEARN_TIMEOUT", float("nan"), "it must be a number above 0"),
    ("DEDUP_NAMES", ["ref"], "it must be a dictionary"),
    ("DEDUP_NAMES", "ref", "it is not JSON"),
    ("DEDUP_NAMES", {"junk": ["ref"]}, "'junk' is none of relevant, irrelevant, return"),
    ("DEDUP_NAMES", {"irrelevant": 3}, "'irrelevant' has 3, not a list of names"),
    ("DEDUP_NAMES", {"irrelevant": ["a*b"]}, "'irrelevant' has 'a*b', not the name of a parameter"),
    (
        "DEDUP_NAMES",
        {"relevant": ["Ref"], "return": ["ref"]},
        "'ref' is listed as relevant, and as irrelevant or return, too",
    ),
    ("DEDUP_MAX_LOSS", 1, "it must be a number between 0 and 1"),
    ("DEDUP_CONTENT_FIELDS", ["body"], "it must be a dictionary"),
    ("DEDUP_CONTENT_FIELDS", {"body": "HTML"}, "'body' has 'HTML', not \"html\" or \"text\""),
    ("DEDUP_CONTENT_FIELDS", {"reviews..text": "text"}, "'reviews..text' is not the name of a field"),
    ("DEDUP_CONTENT_FIELDS", {7: "text"}, "7 is not the name of a field"),
    ("DEDUP_STRIP", "yes", 'it must be "remove", "mark" or "off"'),
    ("DEDUP_STRIP", ["mark"], 'it must be "remove", "mark" or "off"'),
    ("DEDUP_TRANSIENT_METHOD", "sed", 'it must be "default" or "seed".'),
    ("DEDUP_TRANSIENT_METHOD", ["seed"], 'it must be "default" or "seed".'),
    ("DEDUP_TRANSIENT_THRESHOLD", 0, "it must be a number above 0, and 1 at most. 0.5 is one of two."),
    ("DEDUP_TRANSIENT_THRESHOLD", "half", "it must be a number above 0, and 1 at most"),
    ("DEDUP_TRANSIENT_MAX_MARKED", 1.01, "it must be a number above 0, and 1 at most"),
    ("DEDUP_TRANSIENT_MAX_MARKED", True, "it must be a number above 0, and 1 at most"),
    ("DEDUP_TRANSIENT_MAX_SHARE", float("nan"), "it must be a number above 0, and 1 at most"),
    ("DEDUP_TRANSIENT_MAX_PATH", 0, "it must be a whole number of at least 1"),
    ("DEDUP_TRANSIENT_MAX_PATH", 99.5, "it must be a whole number of at least 1"),
    ("DEDUP_STRIP_MARKUP", "yes", "it must be True or False"),
    ("DEDUP_TRANSIENT_PRIORITY", -1, "it must be a whole number of at least 0"),
]


@pytest.mark.parametrize(("name", "value", "problem"), WRONG, ids=[f"{name}={value}" for name, value, _ in WRONG])
def test_wrong_values(name: str, value: Any, problem: str) -> None:
    with pytest.raises(DedupSettingError) as caught:
        read(**{name: value})
    told = str(caught.value)
    assert told.startswith(f"{name} is ")
    assert problem in told
    assert "\n" not in told
    assert caught.value.name == name


@pytest.mark.parametrize(
    "value",
    [
        {"irrelevant": ["Ref", "trk_*"], "return": ("zurueck",)},
        '{"irrelevant": ["ref", "trk_*"], "return": ["zurueck"]}',
        {"irrelevant": "ref, trk_*", "return": "zurueck"},
    ],
)
def test_names_of_parameters(value: Any) -> None:
    settings = read(DEDUP_NAMES=value)
    assert settings.names == Names(irrelevant=frozenset({"ref", "trk_*"}), returning=frozenset({"zurueck"}))
    command = command_of(settings, Path("rules"))
    assert json.loads(command[command.index("--names") + 1]) == {"irrelevant": ["ref", "trk_*"], "return": ["zurueck"]}
    assert read().names == Names()
    assert "--names" not in command_of(read(), Path("rules"))


def test_no_password_is_told() -> None:
    with pytest.raises(DedupSettingError) as caught:
        read(DEDUP_STORE="postgres://user:s3cr@t@host/database")
    assert str(caught.value).startswith("DEDUP_STORE is 'postgres://user:***@host/database': ")
    with pytest.raises(DedupSettingError, match="Write %40 for @ in a password") as caught:
        read(DEDUP_STORE="postgresql://user:s3cr@t@host/database")
    assert "'postgresql://user:***@host/database'" in str(caught.value)


@in_reactor
async def test_a_name_that_is_nearly_that_of_a_setting_stops_the_start(
    serve: Serve, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve({"*": page("x")})
    with pytest.raises(
        DedupSettingError, match=r"DEDUP_MOD is 'shadow': scrapy-dedup has no such setting. Is DEDUP_MODE meant\?"
    ):
        await crawl(Links, server.url("/"), DEDUP_MOD="shadow")
    assert not server.asked
    assert len(messages(caplog)) == 1
    caplog.clear()
    done = await crawl(Links, server.url("/"), DEDUP_OTHER_PLUGIN=1)
    assert done.urls
    assert messages(caplog) == ["DEDUP_OTHER_PLUGIN is no setting of scrapy-dedup"]


@pytest.mark.parametrize(
    ("name", "meant"),
    [("DEDUP_MDOE", "MODE"), ("DEDUP_RULE", "RULES"), ("DEDUP_CONTENT_FIELD", "CONTENT_FIELDS"), ("DEDUP_DB", "")]
    + [(name, "") for name in ("DEDUP_URL", "DEDUP_TABLE", "DEDUP_STORE_PATH", "DEDUP_REDIS_URL")],
)
def test_what_is_meant_is_told_by_the_name_without_the_prefix(name: str, meant: str) -> None:
    """The prefix alone makes no name near: others have settings of it, too."""
    if meant:
        with pytest.raises(DedupSettingError, match=rf"Is DEDUP_{meant} meant\?"):
            read(**{name: "x"})
    else:
        read(**{name: "x"})


@in_reactor
async def test_custom_settings(serve: Serve) -> None:
    class Own(Links):
        custom_settings = {"DEDUP_MODE": "observe", "DEDUP_SCOPE": "own", "DEDUP_STORE": "own.sqlite"}

    server = serve({"*": page("x", "/")})
    done = await crawl(Own, server.url("/"))
    assert done.stats["dedup/store/written"] == 2
    assert Path("own.sqlite").exists()

    class Off(Links):
        custom_settings = {"ADDONS": {"scrapy_dedup.Addon": None}}

    assert not (await crawl(Off, server.url("/"))).dedup()


def test_a_wrong_setting_stops_the_command_without_a_traceback(project: Project) -> None:
    spider = (project.folder / "shop/spiders/shop.py").read_text()
    own = spider.replace('name = "shop"', 'name = "own"\n    custom_settings = {"DEDUP_MAX_LOSS": 7}')
    project.write("shop/spiders/own.py", own)
    fallback = "DEDUP_FALLBACK_DUPEFILTER_CLASS"
    for arguments, told in (
        (("shop", "-s", "DEDUP_MODE=activ"), 'DEDUP_MODE is \'activ\': it must be "observe", "shadow" or "active".'),
        (
            ("shop", "-s", f"{fallback}=no.such.Filter"),
            f"{fallback} is 'no.such.Filter': it cannot be loaded (No module named 'no'). Name a dupe filter.",
        ),
        (
            ("shop", "-s", "DUPEFILTER_CLASS=no.such.Filter"),
            "DUPEFILTER_CLASS is 'no.such.Filter': it cannot be loaded (No module named 'no'). Name a dupe filter.",
        ),
        (("own",), "DEDUP_MAX_LOSS is 7: it must be a number between 0 and 1. 0.001 is one page of a thousand."),
    ):
        done = project.scrapy("crawl", *arguments, "-a", "start=http://127.0.0.1:1/")
        assert done.returncode == 1
        assert "Traceback" not in done.stderr
        errors = [line for line in done.stderr.splitlines() if "ERROR" in line or "CRITICAL" in line]
        assert len(errors) == 1
        assert errors[0].endswith(f"The crawl is not started: {told}")
        assert done.stderr.rstrip().endswith(told), "it is the last that is said"


def test_a_faulty_rule_file_stops_the_command_without_a_traceback(project: Project) -> None:
    project.write("dedup-rules/shop.test.toml", 'format = "dedup-rules/1"\nsite = "shop.test"\n\n[[rule]]\nid = 3\n')
    done = project.scrapy("crawl", "shop", "-a", "start=http://127.0.0.1:1/")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert re.search(r"The crawl is not started: .*dedup-rules/shop\.test\.toml:\d+: ", done.stderr)


def test_a_rule_file_without_end_stops_commands_in_one_line(project: Project) -> None:
    """Lists in one another are too much for who reads them."""
    head = 'format = "dedup-rules/1"\nsite = "shop.test"\n[[rule]]\n[rule.ops]\n'
    path = project.write("dedup-rules/shop.test.toml", f'{head}"q.a" = {"[" * 1000}{"]" * 1000}\n')
    said = f"{path}:5: more than 32 lists, tables or parts of a key in one another; correct the line\n"
    for command, code, before in (
        (("dedup", "check"), 1, ""),
        (("dedup", "explain", "http://shop.test/"), 2, "dedup explain: "),
        (("learn-rules", "--from", "urls.jsonl"), 2, "learn-rules: "),
    ):
        project.write("urls.jsonl", '{"url": "http://shop.test/", "content": "a"}\n')
        done = project.scrapy(*command)
        assert (done.returncode, done.stderr) == (code, before + said)
    done = project.scrapy("crawl", "shop", "-a", "start=http://127.0.0.1:1/")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert done.stderr.endswith(f"The crawl is not started: {said}")


def test_whoever_awaits_a_crawl_gets_the_error(project: Project) -> None:
    project.write(
        "script.py",
        "import asyncio, scrapy\n"
        "from scrapy.crawler import AsyncCrawlerProcess\n"
        "from scrapy_dedup.crawl.settings.dedup_settings import DedupSettingError\n"
        "process = AsyncCrawlerProcess({'ADDONS': {'scrapy_dedup.Addon': 600}, 'DEDUP_MODE': 'x'})\n"
        "task = process.crawl(scrapy.Spider, name='a')\n"
        "process.start()\n"
        "assert isinstance(task.exception(), DedupSettingError), task\n",
    )
    done = run_script(project, "script.py")
    assert done.returncode == 0, done.stderr
    assert "Traceback" not in done.stderr


def run_script(project: Project, name: str) -> Any:
    import subprocess

    return subprocess.run(
        [sys.executable, name], cwd=project.folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


def test_every_stat_is_in_the_table() -> None:
    modules = Path(scrapy_dedup.crawl.__file__).parent.rglob("*.py")
    source = "".join(path.read_text() for path in modules if path.parent.name != "settings")
    used = {re.sub(r"\{.*?\}", "<>", name) for name in re.findall(r'f?"(dedup/[^"]+)"', source)}
    stats = runpy.run_path(str(Path(__file__).parents[1] / "docs" / "_stats.py"))["STATS"]
    known = {re.sub(r"<.*?>", "<>", name) for name, _ in stats}
    errors = {name for name in used if name.startswith("dedup/errors/")} | {"dedup/errors/<>"}
    assert used - errors == known - errors
