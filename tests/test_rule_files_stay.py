"""What stands in a rule file stays, byte for byte, until something speaks against it; and so do the canonical keys that it makes."""

import shutil
from collections.abc import Callable, Sequence
from difflib import SequenceMatcher
from pathlib import Path
from random import Random
from typing import Any

import pytest
import tomlkit

from scrapy_dedup import Observation, RuleBook, learn_rules

from .benchmarks import frozen_urls
from .conftest import Project, Serve
from .crawling import Links, crawl, in_reactor, messages
from .server import Asked, page, prose

RULES = Path("dedup-rules")
PAGES = 12
#: Of a site on which "sid" and "ref" tell nothing of a page, and "part" does.
FILE = """\
# Rules of the shop, reviewed by Ann.
format = "dedup-rules/1"
site = "{site}"   # the live one

# Ours: before all others, and in this order.
[[rule]]
id = "printers"
status = "manual"
ops = { "q.print" = 'ignore' }     # not a word more

# The language is the page.
[[rule]]
[rule.ops]
"q.lang" = "keep"

# learned, and looked at in May
[[rule]]
status = "active"
note = "fine"
[rule.ops]
"q.sid" = "ignore"  # only from mails
[rule.evidence]
groups = 40    # many
# end of the learned ones

[[rule]]
status = "off"   # it lost us the archive
[rule.ops]
"q.ref" = "ignore"

[[rule]]
status = "suspended"   # since June
[rule.ops]
"q.view" = "ignore"
[rule.evidence]
groups = 40
samples = 9
refuted = 3
refuted_at = "2026-06-01T12:00:00Z"
"""
WRONG = """
[[rule]]
status = "active"   # to be watched
[rule.ops]
"q.part" = "ignore"   # is it?
[rule.evidence]
groups = 40
# the end
"""


def written(site: str, text: str = FILE) -> Path:
    RULES.mkdir(exist_ok=True)
    path = RULES / f"{site.replace(':', '_')}.toml"
    path.write_text(text.replace("{site}", site), encoding="utf-8")
    return path


def changed(before: str, after: str) -> tuple[list[str], list[str]]:
    """The lines that are gone, and those that are new."""
    one, other = before.splitlines(keepends=True), after.splitlines(keepends=True)
    steps = [step for step in SequenceMatcher(None, one, other, autojunk=False).get_opcodes() if step[0] != "equal"]
    gone = [line for _, begin, end, _, _ in steps for line in one[begin:end]]
    return gone, [line for _, _, _, begin, end in steps for line in other[begin:end]]


def seen(
    pages: Sequence[int], *, forms: int = 2, section: str = "p", differ: bool = False, **fields: Any
) -> list[Observation]:
    """Pages under so many session ids each; where they *differ*, each session shows a page of its own."""
    return [
        Observation(
            f"http://shop.example/{section}/{number}?sid={number:08x}{form:024x}&ref={form}",
            f"the page {section} {number}" + (f" of session {form}" if differ else ""),
            time=2e9 + form,
            words=50,
            **fields,
        )
        for number in pages
        for form in range(forms)
    ]


LITTLE: dict[str, Callable[[], list[Observation]]] = {
    "nothing": list,
    "nothing but errors": lambda: seen(range(20), forms=1, status=404),
    "no duplicate, since the rule filters them": lambda: seen(range(60), forms=1),
    "twenty other pages": lambda: seen(range(100, 120), forms=1),
    "another section": lambda: seen(range(20), forms=1, section="news"),
    "one duplicate": lambda: seen([1]),
    "a few duplicates": lambda: seen(range(5)),
    "no time": lambda: seen(range(40)),
    "as many as it rests on": lambda: seen(range(40)),
    "duplicates of what is off": lambda: [
        Observation(f"http://shop.example/p/{number}?ref={form}", f"page {number}", time=2e9, words=50)
        for number in range(40)
        for form in range(2)
    ],
}


@pytest.mark.parametrize("name", LITTLE)
def test_want_of_evidence_moves_nothing(name: str) -> None:
    path = written("shop.example")
    before = path.read_text(encoding="utf-8")
    learn_rules(LITTLE[name](), known=RuleBook.load(RULES), deadline=0.0 if name == "no time" else None).save(RULES)
    assert path.read_text(encoding="utf-8") == before


def test_what_is_learned_is_added() -> None:
    path = written("shop.example")
    before = path.read_text(encoding="utf-8")
    rows = [
        Observation(f"http://shop.example/q/{n}?from={form}x{n}&sid={form}", f"page {n}", time=2e9, words=50)
        for n in range(40)
        for form in range(2)
    ]
    learn_rules([*rows, *seen(range(40))], known=RuleBook.load(RULES)).save(RULES)
    after = path.read_text(encoding="utf-8")
    gone, new = changed(before, after)
    assert not gone
    assert any(line.startswith('"q.from" = ') for line in new)
    assert not any(line.startswith(('"q.ref"', '"q.sid"')) for line in new), "what is off is not learned back"
    learn_rules([*rows[:4], *seen([1])], known=RuleBook.load(RULES)).save(RULES)
    assert path.read_text(encoding="utf-8") == after, "and stays when there is less"


class Shop:
    """Pages in two parts under session ids, linked from one to the next."""

    def __call__(self, asked: Asked) -> Any:
        number, part = int(asked.query.get("id", "0")), asked.query.get("part", "1")
        drawn = Random(f"{number} {part}")
        links = [
            f"/p?id={n}&part={p}&sid={drawn.getrandbits(64):016x}"
            for n in [(number + 1) % PAGES, *drawn.sample(range(PAGES), 2)]
            for p in (1, 2)
        ]
        return page(prose(f"page {asked.path} {number} {part}"), *links)


@in_reactor
async def test_a_file_through_crawls(serve: Serve, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    """Crawls that learn, with the store and without, of another scope, cut off, and one that suspends a rule; then ``learn-rules``."""
    monkeypatch.chdir(project.folder)
    server = serve(Shop())
    site = f"127.0.0.1:{server.port}"
    path = written(site)
    before = path.read_text(encoding="utf-8")
    every = {(n, p) for n in map(str, range(PAGES)) for p in "12"}

    async def crawled(**settings: Any) -> Any:
        server.reset()
        return await crawl(Links, server.url("/"), **settings)

    for settings in (
        {"DEDUP_LEARN": "live", "DEDUP_SAMPLE": 0.3},
        {"DEDUP_LEARN": "close", "CLOSESPIDER_PAGECOUNT": 15},
        {"DEDUP_LEARN": "close", "DEDUP_SCOPE": "members"},
    ):
        done = await crawled(**settings)
        assert path.read_text(encoding="utf-8") == before, settings
        if settings["DEDUP_LEARN"] == "live":
            shown = {(asked.query["id"], asked.query["part"]) for asked in server.asked if asked.path == "/p"}
            assert shown == every, "no page is lost"
            assert server.downloads <= 1 + 2 * PAGES + done.stats["dedup/samples"], "and the rule filters what it did"
    shutil.rmtree(".scrapy")
    await crawled(DEDUP_LEARN="close")
    assert path.read_text(encoding="utf-8") == before, "without the store"

    path = written(site, FILE + WRONG)
    both = path.read_text(encoding="utf-8")
    await crawled(DEDUP_SAMPLE=0.5)
    suspended = path.read_text(encoding="utf-8")
    status = 'status = "{}"   # to be watched\n'
    gone, new = changed(both, suspended)
    assert gone == [status.format("active")]
    assert status.format("suspended") in new
    assert suspended.startswith(both.partition(gone[0])[0]), "nothing changes but the rule that was refuted"
    (rule,) = [rule for rule in tomlkit.parse(suspended)["rule"] if "q.part" in rule["ops"]]
    assert 0 < rule["evidence"]["refuted"] <= rule["evidence"]["samples"]
    for arguments in ([], ["--from", "little.jsonl"]):
        project.write("little.jsonl", f'["{server.url("/p?id=1&part=1&sid=a")}", "one"]')
        said = project.scrapy("learn-rules", *arguments)
        assert said.returncode == 0, said.stderr
        assert path.read_text(encoding="utf-8") == suspended


@in_reactor
async def test_a_rule_that_pages_contradict_goes_with_a_warning(serve: Serve, caplog: pytest.LogCaptureFixture) -> None:
    """Nothing is filtered on the way, so that the crawl sees both pages of what the rule says is one."""
    server = serve(Shop())
    site = f"127.0.0.1:{server.port}"
    path = written(site, FILE + WRONG)
    await crawl(Links, server.url("/"), DEDUP_LEARN="close", DEDUP_SITES={site: "shadow"})
    gone, _ = changed(FILE.replace("{site}", site) + WRONG, path.read_text(encoding="utf-8"))
    assert not set(gone) - set(WRONG.splitlines(keepends=True))
    assert '"q.part" = "ignore"   # is it?\n' in gone
    (told,) = [message for message in messages(caplog) if "is dropped" in message]
    assert f"of {site} is dropped" in told
    assert told.count("/p?id=") == 2, "the two pages are named"


def test_frozen_files_are_written_as_they_were(tmp_path: Path) -> None:
    copied = shutil.copytree(frozen_urls.RULES, tmp_path / "rules")
    RuleBook.load(copied).save(copied)
    assert {path.name: path.read_bytes() for path in copied.iterdir()} == {
        path.name: path.read_bytes() for path in frozen_urls.RULES.iterdir()
    }


def test_frozen_urls_have_the_keys_that_they_had() -> None:
    assert frozen_urls.digests() == frozen_urls.frozen(), (
        "``python -m tests.benchmarks.frozen_urls BLOCK`` prints one that differs"
    )
