"""``scrapy learn-rules`` as its user meets it: real processes in temporary folders."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from .server import Asked, page, prose

SITE = "shop.test"


def observations(pages: int = 60) -> list[dict[str, object]]:
    """Each page under two session ids; page=N is another page."""
    rows: list[dict[str, object]] = []
    for number in range(pages):
        for copy in range(2):
            sid = f"{number * 7919 + copy * 104729:032x}"
            url = f"http://{SITE}/view?id={number}&sid={sid}"
            rows.append({"url": url, "fingerprint": f"text{number}", "words": 200})
    return rows


def write_rows(path: Path, rows: list[dict[str, object]]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def complaints(stderr: str) -> list[str]:
    """Return what a command said on standard error, but that it is at work."""
    return [line for line in stderr.splitlines() if not line.startswith("learning from ")]


def shop(asked: Asked) -> str | int:
    """A shop of 40 pages whose links each carry a new session id."""
    number = int(asked.query.get("id", "0"))
    links = [f"/?id={(number * 3 + step) % 40}&sid={number * 50 + step:016x}" for step in range(1, 5)]
    return page(prose(number), *links) if asked.path == "/" else 404


def test_from_file_writes_rules(project):
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", fresh=True)
    assert done.returncode == 0, done.stderr
    assert complaints(done.stderr) == []
    assert SITE in done.stdout
    assert "q.sid" in done.stdout
    assert "100%" in done.stdout
    text = (project.folder / "dedup-rules" / f"{SITE}.toml").read_text()
    assert "q.sid" in text
    assert project.scrapy("dedup", "check").returncode == 0


def test_a_nested_url_of_another_site(project):
    """URLs (12) to (14) of the document, as many as a rule needs."""
    rows = [
        {"url": f"http://xyz.com/video?irrelevant={7 * n + copy}&url={inner}{n}%3Firrelevant2%3D{11 * n + copy}"}
        | {"fingerprint": f"text{n}", "words": 200}
        for n in range(30)
        for copy in range(3)
        for inner in ["http%3A%2F%2Fabc.com%2Fvideo"]
    ]
    write_rows(project.folder / "seen.jsonl", rows)
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert done.returncode == 0, done.stderr
    assert "100%" in done.stdout
    assert "q.url nested (q.irrelevant2 ignore int{1,6} of abc.com)" in done.stdout
    assert project.scrapy("dedup", "check").returncode == 0
    shown = project.scrapy(
        "dedup", "explain", "http://xyz.com/video?irrelevant=5&url=http%3A%2F%2Fabc.com%2Fvideo%3Firrelevant2%3D7"
    )
    assert shown.returncode == 0, shown.stderr
    assert "http://xyz.com/video?url=http%3A%2F%2Fabc.com%2Fvideo\n" in shown.stdout
    assert "q.url nested (q.irrelevant2 ignore int{1,6} of abc.com)" in shown.stdout


def test_where_there_is_nothing_to_learn_is_said_and_where_no_rule_is_written(project):
    odd = [{"url": url, "fingerprint": "one page"} for url in ("no url", "http://", "mailto:a@b", "?", "#")]
    write_rows(project.folder / "seen.jsonl", odd)
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == "learn-rules: nothing to learn: no URL of what was observed belongs to a site\n"
    write_rows(project.folder / "seen.jsonl", [{"url": "http://alone.test/", "fingerprint": "one page"}])
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert done.returncode == 0
    assert "nothing to learn: no two URLs led to the same page" in done.stdout
    assert "There are no rules to write." in done.stdout
    assert not (project.folder / "dedup-rules").exists()


def test_dry_run_writes_nothing(project):
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "q.sid" in done.stdout
    assert "No file was written" in done.stdout
    assert not (project.folder / "dedup-rules").exists()


def test_outside_a_project(project, tmp_path):
    project.folder = tmp_path / "elsewhere"
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert done.returncode == 0, done.stderr
    assert (project.folder / "dedup-rules" / f"{SITE}.toml").exists()


def test_sites_by_name_host_and_url(project):
    rows = [*observations(), {"url": "http://other.test/", "fingerprint": "x"}]
    write_rows(project.folder / "seen.jsonl", rows)
    for name in (SITE, f"www.{SITE}", f"http://{SITE}/view?id=1"):
        done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--dry-run", name)
        assert done.returncode == 0, done.stderr
        assert SITE in done.stdout
        assert "other.test" not in done.stdout
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "missing.test")
    assert done.returncode == 1
    assert "missing.test" in done.stderr


def test_hand_edits_survive(project):
    write_rows(project.folder / "seen.jsonl", observations())
    project.scrapy("learn-rules", "--from", "seen.jsonl")
    file = project.folder / "dedup-rules" / f"{SITE}.toml"
    file.write_text("# mine\n" + file.read_text())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert done.returncode == 0, done.stderr
    assert file.read_text().startswith("# mine\n")


@pytest.mark.slow
@pytest.mark.parametrize("reactor", [True, pytest.param(False, marks=pytest.mark.reactorless)])
def test_crawl_learn_crawl(project, serve, reactor):
    server = serve(shop)
    crawl = ("crawl", "shop", "-a", f"start={server.url('/?id=0')}", "-s", f"TWISTED_REACTOR_ENABLED={reactor}")
    done = project.scrapy(*crawl, "-s", "DEDUP_LEARN=off", fresh=not reactor)
    assert done.returncode == 0, done.stderr
    first = server.downloads
    assert first > 40
    assert {asked.query["id"] for asked in server.asked} == {str(number) for number in range(40)}
    done = project.scrapy("learn-rules")
    assert done.returncode == 0, done.stderr
    assert "q.sid" in done.stdout
    server.reset()
    assert project.scrapy(*crawl, fresh=not reactor).returncode == 0
    assert server.downloads < first
    assert {asked.query["id"] for asked in server.asked} == {str(number) for number in range(40)}


def test_forget(project, serve):
    server = serve(shop)
    project.scrapy("crawl", "shop", "-a", f"start={server.url()}", "-s", "DEDUP_LEARN=off")
    site = f"127.0.0.1:{server.port}"
    project.write(".scrapy/dedup/report.html", "written before")
    done = project.scrapy("dedup", "forget", "missing.test")
    assert done.returncode == 2
    assert site in done.stderr
    done = project.scrapy("dedup", "forget", site, "-s", "DEDUP_REPORT=None")
    assert done.returncode == 0, done.stderr
    assert site in done.stdout
    assert "with the ledger of its filtered URLs" in done.stdout
    assert str(project.folder / ".scrapy" / "dedup" / "report.html") in done.stdout
    done = project.scrapy("learn-rules")
    assert done.returncode == 1
    assert "nothing is recorded" in done.stderr
    done = project.scrapy("dedup", "forget", site)
    assert (done.returncode, done.stdout) == (1, "")


def test_nothing_recorded_says_what_to_do(project, tmp_path):
    done = project.scrapy("learn-rules")
    assert done.returncode == 1
    assert done.stdout == ""
    assert done.stderr.count("\n") == 1
    for part in ("nothing is recorded", "store.sqlite", "scrapy crawl", "ADDONS"):
        assert part in done.stderr
    assert not (project.folder / ".scrapy" / "dedup" / "store.sqlite").exists()
    project.folder = tmp_path
    assert project.scrapy("learn-rules").returncode == 1


def test_other_scope_is_named(project, serve):
    server = serve({"/": page(prose("start"))})
    project.scrapy("crawl", "shop", "-a", f"start={server.url()}", "-s", "DEDUP_LEARN=off", "-s", "DEDUP_SCOPE=members")
    done = project.scrapy("learn-rules")
    assert done.returncode == 1
    assert "'members'" in done.stderr
    assert project.scrapy("learn-rules", "-s", "DEDUP_SCOPE=members").returncode == 0


def test_spider_settings(project):
    spider = project.folder / "shop" / "spiders" / "shop.py"
    spider.write_text(
        spider.read_text().replace('name = "shop"', 'name = "shop"\n    custom_settings = {"DEDUP_DIR": "shop-rules"}')
    )
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--spider", "shop")
    assert done.returncode == 0, done.stderr
    assert (project.folder / "shop-rules" / f"{SITE}.toml").exists()
    done = project.scrapy("learn-rules", "--spider", "shpo")
    assert done.returncode == 2
    assert "'shpo'" in done.stderr
    assert "shop" in done.stderr


def test_check_names_file_and_line(project):
    head = 'format = "dedup-rules/1"\nsite = "bad.test"\n\n[[rule]]\n'
    project.write("dedup-rules/bad.test.toml", head + 'status = "activ"\nops = { "q.sid" = "ignore" }\n')
    done = project.scrapy("dedup", "check")
    assert done.returncode == 1
    assert "bad.test.toml:5: status is 'activ'" in done.stderr
    assert "manual" in done.stderr
    assert "Traceback" not in done.stderr
    done = project.scrapy("dedup", "check", "--json")
    (fault,) = map(json.loads, done.stdout.splitlines())
    assert (done.returncode, fault["type"], fault["line"]) == (1, "fault", 5)
    assert fault["file"].endswith("bad.test.toml")
    assert fault["problem"].startswith("status is 'activ'")
    assert fault["remedy"]


@pytest.mark.parametrize(
    ("args", "said"),
    [
        (["--dryrun"], "--dryrun"),
        (["--from"], "--from"),
        (["--from", "missing.jsonl"], "missing.jsonl"),
        (["--from", "bad.jsonl"], "bad.jsonl, line 1"),
        (["--from", "bad.jsonl", "--probe", "3"], "--from and --probe"),
        (["--method", "list", "--json"], "--method list and --json do not go together"),
        (["-s", "DEDUP_MODE=fast"], "DEDUP_MODE"),
        (["-s", "DEDUP_STORE=notes.txt"], "notes.txt"),
    ],
)
def test_mistakes_are_told_in_a_line(project, args, said):
    project.write("bad.jsonl", '{"url": "http://a.test/"}\n{"url": 1}\n')
    project.write("notes.txt", "This is no database, but a text of some length. " * 40)
    done = project.scrapy("learn-rules", *args)
    assert done.returncode == 2, (done.stdout, done.stderr)
    assert said in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr
    assert not (project.folder / "dedup-rules").exists()


def test_faulty_rule_file_stops_learning_and_stays_as_it_is(project):
    text = f'format = "dedup-rules/1"\nsite = "{SITE}"\nrule = 3\n'
    file = project.write(f"dedup-rules/{SITE}.toml", text)
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert done.returncode == 2
    assert file.name in done.stderr
    assert file.read_text() == text


def test_folder_that_cannot_be_written(project):
    write_rows(project.folder / "seen.jsonl", observations())
    project.write("occupied", "a file where a folder would have to be")
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "-s", "DEDUP_DIR=occupied/rules")
    assert done.returncode == 2
    assert "occupied" in done.stderr
    assert "Traceback" not in done.stderr


def test_listed_and_explained_by_scrapy(project):
    done = project.scrapy("-h")
    assert "learn-rules" in done.stdout
    assert "Show, check, explain" in done.stdout
    done = project.scrapy("learn-rules", "-h")
    for option in ("--dry-run", "--from", "--spider", "--diff", "--json", "Exit codes"):
        assert option in done.stdout


def test_commands_import_nothing_heavy(project):
    """Scrapy imports the commands whatever it is asked to do."""
    probe = "import sys, scrapy_dedup.commands; print([m for m in ('numpy', 'sqlalchemy', 'rich') if m in sys.modules])"
    done = project.python("-c", probe)
    assert done.stdout.strip() == "[]", done.stderr


def test_what_changes_is_told(project):
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--dry-run")
    assert f"{SITE}: +1 rule\n" in done.stdout
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--diff")
    assert done.returncode == 0, done.stderr
    assert f"{SITE}: +1 rule\n  + " in done.stdout
    assert "q.sid ignore" in done.stdout
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--diff")
    assert f"{SITE}: 1 rule unchanged\n" in done.stdout
    assert "q.sid" not in done.stdout


def test_lines_of_json(project):
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--json")
    assert done.returncode == 0, done.stderr
    site, rule = map(json.loads, done.stdout.splitlines())
    assert (site["type"], site["site"], site["urls"], site["pages"], site["duplicates"]) == ("site", SITE, 120, 60, 60)
    assert (site["would_skip"], site["changes"]["added"]) == (60, [rule["id"]])
    assert (rule["type"], rule["site"], rule["status"], list(rule["ops"])) == ("rule", SITE, "active", ["q.sid"])
    assert rule["evidence"]["groups"] > 0
    done = project.scrapy("dedup", "prune", "--json")
    assert (done.returncode, done.stdout) == (1, ""), "nothing is recorded"


def test_lines_are_not_broken_where_nobody_looks(project):
    write_rows(project.folder / "seen.jsonl", observations())
    done = project.scrapy("learn-rules", "--from", "seen.jsonl")
    assert not any(line.endswith(" ") for line in done.stdout.splitlines())
    assert any(len(line) > 80 for line in done.stdout.splitlines())


def test_where_the_output_is_ascii_tables_have_lines_of_it(project):
    found = [
        {"url": f"http://shop.test/p/{page}?sid={page * 4 + copy:032x}", "body": f"<p>é {prose(page)}</p>"}
        for page in range(20)
        for copy in range(4)
    ]
    project.write("pages.jsonl", "".join(json.dumps(each) + "\n" for each in found))
    done = subprocess.run(
        [sys.executable, "-m", "scrapy", "learn-rules", "--from", "pages.jsonl"],
        cwd=project.folder,
        env={**project.environment, "PYTHONIOENCODING": "ascii"},
        capture_output=True,
        encoding="ascii",
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "-------" in done.stdout
    assert "shop.test: +1 rule\n" in done.stdout
    assert "q.sid ignore" in done.stdout
