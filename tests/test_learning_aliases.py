"""Kinds of aliases: what is proven, and what is not."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.content.html import anchors_of
from scrapy_dedup.learning.aliases.fetched import Fetched
from scrapy_dedup.learning.aliases.kinds import alias_rules, proven_aliases
from scrapy_dedup.learning.aliases.pairs import pooled
from scrapy_dedup.learning.aliases.proving import prove
from scrapy_dedup.rules import Anchored, Declared, Rule, Status
from scrapy_dedup.rules.alias_kinds import candidates
from scrapy_dedup.store.rows import SightingRow
from scrapy_dedup.urls import values_of
from scrapy_dedup.urls.namings import tokens_in

from .benchmarks.sites.forum import STYLES, Forum, crawled, links

BASE = "http://forum.test"
SITE = "forum.test"
BOOK = RuleBook()


def sighted(pages: Iterable[tuple[str, str]]) -> list[SightingRow]:
    """What the observer would record of pages (URL, HTML)."""
    rows = []
    for url, html in pages:
        anchors = anchors_of(html.encode())
        for target in links(html):
            link = BASE + target
            if not anchors.keys().isdisjoint(tokens_in(link)):
                bare, _, fragment = link.partition("#")
                for naming, prefix in candidates(values_of(bare), fragment, anchors):
                    rows.append(SightingRow("", SITE, url, link, naming.key, 0.0, naming.token, naming.lead, prefix))
    return rows


def observed(forum: Forum) -> tuple[list[Observation], list[SightingRow]]:
    found = crawled(forum, BASE)
    observations = [Observation(url, f"{page}", words=90) for url, (page, _) in found.items()]
    return observations, sighted((url, html) for url, (_, html) in found.items())


def learned(observations: Iterable[Observation], rows: list[SightingRow], known: Iterable[Rule] = ()) -> list[Rule]:
    return alias_rules(SITE, rows, Fetched(observations), BOOK.canonical_key, known)


def acting(rules: list[Rule]) -> list[Rule]:
    return [rule for rule in rules if rule.status.acts]


@pytest.mark.parametrize("style", STYLES)
@pytest.mark.parametrize("seed", [1, 2])
def test_aliases_of_a_forum_are_found_and_nothing_else(style: str, seed: int) -> None:
    forum = Forum(style, seed=seed)
    observations, rows = observed(forum)
    rules = acting(learned(observations, rows))
    assert rules, "nothing was proven"
    aliases = proven_aliases(rules, rows, BOOK.canonical_key)
    wrong = {
        link: page
        for link, page in aliases.items()
        if forum.page_of(link.removeprefix(BASE)) != forum.page_of(page.removeprefix(BASE))
    }
    assert not wrong
    posts = {BOOK.canonical_key(BASE + forum.post_url(post)) for post in forum.posts}
    assert len(posts & aliases.keys()) >= 0.99 * len(posts)


def test_few_pages_are_a_candidate_at_most() -> None:
    observations, rows = observed(Forum("phpbb", threads=2, most_posts=12))
    rules = learned(observations, rows)
    assert not acting(rules)


def test_a_site_where_nothing_was_fetched_twice_proves_nothing() -> None:
    observations, rows = observed(Forum("phpbb"))
    threads = [each for each in observations if "p=" not in each.url]
    assert not learned(threads, rows)


def test_chance_coincidences_alone_are_refuted() -> None:
    """Numbers of users that are numbers of posts: ``?u=7`` on the page with the post 7."""
    forum = Forum("phpbb", users=400)
    observations, rows = observed(forum)
    chance = [row for row in rows if row.key == "q.u"]
    assert len(chance) > 5
    assert not acting(learned(observations, chance))


def pages_with(count: int, link: str, element: str, same: bool) -> tuple[list[Observation], list[SightingRow]]:
    observations, rows = [], []
    for n in range(count):
        page, target = f"{BASE}/thread/{n}", BASE + link.format(n=n)
        observations += [
            Observation(page, f"c{n}", words=50),
            Observation(target, f"c{n}" if same else f"d{n}", words=50),
        ]
        rows += sighted([(page, f'<div id="{element.format(n=n)}"></div><a href="{link.format(n=n)}">x</a>')])
    return observations, rows


def test_ids_of_letters_and_digits_name_elements_too() -> None:
    observations, rows = pages_with(12, "/c?comment=5f3ea2{n:04}ab", "comment-5f3ea2{n:04}ab", same=True)
    (rule,) = acting(learned(observations, rows))
    assert rule.ops == {"alias.q.comment": Anchored("comment-", pages=("/thread/*",))}


def test_another_page_refutes() -> None:
    observations, rows = pages_with(40, "/x?m={n}", "m{n}", same=True)
    assert acting(learned(observations, rows))
    several = [
        replace(one, fingerprint=f"other {n}") if n in range(1, 20, 2) else one for n, one in enumerate(observations)
    ]
    assert not acting(learned(several, rows))


def test_an_element_that_every_page_has_refutes_though_its_url_was_never_fetched() -> None:
    observations, rows = [], []
    for n in range(40):
        page = f"{BASE}/thread/{n}"
        observations.append(Observation(page, f"c{n}", words=50))
        rows += sighted([(page, '<div id="box1"></div><a href="/news/1">x</a>')])
    fetched = Fetched(observations)
    (pairs,) = pooled(rows, BOOK.canonical_key)
    assert prove(pairs, fetched).counterexamples == 2  # the URL and the element
    assert not learned(observations, rows)


def test_a_page_that_changes_by_itself_is_no_evidence() -> None:
    observations, rows = pages_with(12, "/x?m={n}", "m{n}", same=True)
    again = [replace(each, fingerprint=f"{each.fingerprint}'") for each in observations]
    assert not learned(observations + again, rows)


def test_the_fragment_of_a_thread_with_several_posts_is_no_alias() -> None:
    """``?t=5#p178`` is the first page of the thread, whatever its fragment."""
    observations, rows = [], []
    for n in range(30):
        page = f"{BASE}/viewtopic.php?f=1&t={n}"
        short = f"{BASE}/topic?t={n}"
        observations += [Observation(page, f"c{n}", words=50), Observation(short, f"c{n}", words=50)]
        html = "".join(f'<p id="p{n}0{k}"></p><a href="/topic?t={n}#p{n}0{k}">x</a>' for k in range(3))
        rows += sighted([(page, html)])
    assert {row.key for row in rows} == {"fragment"}
    assert not acting(learned(observations, rows))


def test_the_pattern_is_narrowed_to_where_it_holds() -> None:
    good = pages_with(30, "/x?action=show&m={n}", "m{n}", same=True)
    bad = pages_with(30, "/x?action=edit&m={n}", "m{n}", same=False)
    (rule,) = acting(learned(good[0] + bad[0], good[1] + bad[1]))
    assert rule.evidence is not None
    assert (rule.evidence.groups, rule.evidence.counterexamples) == (30, 0)
    assert rule.match["q.action"].value == "show"  # type: ignore[union-attr]


def declared(count: int, declaration: str, same: bool) -> tuple[list[Observation], list[SightingRow]]:
    observations, rows = [], []
    for n in range(count):
        page, short = f"{BASE}/2024/title-{n}", f"{BASE}/?p={n}"
        observations += [
            Observation(page, f"c{n}", words=50),
            Observation(short, f"c{n}" if same else "home", words=50),
        ]
        rows.append(SightingRow("", SITE, page, short, declaration, 0.0))
    return observations, rows


@pytest.mark.parametrize("declaration", ["shortlink", "canonical", "og:url"])
def test_a_declaration_is_proven_or_refuted(declaration: str) -> None:
    (rule,) = learned(*declared(12, declaration, same=True))
    assert rule.status is Status.ACTIVE
    assert rule.ops == {f"alias.{declaration}": Declared()}
    assert not rule.match
    assert not learned(*declared(12, declaration, same=False))


def test_a_redirect_proves_nothing_by_itself() -> None:
    observations, rows = [], []
    for n in range(20):
        page, old = f"{BASE}/new/{n}", f"{BASE}/old/{n}"
        observations += [Observation(page, f"c{n}", words=50), Observation(old, "", status=301, redirect=page)]
        rows.append(SightingRow("", SITE, page, old, "redirect", 0.0))
    assert not acting(learned(observations, rows))
    observations += [Observation(f"{BASE}/old/{n}", f"c{n}", words=50) for n in range(20)]
    assert acting(learned(observations, rows))


def test_a_url_that_redirects_to_the_page_is_the_page() -> None:
    observations, rows = [], []
    for n in range(12):
        page, link = f"{BASE}/thread/{n}", f"{BASE}/goto?m={n}"
        observations += [Observation(page, f"c{n}", words=50), Observation(link, "", status=302, redirect=page)]
        rows += sighted([(page, f'<div id="m{n}"></div><a href="/goto?m={n}">x</a>')])
    assert acting(learned(observations, rows))


def test_off_is_never_learned_back() -> None:
    observations, rows = pages_with(12, "/x?m={n}", "m{n}", same=True)
    (rule,) = learned(observations, rows)
    assert not learned(observations, rows, [replace(rule, status=Status.OFF)])
    assert not learned(observations, rows, [replace(rule, status=Status.SUSPENDED)])


def test_a_kind_stays_while_nothing_refutes_it() -> None:
    observations, rows = pages_with(30, "/x?m={n}", "m{n}", same=True)
    (rule,) = learned(observations, rows)
    # The next crawl discards the aliases; the pages have changed meanwhile.
    changed = [replace(each, fingerprint=f"{each.fingerprint}'") for each in observations if "/thread/" in each.url]
    assert learned(observations + changed, rows) == []
    assert learned(observations + changed, rows, [rule]) == [rule]
    assert learned([], [], [rule]) == [rule]
    wrong = [replace(each, fingerprint=f"other {each.url}") if "?m=1" in each.url else each for each in observations]
    assert not acting(learned(wrong, rows, [rule]))


@pytest.mark.parametrize("count", [0, 1])
def test_nothing_to_learn(count: int) -> None:
    assert learned(*pages_with(count, "/x?m={n}", "m{n}", same=True)) == []


def test_a_kind_stands_in_the_rule_file_as_a_rule_does(tmp_path: object) -> None:
    rules = learned(*pages_with(12, "/x?m={n}", "m{n}", same=True)) + learned(*declared(12, "shortlink", same=True))
    book = RuleBook(rules)
    book.save(str(tmp_path))
    again = RuleBook.load(str(tmp_path))
    assert again == book
    # It has no part in canonical keys.
    url = f"{BASE}/x?m=3"
    assert again.canonical_key(url) == url
    assert again.digest() == RuleBook().digest()
