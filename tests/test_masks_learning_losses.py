"""What masks must never cost: lists that are pushed on, kinds of pages that last, rules refuted, files kept."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from time import monotonic
from typing import Any

import pytest

from scrapy_dedup import Mask, RuleBook, learn_mask
from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.learning import alternation
from scrapy_dedup.learning.alternation import LearnedRulesAndMasks, StoredEvidence, learn_rules_and_masks
from scrapy_dedup.learning.data.clusters import NO_EVIDENCE, clusters
from scrapy_dedup.learning.deadline import Deadline
from scrapy_dedup.learning.learn import Learned, learn
from scrapy_dedup.learning.learning_options import DEFAULTS, LearningOptions
from scrapy_dedup.learning.site_pages import SitePages, _with_visits
from scrapy_dedup.masks.learning import mask_of
from scrapy_dedup.masks.learning.counts.epochs import PageVersions
from scrapy_dedup.masks.learning.single_crawl.visits import TransientPlaces, transient_places
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.observation import Observation
from scrapy_dedup.rules import Evidence as RuleEvidence
from scrapy_dedup.rules import Ignore, Rule, Status
from scrapy_dedup.store.rows import ObservationRow
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls.templates import template_of
from tests.test_masks_learning_visits import shop

SITE = "a.example"
PAST = Deadline(monotonic() - 1)
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


def compared(mask: Mask, url: str, html: str) -> list[str]:
    """The words that a page is compared by."""
    whole, cut = mask.parted(version_of(html), url=url)
    return " ".join([*whole, *(rest for _, rest in cut)]).split()


def shown(mask: Mask | None) -> list[str]:
    return [path.selector.rpartition("/")[2] for path in (mask.paths if mask else ()) if path.is_left_out]


@pytest.mark.parametrize("again", [False, True])
def test_a_refuted_rule_takes_what_it_taught_with_it(store: Store, again: bool) -> None:
    """What differs between URLs that a wrong rule took for one page is content; what it did not teach stays passing."""
    crawls = [sizes(k, again=again) for k in range(2 if again else 1)]
    crawl(store, *crawls)
    kept = [(url, 1e9 + k * DAY, version_of(html)) for k, pages in enumerate(crawls) for url, html in pages.items()]
    kept.sort(key=lambda each: each[0])
    wrong = Rule(
        site=SITE, status=Status.ACTIVE, ops={"q.size": Ignore()}, evidence=RuleEvidence(refuted_at=int(1e9 + 3 * DAY))
    )
    taught = SitePages(SITE, kept).masks(RuleBook([wrong]), None).mask
    assert taught is not None
    assert "p.weight" in shown(taught), "else the test shows nothing"
    url, html = next(iter(crawls[0].items()))
    assert "grams" in html
    weight = html.partition("weight>")[2].partition(" ")[0]
    assert weight not in compared(taught, url, html)

    book = RuleBook([replace(wrong, status=Status.SUSPENDED)])
    mask = learned(store, book, masks={SITE: taught}).masks[SITE]
    assert shown(mask) == (["p.on"] if again else [])
    assert weight in compared(mask, url, html)
    assert bool(mask.templates) is again
    # What the user has said of the same place stays.
    said = replace(taught, paths=tuple([replace(path, state="strip") for path in taught.paths]))
    assert "p.weight" in shown(learned(store, book, masks={SITE: said}).masks[SITE])
    # As long as the rule stands, so does the mask.
    stands = learned(store, RuleBook(), masks={SITE: taught}).masks[SITE]
    assert ("p.weight" in shown(stands)) is not again


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


# -- what moves to another page has not passed


@pytest.mark.parametrize("new", [1, 4, 10])
def test_a_list_that_is_pushed_on_does_not_pass(store: Store, new: int) -> None:
    crawl(store, news(0, new), news(1, new))
    both = learned(store)
    assert not [path for mask in both.masks.values() for path in mask.paths if path.is_hidden]
    (report,) = both.learned.reports
    assert (report.pages, report.removed) == (90, 0)


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
    assert [path.selector for path in both.masks[SITE].paths if path.is_left_out] == ["html/body/main/p.on"]
    assert [set(rule.ops) for rule in both.learned.book if rule.status.acts] == [{"q.sid"}]
    assert both.learned.reports[0].pages == 90


@pytest.mark.parametrize("new", [4, 10])
def test_a_list_that_is_pushed_on_with_pages_missing_in_each_crawl(store: Store, new: int) -> None:
    rng = Random(3)
    crawl(store, *({url: html for url, html in news(k, new).items() if rng.random() < 0.7} for k in range(4)))
    both = learned(store)
    assert not [path for mask in both.masks.values() for path in mask.paths if path.is_hidden]
    assert not acting(both)


def test_a_few_pages_of_a_list_that_are_seen_again() -> None:
    """What the last of them loses is on a page that was seen once."""
    seen = [news(k, categories=4, pages=3) for k in range(3)]
    mask = learn_mask({url: [pages[url] for pages in seen] for url in seen[0]})
    assert not mask.version


@pytest.mark.parametrize("stock", [3, 6, 12])
def test_advertisements_that_rotate_pass(stock: int) -> None:
    rng = Random(stock)
    advertisements = [words("ad", n) for n in range(stock)]
    versions = {
        f"http://{SITE}/p/{n}/x": [
            page(words("h", n), f"<p>{words('main', n, number=40)}</p><div class=ad>{rng.choice(advertisements)}</div>")
            for _ in range(3)
        ]
        for n in range(30)
    }
    assert [path.selector for path in learn_mask(versions).paths if path.is_left_out] == ["html/body/main/div.ad"]


# -- kinds of pages


def kinds_of_pages(lasting: int = 3) -> dict[str, list[str]]:
    """Teasers whose text changes, and articles, at the same place, whose text does not."""
    versions = {
        f"http://{SITE}/teaser/{n}/": [page(words("t", n), f"<p>{words('t', n, k, number=12)}</p>") for k in range(2)]
        for n in range(12)
    }
    for n in range(lasting):
        url = f"http://{SITE}/article?id={n}&part=1"
        versions[url] = [page(words("a", n), f"<p>{words('a', n, 'text', number=40)}</p>")] * 2
    return versions


@pytest.mark.parametrize("lasting", [1, 3, 12])
def test_what_did_not_change_on_a_kind_of_pages_is_not_hidden_there(lasting: int) -> None:
    versions = kinds_of_pages(lasting)
    mask = learn_mask(versions, times={url: [60.0 * k for k in range(len(found))] for url, found in versions.items()})
    (path,) = mask.paths
    assert path.templates == (template_of(f"http://{SITE}/teaser/0/"),)
    assert path.opportunities == 12
    for url, (html, _) in versions.items():
        assert (mask.strip(html, url=url) == html) is ("article" in url)


def test_kinds_are_those_of_the_urls_and_not_of_a_page_s_name() -> None:
    kind = template_of(f"http://{SITE}/teaser/0/?sid=1")
    pages = [
        PageVersions(url, [version_of(html) for html in found], (kind,) if "teaser" in url else ())
        for url, found in kinds_of_pages().items()
    ]
    mask = mask_of(pages)
    assert [path.templates for path in mask.paths] == [(kind,)]
    assert template_of(f"http://{SITE}/teaser/0/") not in mask.templates


# -- what was learned before


@pytest.mark.parametrize("seen_now", ["in two versions", "in one", "not at all"])
def test_what_was_learned_before_goes_where_the_place_is_seen(store: Store, seen_now: str) -> None:
    lasting = {f"http://{SITE}/p/{n}/x": page(words(n), f"<p>{words(n, number=30)}</p>") for n in range(12)}
    once = {f"http://{SITE}/q/{n}/x": page(words(n, "q"), f"<b>{words(n, number=30)}</b>") for n in range(12)}
    if seen_now == "in one":
        once = {url: html.replace("<b>", "<h2>").replace("</b>", "</h2>") for url, html in once.items()}
    crawl(store, lasting | once, lasting)
    old = {"in two versions": "html/body/main/p", "in one": "html/body/main/h2", "not at all": "html/body/main/em"}[
        seen_now
    ]
    before = Mask(SITE, (TransientPath(old), TransientPath("html/body/main/b", state="strip")))
    mask = learned(store, masks={SITE: before}).masks[SITE]
    learned_before = [path.selector for path in mask.paths if not path.state]
    assert learned_before == ([old] if seen_now == "not at all" else [])
    assert [path.selector for path in mask.paths if path.state] == ["html/body/main/b"], "the user's word stays"


def test_without_versions_what_was_learned_before_stays(store: Store) -> None:
    crawl(store, {f"http://{SITE}/p/{n}/x": page(words(n), f"<p>{words(n, number=30)}</p>") for n in range(12)})
    before = Mask(SITE, (TransientPath("html/body/main/p"),))
    assert learned(store, masks={SITE: before}).masks[SITE].paths == before.paths


# -- what depends on the visit


def test_visits_are_true_of_the_kinds_that_were_compared_and_leave_parts_alone() -> None:
    item, other = template_of(f"http://{SITE}/item/1?sid=2"), template_of(f"http://{SITE}/p/1/x")
    place = "html/body/main/p.on"
    visits = TransientPlaces(
        (TransientPath(place, templates=(item,)), TransientPath("html/body/ul/li", templates=(item,))),
        frozenset({item}),
    )
    seen = [(url, 1e9 + k, version_of(html)) for k in range(3) for url, html in counters(k, pages=10).items()]
    known = SitePages(SITE, seen).masks(None, None).mask
    assert known is not None
    mask = _with_visits(known, visits)
    by_selector = {path.selector: path for path in mask.paths}
    assert by_selector[place].slot == ("", "visitors now"), "and not the whole of it"
    kind = template_of(seen[0][0])
    assert by_selector[place].everywhere
    assert by_selector["html/body/ul/li"].templates == (item,)
    assert mask.templates == {item, kind}
    assert other not in mask.templates


def test_slots_of_one_position_do_not_stand_for_the_others() -> None:
    place = "html/body/ul/li"
    parts = [TransientPath(place, slot=("thing", ""), position=number, of=2, changes=8) for number in (1, 2)]
    mask = _with_visits(Mask(SITE, tuple(parts)), TransientPlaces((TransientPath(place, changes=60),), frozenset()))
    assert [(path.selector, path.slot, path.position) for path in mask.paths] == [(place, None, 0)]


def test_places_found_from_visits_name_their_kinds() -> None:
    found = transient_places([shop(Random(1))])
    assert [set(path.templates) for path in found.paths] == [set(found.templates)]
