"""Rules and masks in the store (``DEDUP_DIR = "store:"``): the texts that files would have, versioned, seen by all."""

import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from scrapy.settings import Settings
from sqlalchemy import select

from scrapy_dedup import RuleBook
from scrapy_dedup.crawl.settings.dedup_settings import DedupSettings
from scrapy_dedup.files.errors import RuleWriteError
from scrapy_dedup.files.mirrored import mirror, place_of_files
from scrapy_dedup.rules import Ignore, Status
from scrapy_dedup.rules.files import changed_site, load_directories, load_sites
from scrapy_dedup.store.schema import site_text
from scrapy_dedup.store.site_texts import StoredTexts, stored_folder
from scrapy_dedup.store.store import Store

from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, rule
from .server import Asked, page, prose
from .servers import PostgreSQLServer

SITE = "shop.test"


def another_folder(target: str, tmp_path: Path, name: str = "other") -> Path:
    """Return the folder in which another process sees the same files."""
    folder = (tmp_path / name).resolve()
    folder.mkdir()
    mirror(folder, StoredTexts(target, folder))
    return folder


def texts(target: str) -> list[tuple[str, str, int]]:
    t = site_text.c
    with Store.open(target, readonly=True) as store:
        return [tuple(row) for row in store.rows(select(t.folder, t.name, t.version).order_by(t.id))]


def test_what_one_process_writes_the_others_read(store_target: str, tmp_path: Path) -> None:
    mine, others = stored_folder(store_target), another_folder(store_target, tmp_path)
    assert load_directories([mine])[0] == []
    RuleBook([rule(SITE, {"q.sid": Ignore()})]).save(mine)
    assert [str(each.status) for each in load_directories([others])[0]] == ["manual"]
    changed_site(others, SITE, lambda found: type(found)(SITE, tuple(each.__class__(
        each.site, each.match, each.ops, Status.OFF) for each in found.rules)))  # fmt: skip
    assert [str(each.status) for each in load_sites([mine], [SITE])[0]] == ["off"]
    assert (mine / f"{SITE}.toml").read_text() == (others / f"{SITE}.toml").read_text()
    assert texts(store_target) == [("", f"{SITE}.toml", 1), ("", f"{SITE}.toml", 2)]
    assert place_of_files(mine) == "store:"
    assert place_of_files(mine / "members") == "store:members"


def test_scopes_are_apart(store_target: str, tmp_path: Path) -> None:
    settings = DedupSettings.from_crawler_settings(
        Settings({"DEDUP_DIR": "store:", "DEDUP_STORE": store_target, "DEDUP_SCOPE": "members"})
    )
    RuleBook([rule(SITE, {"q.sid": Ignore()})]).save(settings.learned_directory)
    assert texts(store_target) == [("members", f"{SITE}.toml", 1)]
    others = another_folder(store_target, tmp_path)
    assert load_directories([others])[0] == []
    assert len(load_directories([others / "members"])[0]) == 1
    assert len(settings.load_rules()) == 1


def test_many_change_one_file_at_once(store_target: str, tmp_path: Path) -> None:
    folders = [another_folder(store_target, tmp_path, f"process{number}") for number in range(4)]
    errors: list[BaseException] = []
    barrier = threading.Barrier(4)

    def work(number: int) -> None:
        try:
            barrier.wait()
            for turn in range(5):
                made = rule(SITE, {f"q.p{number}x{turn}": Ignore()})
                changed_site(folders[number], SITE, lambda found, made=made: type(found)(SITE, (*found.rules, made)))
        except BaseException as error:  # noqa: BLE001 (told below)
            errors.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    for folder in folders:
        assert len(load_sites([folder], [SITE])[0]) == 20
    assert len(texts(store_target)) == 20


@pytest.mark.postgresql
def test_a_server_that_is_away(postgresql: PostgreSQLServer, tmp_path: Path) -> None:
    folder = another_folder(postgresql.url(), tmp_path)
    RuleBook([rule(SITE, {"q.sid": Ignore()})]).save(folder)
    postgresql.stop()
    with pytest.raises(OSError, match="Is the server up") as caught:
        load_directories([folder])
    assert "secret" not in str(caught.value)
    with pytest.raises(RuleWriteError, match=rf"store:{SITE}\.toml: cannot be written"):
        RuleBook([rule(SITE, {"q.x": Ignore()})]).save(folder)
    with pytest.raises(OSError, match="Is the server up"):  # nobody waits for it again at once
        load_directories([another_folder(postgresql.url(), tmp_path, "new")])


def shop(asked: Asked) -> Any:
    if asked.path == "/":
        return page("start", *(f"/p?id={i}&sid={i}x{j}" for j in range(3) for i in range(40)))
    return page(prose(asked.query["id"]))


@in_reactor
async def test_crawls_learn_into_the_store_and_out_of_it(
    serve: Serve, store_target: str, caplog: pytest.LogCaptureFixture
) -> None:
    server = serve(shop)
    settings = {"DEDUP_STORE": store_target, "DEDUP_DIR": "store:", "DEDUP_LEARN": "close"}
    caplog.set_level("INFO", "scrapy_dedup")
    await crawl(Links, server.url("/"), **settings)
    assert "see store:" in caplog.text
    done = await crawl(Links, server.url("/"), **settings)
    assert len(done.items) == 41
    assert "1 rule for 1 site, from store:" in caplog.text
    assert not Path("dedup-rules").exists()
    (name,) = {name for _, name, _ in texts(store_target)}
    assert name.endswith(".toml")


def test_commands(project: Project, serve: Serve, tmp_path: Path) -> None:
    server = serve(shop)
    settings = project.folder / "shop" / "settings.py"
    settings.write_text(settings.read_text() + 'DEDUP_DIR = "store:"\nDEDUP_LEARN = "off"\n')
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}")
    assert done.returncode == 0, done.stderr
    done = project.scrapy("learn-rules")
    assert "The rules are in store:." in done.stdout, done.stderr
    assert project.scrapy("dedup", "check").returncode == 0
    out = project.scrapy("dedup", "copy", "store:", "out")
    assert out.stdout == "1 file copied to out, 0 are the same there.\n", out.stderr
    (file,) = (project.folder / "out").iterdir()
    assert "sid" in file.read_text()
    assert project.scrapy("dedup", "copy", "store:", "out").stdout.startswith("0 files copied")
    file.write_text("# mine\n" + file.read_text())
    assert project.scrapy("dedup", "copy", "out", "store:").stdout.startswith("1 file copied to store:")
    shown = project.scrapy("dedup", "explain", server.url("/p?id=1&sid=x"))
    assert shown.returncode == 0, shown.stderr
    assert "sid" in shown.stdout
    again = project.scrapy("dedup", "copy", "store:", "back")
    assert again.returncode == 0
    assert (project.folder / "back" / file.name).read_text() == file.read_text()
    file.write_text("nonsense")
    wrong = project.scrapy("dedup", "copy", "out", "store:")
    assert wrong.returncode == 2
    assert file.name in wrong.stderr
    assert not (project.folder / "dedup-rules").exists()
    report = project.scrapy("dedup", "report", "-o", "report.html")
    assert report.returncode == 0, report.stderr


@pytest.mark.postgresql
def test_a_site_is_learned_by_one_process_at_a_time(postgresql_url: str) -> None:
    with Store.open(postgresql_url) as one, Store.open(postgresql_url) as two:
        with one.claimed("", ["a.test", "b.test"]) as mine, two.claimed("", ["b.test", "c.test"]) as others:
            assert (mine, others) == ({"a.test", "b.test"}, {"c.test"})
            code = "import sys; from scrapy_dedup.learning.__main__ import main; sys.exit(main(sys.argv[1:]))"
            done = subprocess.run(
                [sys.executable, "-c", code, "--store", postgresql_url, "--dir", "store:", "--site", "a.test"],
                capture_output=True,
                text=True,
                check=True,
            )
            assert '"sites": []' in done.stdout
        with two.claimed("", ["a.test"]) as others:
            assert others == {"a.test"}
