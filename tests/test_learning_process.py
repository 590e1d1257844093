"""``python -m scrapy_dedup.learning``, as the crawl runs it, and a process that learns again and again: what it remembers changes nothing of what it learns."""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path
from random import Random

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.memory import Memory
from scrapy_dedup.learning.saving import save
from scrapy_dedup.masks.files import load_masks
from scrapy_dedup.rules import Nested
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

from .learning import check, drawn
from .mask_sites import SITE, page, row, words
from .processes import CAN_FORK, run_module
from .store_rows import seen
from .waiting import PATIENCE


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run it forked, where that is possible; a test starts it as a crawl does."""
    if CAN_FORK:
        return run_module("scrapy_dedup.learning", arguments, Path.cwd(), os.environ)
    command = [sys.executable, "-m", "scrapy_dedup.learning", *arguments]
    return subprocess.run(command, input="", capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.fixture
def store(tmp_path: Path) -> Path:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add(
            seen(f"p?id={i}&sid={drawn(i, session)}", f"this is page number {i} of them all")
            for i in range(40)
            for session in range(3)
        )
        opened.add(
            seen(
                "",
                f"this is frame number {i} of them all",
                site="frames.com",
                url=f"http://frames.com/f?url=http%3A%2F%2Fexample.com%2Fp%3Fid%3D{i}%26sid%3D{drawn(i, session)}",
            )
            for i in range(40)
            for session in range(3)
        )
    return path


def test_rules_are_written_and_a_summary_is_printed(store: Path) -> None:
    """One site is learned at a time, as in a crawl; the file of the other one is read for what is nested."""
    for site in ("example.org", "example.com", "frames.com"):
        done = run("--store", str(store), "--dir", "rules", "--site", site)
        assert (done.returncode, done.stderr) == (0, "")
        summary = json.loads(done.stdout)
        sites = [(each["site"], each["removed"], each["duplicates"]) for each in summary["sites"]]
        assert sites == ([(site, 80, 80)] if site != "example.org" else [])
        assert summary["rules"] == len(sites)
    book = RuleBook.load("rules")
    assert [rule.ops for rule in book.for_site("frames.com")] == [{"q.url": Nested()}]
    frame = "http://frames.com/f?url=http%3A%2F%2Fexample.com%2Fp%3Fid%3D9"
    check(
        book,
        f"http://example.com/p?id=9&sid={'a' * 32} == http://example.com/p?id=9",
        f"{frame}%26sid%3D{'a' * 32} == {frame}",
        f"{frame} != {frame}9",
    )


def test_names_of_parameters_are_told(tmp_path: Path) -> None:
    path = tmp_path / "store.sqlite"
    with Store.open(path) as opened:
        opened.add(
            seen(f"p?id={i}&view={view}", f"this is page number {i} of them all") for i in range(5) for view in "ab"
        )
    for kind, rules in (("relevant", 0), ("irrelevant", 1)):
        done = run("--store", str(path), "--dir", kind, "--names", json.dumps({kind: ["view"]}))
        assert json.loads(done.stdout)["rules"] == rules


FAULTY = 'format = "dedup-rules/1"\nsite = "example.com"\n[[rule]]\nstatus = "perhaps"\n'


@pytest.mark.parametrize(
    ("faulty", "content", "more", "said"),
    [
        pytest.param("store.sqlite", "this is no database" * 100, [], "store.sqlite", id="a store that is none"),
        pytest.param("rules/example.com.toml", FAULTY, [], "example.com.toml", id="a rule file that is none"),
        pytest.param("x", "", ["--names", '["view"]'], "it must be a dictionary", id="names that are none"),
    ],
)
def test_what_is_wrong_is_one_line_and_stays_as_it_is(
    store: Path, faulty: str, content: str, more: list[str], said: str
) -> None:
    path = store.parent / faulty
    path.parent.mkdir(exist_ok=True)
    path.write_text(content)
    done = run("--store", str(store), "--dir", str(store.parent / "rules"), *more)
    assert (done.returncode, done.stdout, len(done.stderr.splitlines())) == (1, "", 1)
    assert said in done.stderr
    assert path.read_text() == content


def test_processes_that_learn_one_site_at_once_leave_a_whole_file(store: Path) -> None:
    with ThreadPoolExecutor(3) as pool:
        done = list(pool.map(lambda _: run("--store", str(store), "--dir", "rules", "--site", "example.com"), range(3)))
    assert [(each.returncode, each.stderr) for each in done] == [(0, "")] * 3
    assert len(RuleBook.load("rules")) == len(list(Path("rules").glob("*.toml"))) == 1


# Again and again


def responses(seed: int, pages: int = 30) -> list[ObservationRow]:
    """Responses in the order of a crawl: pages under session ids with a number of visitors, one in ten fetched again."""
    rng = Random(seed)
    urls = [(n, sid) for n in range(pages) for sid in "abc"]
    rng.shuffle(urls)
    asked = [each for number, each in enumerate(urls) for each in ([each, urls[0]] if number % 10 == 9 else [each])]
    return [
        row(
            f"http://{SITE}/p/{n}/x?sid={sid}{n}",
            page(
                words("h", n, number=3),
                f"<p>{words('main', n, number=40)}</p><p class=on>{rng.randrange(900)} visitors now</p>",
            ),
            1e9 + at,
        )
        for at, (n, sid) in enumerate(asked)
    ]


def learned(store: Store, directory: Path, remembered: Memory) -> LearnedRulesAndMasks:
    """Learn beside what the files of a directory say, and write what was learned into them."""
    directory.mkdir(exist_ok=True)
    known, masks = RuleBook.load(directory), load_masks([directory])
    found = learn_rules_and_masks(StoredEvidence(store, "", [SITE], memory=remembered), known=known, masks=masks)
    save(found, directory)
    return found


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@pytest.mark.parametrize("seed", [0, 1])
def test_increments_teach_what_learning_from_nothing_teaches(seed: int, tmp_path: Path) -> None:
    """After each of several parts of a crawl, the files of a process that stays and of new ones are the same, byte by byte."""
    rows, staying = responses(seed), Memory()
    cuts = [0, *sorted(Random(seed).sample(range(40, len(rows)), 2)), len(rows)]
    with_memory, without = tmp_path / "with", tmp_path / "without"
    with Store.open(tmp_path / "store.sqlite") as store:
        for start, end in pairwise(cuts):
            store.add(rows[start:end])
            one, other = learned(store, with_memory, staying), learned(store, without, Memory())
            assert files(with_memory) == files(without)
            assert one.learned.reports == other.learned.reports
            assert (one.masks, one.refetches) == (other.masks, other.refetches)
    url = f"http://{SITE}/p/{{}}/x?sid=new"
    check(RuleBook.load(with_memory), f"{url.format(3)} == {url.format(3)}er", f"{url.format(3)} != {url.format(4)}")
    assert one.masks[SITE].places


def test_another_order_and_other_moments_teach_the_same(tmp_path: Path) -> None:
    """At the end of a crawl the rules are the same, in whatever order its responses came, and however often it was learned."""
    rows, found = responses(0), []
    for name, order, moments in (("one", rows, (50, 80)), ("other", rows[::-1], (70,))):
        staying = Memory()
        with Store.open(tmp_path / f"{name}.sqlite") as store:
            for start, end in zip((0, *moments), (*moments, len(order)), strict=True):
                # Other URLs come first; of one URL the responses come in the order of their times.
                part = sorted(order[start:end], key=lambda each: each.url)
                store.add(sorted(part, key=lambda each: each.time) if order is rows else part)
                learned(store, tmp_path / name, staying)
        found.append({rule.id for rule in RuleBook.load(tmp_path / name)})
    assert found[0] == found[1] != set()
