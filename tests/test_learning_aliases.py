"""Kinds of aliases: what is proven, and what is not."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import pytest

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.aliases.anchors import anchors_of
from scrapy_dedup.learning.aliases.fetched import Fetched
from scrapy_dedup.learning.aliases.kinds import alias_rules, proven_aliases
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
def test_aliases_of_a_forum_are_found_and_nothing_else(style: str) -> None:
    forum = Forum(style, seed=1, threads=12)
    observations, rows = observed(forum)
    rules = acting(learned(observations, rows))
    assert rules, "nothing was proven"
    aliases = proven_aliases(rules, rows, BOOK.canonical_key)
    pages = [tuple(forum.page_of(url.removeprefix(BASE)) for url in pair) for pair in aliases.items()]
    assert [pair for pair in pages if pair[0] != pair[1]] == []
    posts = {BOOK.canonical_key(BASE + forum.post_url(post)) for post in forum.posts}
    assert len(posts & aliases.keys()) >= 0.99 * len(posts)


def test_few_pages_chance_and_what_was_fetched_once_prove_nothing() -> None:
    assert not acting(learned(*observed(Forum("phpbb", threads=2, most_posts=12))))
    # Numbers of users that are numbers of posts: ``?u=7`` on the page with the post 7.
    observations, rows = observed(Forum("phpbb", threads=12, users=400))
    chance = [row for row in rows if row.key == "q.u"]
    assert len(chance) > 5
    assert not acting(learned(observations, chance))
    assert not learned([each for each in observations if "p=" not in each.url], rows)


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


def threads(count: int, link: str, body: str, *more: Any) -> tuple[list[Observation], list[SightingRow]]:
    """Threads whose page holds *body*, with *more* observations of each: (URL, fingerprint, further fields)."""
    observations, rows = [], []
    for n in range(count):
        page = f"{BASE}{link.format(n=n)}"
        observations.append(Observation(page, f"c{n}", words=50))
        observations += [
            Observation(
                BASE + url.format(n=n), shown.format(n=n), words=50, **({"redirect": page} | fields if fields else {})
            )
            for url, shown, fields in more
        ]
        rows += sighted([(page, body.format(n=n))])
    return observations, rows


GOOD = pages_with(40, "/x?m={n}", "m{n}", same=True)
POSTS = "".join(f'<p id="p{{n}}0{k}"></p><a href="/topic?t={{n}}#p{{n}}0{k}">x</a>' for k in range(3))
MESSAGE = Anchored("m", pages=("/thread/*",))


@pytest.mark.parametrize(
    ("seen", "ops"),
    [
        pytest.param(GOOD, [{"alias.q.m": MESSAGE}], id="numbers"),
        pytest.param(
            pages_with(12, "/c?comment=5f3ea2{n:04}ab", "comment-5f3ea2{n:04}ab", same=True),
            [{"alias.q.comment": Anchored("comment-", pages=("/thread/*",))}],
            id="letters and digits",
        ),
        pytest.param(
            threads(
                12,
                "/thread/{n}",
                '<div id="m{n}"></div><a href="/goto?m={n}">x</a>',
                ("/goto?m={n}", "", {"status": 302}),
            ),
            [{"alias.q.m": MESSAGE}],
            id="a redirect to the page",
        ),
        pytest.param(
            (
                [
                    replace(one, fingerprint=f"other {n}") if n in range(1, 20, 2) else one
                    for n, one in enumerate(GOOD[0])
                ],
                GOOD[1],
            ),
            [],
            id="other pages",
        ),
        pytest.param(
            threads(40, "/thread/{n}", '<div id="box1"></div><a href="/news/1">x</a>'),
            [],
            id="an element of every page",
        ),
        pytest.param(
            (GOOD[0] + [replace(each, fingerprint=f"{each.fingerprint}'") for each in GOOD[0]], GOOD[1]),
            [],
            id="pages that change by themselves",
        ),
        # ``?t=5#p178`` is the first page of the thread, whatever its fragment.
        pytest.param(
            threads(30, "/viewtopic.php?f=1&t={n}", POSTS, ("/topic?t={n}", "c{n}", {})),
            [],
            id="fragments of several posts",
        ),
        pytest.param(pages_with(0, "/x?m={n}", "m{n}", same=True), [], id="nothing"),
        pytest.param(pages_with(1, "/x?m={n}", "m{n}", same=True), [], id="one page"),
    ],
)
def test_what_names_an_element_of_a_page_is_an_alias_of_it(
    seen: tuple[list[Observation], list[SightingRow]], ops: list[Any]
) -> None:
    assert [dict(rule.ops) for rule in acting(learned(*seen))] == ops


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
