"""Masks and rules together: what stands when time is up, what was said before, and what no mask may cost."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest

from scrapy_dedup import Mask, Observation, RuleBook, learn_mask
from scrapy_dedup.learning import alternation
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.contents import Contents
from scrapy_dedup.learning.data.clusters import clusters
from scrapy_dedup.learning.deadline import Deadline
from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.learning.learning_options import DEFAULTS, LearningOptions
from scrapy_dedup.learning.site_masks import SiteMasks
from scrapy_dedup.masks.model import Place
from scrapy_dedup.observation import KeptPage
from scrapy_dedup.pages.response import fingerprint_body, version_of
from scrapy_dedup.rules import Evidence as RuleEvidence
from scrapy_dedup.rules import Ignore, Rule, Status
from scrapy_dedup.store.store import Store

from .mask_sites import SITE, page, row, words

PAST = Deadline(monotonic() - 1)
DAY = 86_400.0
Pages = dict[str, str]


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


def learned(
    store: Store, known: RuleBook | None = None, options: LearningOptions = DEFAULTS, **more: Any
) -> LearnedRulesAndMasks:
    return learn_rules_and_masks(StoredEvidence(store, "", [SITE]), options, known=known or RuleBook(), **more)


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


def acting(both: LearnedRulesAndMasks) -> list[str]:
    return [rule.id for rule in both.learned.book if rule.status.acts]


# -- what stands when time is up


def test_rules_of_an_earlier_round_stand_when_time_is_up(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(store, counters(0), counters(1))
    rounds = []

    def late(observations: Iterable[Observation], options: LearningOptions, **more: Any) -> Learned:
        rounds.append(more["masks"])
        if len(rounds) > 1:
            options = replace(options, deadline=PAST)
        return learn(observations, options, **more)

    whole = learned(store)
    assert acting(whole)
    monkeypatch.setattr(alternation, "learn", late)
    both = learned(store, options=LearningOptions(deadline=Deadline(monotonic() + 1000)))
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

    def late(observations: Iterable[Observation], options: LearningOptions, **more: Any) -> Learned:
        return learn(observations, replace(options, deadline=PAST), **more)

    monkeypatch.setattr(alternation, "learn", late)
    both = learned(store)
    assert not both.learned.book.sites
    assert not both.masks
    both.learned.book.save(tmp_path / "rules")
    assert list(RuleBook.load(tmp_path / "rules")) == before


def test_the_mask_is_the_one_that_the_rules_were_learned_with(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl(store, counters(0), counters(1))
    used = []

    def told(observations: Sequence[Observation], options: LearningOptions, **more: Any) -> Learned:
        used.append((more["masks"] or {}).get(SITE))
        return learn(observations, options, **more)

    monkeypatch.setattr(alternation, "learn", told)
    monkeypatch.setattr(alternation, "MOST_ROUNDS", 1)
    both = learned(store)
    assert [both.masks.get(SITE)] == used


# -- what was said before


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


def sizes(crawl: int, pages: int = 15, *, again: bool = False) -> Pages:
    """Products of several sizes, with what each weighs and costs; *again*: and a number of visitors that changes."""
    return {
        f"http://{SITE}/p/{n}/x?size={size}": page(
            words("h", n, number=3),
            f"<p>{words('main', n, number=40)}</p>"
            f"<p class=weight>{Random(f'{n}{size}').randrange(90, 9000)} grams, {size} by hand</p>"
            + (f"<p class=on>{Random(f'{n}{size}{crawl}').randrange(900)} visitors now</p>" if again else ""),
        )
        for n in range(pages)
        for size in "abc"
    }


def places(mask: Mask | None, *, comparing: bool = True) -> list[str]:
    found = () if mask is None else (mask.comparing if comparing else mask.stripping).places
    return [place.selector.rpartition("/")[2] for place in found]


@pytest.mark.parametrize("again", [False, True])
def test_a_refuted_rule_takes_what_it_taught_with_it(store: Store, again: bool) -> None:
    """What differs between URLs that a wrong rule took for one page is content; what it did not teach stays passing."""
    crawls = [sizes(k, again=again) for k in range(2 if again else 1)]
    crawl(store, *crawls)
    kept = [
        KeptPage(url, 1e9 + k * DAY, version_of(html)) for k, pages in enumerate(crawls) for url, html in pages.items()
    ]
    wrong = Rule(
        site=SITE, status=Status.ACTIVE, ops={"q.size": Ignore()}, evidence=RuleEvidence(refuted_at=int(1e9 + 3 * DAY))
    )
    taught = SiteMasks(SITE, kept).mask(RuleBook([wrong]).canonical_key, None).mask
    assert taught is not None
    assert "p.weight" in places(taught), "else the test shows nothing"
    book = RuleBook([replace(wrong, status=Status.SUSPENDED)])
    mask = learned(store, book, masks={SITE: taught}).masks[SITE]
    assert places(mask) == (["p.on"] if again else [])
    # What the user has said of the same place stays.
    said = replace(taught, places=tuple([replace(place, state="strip") for place in taught.places]))
    assert "p.weight" in places(learned(store, book, masks={SITE: said}).masks[SITE])


# -- what lasts of a page is enough to tell it by


def observed(pages: Pages) -> list[Observation]:
    found = []
    for url, html in pages.items():
        prints = fingerprint_body(html.encode(), "text/html; charset=utf-8")
        found.append(
            Observation(
                url, prints.text, bag=prints.bag, words=prints.words, sketch=prints.sketch, version=version_of(html)
            )
        )
    return found


def test_a_mask_that_hides_most_of_a_page_makes_no_pages_equal(store: Store) -> None:
    hides_lists = Mask(SITE, (Place("html/body/main/ul.list/li/a"),))
    found = clusters(observed(news(0)), hides_lists)
    assert not found.urls
    assert found.left_out == {"most of what is its own does not last": 90}
    crawl(store, news(0, pages=3), news(1, pages=3))
    both = learned(
        store, masks={SITE: replace(hides_lists, places=(Place("html/body/main/ul.list/li/a", state="strip"),))}
    )
    assert not acting(both)


def test_what_all_pages_show_and_what_is_hidden_of_many_is_no_page_s_own() -> None:
    """A large advertisement of a few is no loss; a page whose frame alone lasts says nothing."""
    hides = Mask(SITE, (Place("html/body/main/p.ad"),))
    pages = {}
    for n in range(30):
        advertisement = f"<p class=ad>{words('ad', n % 5, number=60)}</p>"
        pages[f"http://{SITE}/p/{n}/x"] = page(words("h", n // 2), advertisement)
    found = clusters(observed(pages), hides)
    assert (len(found.urls), found.pages) == (30, 15)
    frames = {url: page("News", f"<p class=ad>{words(n, number=30)}</p>") for n, url in enumerate(pages)}
    seen = observed(frames)
    contents = Contents(seen, hides)
    assert not [each for each in seen if getattr(contents.of(each), "is_told", False)]


# -- what moves to another page has not passed


@pytest.mark.parametrize("new", [1, 4, 10])
def test_a_list_that_is_pushed_on_does_not_pass(store: Store, new: int) -> None:
    crawl(store, news(0, new), news(1, new))
    both = learned(store)
    assert not [each for mask in both.masks.values() for each in places(mask, comparing=False)]
    (report,) = both.learned.reports
    assert not report.removed


@pytest.mark.parametrize("crawls", [2, 3, 5])
def test_pushed_on_from_page_to_page_in_many_crawls(crawls: int) -> None:
    seen = [news(k, categories=4) for k in range(crawls)]
    mask = learn_mask({url: [pages[url] for pages in seen] for url in seen[0]})
    assert not mask.version


def test_a_list_that_is_pushed_on_under_two_urls(store: Store) -> None:
    """Its pages are told from others by what lasts of them, whatever passes beside."""
    rng = Random(8)

    def twice(pages: Pages) -> Pages:
        return {
            f"{url}&sid={sid}": html.replace("</ul>", f"</ul><p class=on>{rng.randrange(900)} visitors now</p>")
            for url, html in pages.items()
            for sid in "xy"
        }

    crawl(store, *(twice(news(k)) for k in range(3)))
    both = learned(store)
    assert places(both.masks[SITE]) == ["p.on"]
    assert [set(rule.ops) for rule in both.learned.book if rule.status.acts] == [{"q.sid"}]
    assert both.learned.reports[0].pages == 90


@pytest.mark.parametrize("new", [4, 10])
def test_a_list_that_is_pushed_on_with_pages_missing_in_each_crawl(store: Store, new: int) -> None:
    rng = Random(3)
    crawl(store, *({url: html for url, html in news(k, new).items() if rng.random() < 0.7} for k in range(4)))
    both = learned(store)
    assert not [each for mask in both.masks.values() for each in places(mask, comparing=False)]
    assert not acting(both)
