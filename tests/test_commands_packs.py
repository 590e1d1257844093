"""``scrapy learn-rules --pack`` and ``DEDUP_PACKS`` as their user meets them."""

import json
from pathlib import Path
from typing import Any

from scrapy_dedup.packs.pack_files import load_pack
from scrapy_dedup.rules import Ignore, Keep


def seen(*sites: str, noise: str = "style") -> list[dict[str, Any]]:
    """Boards of 20 topics, each under two values of *noise*."""
    return [
        {"url": f"http://{site}/topic.php?t={number}&{noise}={value}", "fingerprint": f"{site} {number}", "words": 100}
        | {"headers": {"x-generator": "Board 2.1"}}
        for site in sites
        for number in range(20)
        for value in ("light", "dark")
    ]


def write(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def test_a_pack_is_made_shown_and_used(project: Any) -> None:
    write(project.folder / "two.jsonl", seen("one.test", "two.test"))
    made = project.scrapy("learn-rules", "--from", "two.jsonl", "--pack", "boards")
    assert made.returncode == 0, made.stderr
    assert "Board: q.style ignore, everywhere: 2 sites for it, 0 against it" in made.stdout
    assert "DEDUP_PACKS = ['boards']" in made.stdout
    pack = load_pack(project.folder / "packs/boards.toml")
    assert {(key, one) for rule in pack.rules for key, one in rule.ops.items()} == {
        ("q.style", Ignore()),
        ("q.t", Keep()),
    }
    assert not (project.folder / "dedup-rules").exists()

    few = [
        row
        for row in seen("three.test")
        if "&style=light" in row["url"] or "t=3&" in row["url"] or "t=4&" in row["url"]
    ]
    write(project.folder / "few.jsonl", few)
    learned = project.scrapy("learn-rules", "--from", "few.jsonl")
    assert "There are no rules to write" in learned.stdout
    learned = project.scrapy("learn-rules", "--from", "few.jsonl", "-s", "DEDUP_PACKS=boards")
    assert "from the pack boards" in learned.stdout
    assert 'pack = "boards"' in (project.folder / "dedup-rules/three.test.toml").read_text()
    explained = project.scrapy("dedup", "explain", "http://three.test/topic.php?t=9&style=dark")
    assert "from the pack boards" in explained.stdout


def test_mistakes_are_one_line_each(project: Any) -> None:
    write(project.folder / "one.jsonl", seen("one.test"))
    done = project.scrapy("learn-rules", "--from", "one.jsonl", "--pack", "boards")
    assert done.returncode == 2
    assert "a pack is made of 2 sites or more, and this is of 1 site (one.test)" in done.stderr
    done = project.scrapy("learn-rules", "--pack", "boards", "--diff")
    assert done.returncode == 2
    assert "--pack goes with --from, --dry-run and --json" in done.stderr
    done = project.scrapy("learn-rules", "-s", "DEDUP_PACKS=starter,boats")
    assert done.returncode == 2
    assert "there is no pack 'boats'. There are 'starter'" in done.stderr
    (project.folder / "packs").mkdir()
    (project.folder / "packs/boats.toml").write_text('format = "dedup-pack/1"\n[[rule]]\nsites = 2\n')
    done = project.scrapy("learn-rules", "-s", "DEDUP_PACKS=starter,boats")
    assert done.returncode == 2
    assert "boats.toml:2: a rule without ops says nothing" in done.stderr
    assert "Traceback" not in done.stderr


def test_json_and_dry_run(project: Any) -> None:
    write(project.folder / "two.jsonl", seen("one.test", "two.test"))
    done = project.scrapy("learn-rules", "--from", "two.jsonl", "--pack", "shared/boards.toml", "--dry-run", "--json")
    assert done.returncode == 0, done.stderr
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert {row["type"] for row in rows} == {"pack rule"}
    assert {"platform": "Board", "ops": "q.style ignore", "sites": 2, "against": 0}.items() <= rows[0].items()
    assert not (project.folder / "shared").exists()
