"""What masks must never cost: lists that are pushed on, kinds of pages that last, rules refuted, files kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest

from scrapy_dedup import Mask, RuleBook
from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.content.mask import TransientPath
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.learning import fixed_point
from scrapy_dedup.learning.clusters import NO_EVIDENCE, clusters
from scrapy_dedup.learning.fixed_point import Both, Evidence, learn_both
from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Status
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store

SITE = "a.example"
DAY = 86_400.0
Pages = dict[str, str]


def words(*names: object, number: int = 7) -> str:
    """Words that are always the same for the same names."""
    return " ".join(f"word{n}" for n in Random(repr(names)).choices(range(3000), k=number))


def page(heading: str, main: str) -> str:
    return (
        f"<html><head><title>{heading}</title></head><body><nav>Home News About us Contact Terms Imprint</nav>"
        f"<main><h1>{heading}</h1>{main}</main><footer>Copyright by the shop and its owners</footer></body></html>"
    )


def items(headlines: Iterable[str]) -> str:
    return "<ul class=list>" + "".join(f"<li><a href='/a'>{each}</a></li>" for each in headlines) + "</ul>"


def news(crawl: int, new: int = 4, categories: int = 15, pages: int = 6) -> Pages:
    """Paginated lists of ten headlines a page; before each crawl, *new* ones come in front and push the others on."""
    found = {}
    for category in range(categories):
        fresh = [words(category, -k, n) for k in range(crawl, 0, -1) for n in range(new)]
        lines = fresh + [words(category, 0, n) for n in range(10 * pages)]
        for number in range(pages):
            heading = f"Latest news of {words('heading', category, number=3)}"
            url = f"http://{SITE}/news/{category}/list?page={number + 1}"
            found[url] = page(heading, items(lines[10 * number : 10 * number + 10]))
    return found


def row(url: str, html: str, time: float) -> ObservationRow:
    found = fingerprint_body(html.encode(), "text/html; charset=utf-8")
    return ObservationRow("", SITE, url, time, 200, fingerprints=found, version=version_of(html).to_bytes())


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "evidence.sqlite") as found:
        yield found


def crawl(store: Store, *crawls: Pages) -> None:
    rows = [
        row(url, html, 1e9 + number * DAY + at)
        for number, pages in enumerate(crawls)
        for at, (url, html) in enumerate(pages.items())
    ]
    store.add(rows)


def learned(store: Store, known: RuleBook | None = None, **more: Any) -> Both:
    return learn_both(Evidence(store, "", [SITE]), known=known or RuleBook(), **more)


def counters(crawl: int, pages: int = 30) -> Pages:
    """Pages with a session id that does not matter, and a number of visitors that changes."""
    rng = Random(crawl)
    return {
        f"http://{SITE}/p/{n}/x?sid={sid}{n}": page(
            words("h", n, number=3),
            f"<p>{words('main', n, number=40)}</p><p class=on>{rng.randrange(900)} visitors now</p>",
        )
        for n in range(pages)
        for sid in "abc"
    }


def acting(both: Both) -> list[str]:
    return [rule.id for rule in both.learned.book if rule.status.acts]


# -- what stands when time is up


def test_rules_of_an_earlier_round_stand_when_time_is_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(store, counters(0), counters(1))
    rounds = []

    def late(observations: Iterable[Observation], **options: Any) -> Learned:
        rounds.append(options["masks"])
        if len(rounds) > 1:
            options["deadline"] = monotonic() - 1
        return learn(observations, **options)

    whole = learned(store)
    assert acting(whole)
    monkeypatch.setattr(fixed_point, "learn", late)
    both = learned(store, deadline=monotonic() + 1000)
    assert acting(both) == acting(whole)
    assert [report.site for report in both.learned.reports] == [SITE]
    first = rounds[0]
    assert both.masks == first, "the mask that they were learned with"


def test_sites_that_were_not_learned_keep_their_files(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl(store, counters(0), counters(1))
    learned(store).learned.book.save(tmp_path / "rules")
    before = list(RuleBook.load(tmp_path / "rules"))
    assert before

    def late(observations: Iterable[Observation], **options: Any) -> Learned:
        return learn(observations, **{**options, "deadline": monotonic() - 1})

    monkeypatch.setattr(fixed_point, "learn", late)
    both = learned(store)
    assert not both.learned.book.sites
    assert not both.masks
    both.learned.book.save(tmp_path / "rules")
    assert list(RuleBook.load(tmp_path / "rules")) == before


def test_the_mask_is_the_one_that_the_rules_were_learned_with(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(store, counters(0), counters(1))
    used = []

    def told(observations: Sequence[Observation], **options: Any) -> Learned:
        used.append((options["masks"] or {}).get(SITE))
        return learn(observations, **options)

    monkeypatch.setattr(fixed_point, "learn", told)
    monkeypatch.setattr(fixed_point, "MOST_ROUNDS", 1)
    both = learned(store)
    assert [both.masks.get(SITE)] == used


# -- what was said before


def test_a_mask_with_nothing_left_to_say_is_renewed(store: Store, tmp_path: Path) -> None:
    pages = {f"http://{SITE}/p/{n}/x": page(words(n), f"<p>{words(n, number=30)}</p>") for n in range(12)}
    crawl(store, pages, pages, pages)
    old = Mask(SITE, (TransientPath("html/body/main/p"),))
    assert learned(store).masks == {}
    both = learned(store, masks={SITE: old})
    assert both.masks[SITE].paths == ()
    path = old.save(tmp_path / "a.mask.toml")
    both.masks[SITE].save(path)
    assert not Mask.load(path).version


def test_a_mask_never_brings_a_refuted_rule_back(store: Store) -> None:
    """What hides that pages differ says nothing for the rule that lost them."""
    crawl(store, counters(0), counters(1))
    found = [rule for rule in learned(store).learned.book if rule.status.acts]
    assert found
    refuted = [
        replace(rule, status=Status.SUSPENDED, evidence=replace(rule.evidence, refuted_at=int(1e9 + DAY / 2)))
        for rule in found
        if rule.evidence is not None
    ]
    both = learned(store, RuleBook(refuted))
    assert both.masks[SITE].version
    assert not {rule.id for rule in refuted} & set(acting(both))


# -- what lasts of a page is enough to tell it by


def observed(pages: Pages) -> list[Observation]:
    found = []
    for url, html in pages.items():
        prints = fingerprint_body(html.encode(), "text/html; charset=utf-8")
        found.append(Observation(url, prints.text, bag=prints.bag, words=prints.words, version=version_of(html)))
    return found


def test_a_mask_that_hides_most_of_a_page_makes_no_pages_equal(store: Store) -> None:
    hides_lists = Mask(SITE, (TransientPath("html/body/main/ul.list/li/a"),))
    found = clusters(observed(news(0)), hides_lists)
    assert not found.urls
    assert found.left_out == {"what is its own passes": 90}
    crawl(store, news(0, pages=3), news(1, pages=3))
    both = learned(
        store, masks={SITE: replace(hides_lists, paths=(TransientPath("html/body/main/ul.list/li/a", state="strip"),))}
    )
    assert not acting(both)


def test_what_all_pages_show_and_what_is_hidden_of_many_is_no_page_s_own() -> None:
    """A large advertisement of a few is no loss; a page whose frame alone lasts says nothing."""
    hides = Mask(SITE, (TransientPath("html/body/main/p.ad"),))
    pages = {}
    for n in range(30):
        advertisement = f"<p class=ad>{words('ad', n % 5, number=60)}</p>"
        pages[f"http://{SITE}/p/{n}/x"] = page(words("h", n // 2), advertisement)
    found = clusters(observed(pages), hides)
    assert (len(found.urls), found.pages) == (30, 15)
    frames = {url: page(f"News {n // 2}", f"<p class=ad>{words(n, number=3)}</p>") for n, url in enumerate(pages)}
    assert not set(clusters(observed(frames), hides).content) - {NO_EVIDENCE}
