"""A process that learns again and again: what it remembers changes nothing of what it learns, nor does the order of responses."""

from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.content.versions import Version, version_of
from scrapy_dedup.learning import learn as learn_module
from scrapy_dedup.learning import memory
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.memory import Memory
from scrapy_dedup.learning.saving import save
from scrapy_dedup.learning.site_pages import SitePages
from scrapy_dedup.learning.site_rules import LearnedSite, learn_site
from scrapy_dedup.masks.loading import load_masks
from scrapy_dedup.rules import Ignore, Literal, Rule
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

from .test_masks_learning_losses import SITE, page, row, words


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
    found = learn_rules_and_masks(
        StoredEvidence(store, "", [SITE], memory=remembered),
        known=RuleBook.load(directory),
        masks=load_masks([directory]),
    )
    save(found, directory)
    return found


def files(directory: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(directory.iterdir())}


@pytest.mark.parametrize("seed", range(3))
def test_increments_teach_what_learning_from_nothing_teaches(seed: int, tmp_path: Path) -> None:
    """After each of several parts of a crawl, the files of a process that stays and of new ones are the same, byte by byte."""
    rows, staying = responses(seed), Memory()
    cuts = [0, *sorted(Random(seed).sample(range(40, len(rows)), 3)), len(rows)]
    with_memory, without = tmp_path / "with", tmp_path / "without"
    for each in (with_memory, without):
        each.mkdir()
    with Store.open(tmp_path / "store.sqlite") as store:
        for start, end in pairwise(cuts):
            store.add(rows[start:end])
            one, other = learned(store, with_memory, staying), learned(store, without, Memory())
            assert files(with_memory) == files(without)
            assert one.learned.reports == other.learned.reports
            assert (one.masks, one.refetches) == (other.masks, other.refetches)
    book = RuleBook.load(with_memory)
    assert book.equivalent(f"http://{SITE}/p/3/x?sid=new", f"http://{SITE}/p/3/x?sid=other")
    assert one.masks[SITE].paths


def test_another_order_and_other_moments_teach_the_same(tmp_path: Path) -> None:
    """At the end of a crawl the rules are the same, in whatever order its responses came, and however often it was learned."""
    rows, found = responses(0), []
    for name, order, moments in (("one", rows, (50, 80)), ("other", rows[::-1], (70,)), ("late", rows, ())):
        directory = tmp_path / name
        directory.mkdir()
        staying = Memory()
        with Store.open(tmp_path / f"{name}.sqlite") as store:
            for start, end in zip((0, *moments), (*moments, len(order)), strict=True):
                # Other URLs come first; of one URL the responses come in the order of their times.
                part = sorted(order[start:end], key=lambda each: each.url)
                store.add(sorted(part, key=lambda each: each.time) if order is rows else part)
                learned(store, directory, staying)
        found.append({rule.id for rule in RuleBook.load(directory)})
    assert found[0] == found[1] == found[2] != set()


def test_a_page_is_unpacked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    unpacked = []

    def counted(data: bytes | None) -> Version | None:
        unpacked.append(data)
        return Version.from_bytes(data) if data is not None else None

    monkeypatch.setattr(memory, "version_in", counted)
    rows, staying = responses(0), Memory()
    with Store.open(tmp_path / "store.sqlite") as store:
        for part in (rows[:60], rows[60:]):
            store.add(part)
            learn_rules_and_masks(StoredEvidence(store, "", [SITE], memory=staying), known=RuleBook())
    assert len(unpacked) == len(set(unpacked)) == len({each.version for each in rows})


def test_a_site_is_not_learned_again_from_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nor where a mask that is new tells its pages apart as the one before did; but from anything else it is."""
    found = []

    def counted(*arguments: Any, **more: Any) -> LearnedSite:
        found.append(learn_site(*arguments, **more))
        return found[-1]

    monkeypatch.setattr(learn_module, "learn_site", counted)
    rows = [Observation(f"http://{SITE}/p?id={n}&sid={n}{sid}", f"{n}") for n in range(30) for sid in "abc"]
    staying, known = Memory(), RuleBook()
    one, same = (learn(each, known=known, memory=staying) for each in (rows, rows[::-1]))
    assert len(found) == 1
    assert one.reports == same.reports
    assert [rule.id for rule in one.book] == [rule.id for rule in same.book] != []
    another = learn([*rows, Observation(f"http://{SITE}/p?id=1&sid=1d", "1")], known=known, memory=staying)
    assert len(found) == 2
    assert another.reports != one.reports
    staying.end()
    learn(rows, known=known, memory=staying)
    assert len(found) == 3


def test_the_same_pages_have_the_same_mask(tmp_path: Path) -> None:
    """The mask is not looked for again where other rules take the same URLs for one page."""
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add(responses(0))
        pages = SitePages(SITE, StoredEvidence(store, "", [SITE]).versions(SITE))
    ignoring = [RuleBook([Rule(SITE, {"path.0": Literal(name)}, {"q.sid": Ignore()})]) for name in ("p", "p", "other")]
    by_url, *by_rules = (pages.masks(book, None) for book in (None, *ignoring))
    assert by_rules[0] is by_rules[1]
    assert by_rules[2] == by_url
    assert by_rules[2] is not by_rules[1]


def test_what_was_not_asked_for_is_forgotten() -> None:
    data = version_of("<p>some text</p>").to_bytes()
    staying = Memory()
    one = staying.version(data)
    staying.end()
    assert staying.version(data) is one
    staying.end()
    staying.end()
    assert staying.version(data) is not one
    assert staying.version(data) == one
    assert staying.version(b"damage") is None
    assert staying.version(None) is None
