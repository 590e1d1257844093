"""A pack made of sites: what two of them show stands in it, with the sites that show the contrary."""

from itertools import permutations
from weakref import ref

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup import Observation, RuleBook
from scrapy_dedup.learning.learn import learn
from scrapy_dedup.learning.packing import Teacher, pack_of
from scrapy_dedup.packs.model import Pack, PackRule, Platform
from scrapy_dedup.packs.pack_files import pack_text
from scrapy_dedup.rules import Ignore, Keep

FORUM = Platform("forum", "forum", ("Forum",))


def observations(site: str, noise: str = "sort", page: str = "style", generator: str = "Forum 3") -> list[Observation]:
    """A forum of 30 topics, each under two values of *noise*; *page* is another page under each of two."""
    rows = []
    for number in range(30):
        for value in ("a", "b"):
            for other in ("x", "y"):
                url = f"http://{site}/topic.php?t={number}&{noise}={value}&{page}={other}"
                headers = {"x-generator": generator}
                rows.append(Observation(url, f"{site} {number} {other}", words=100, headers=headers))
    return rows


def teacher(site: str, **about: str) -> Teacher:
    seen = observations(site, **about)
    return Teacher.of(site, seen, learn(seen, known=RuleBook()).book.for_site(site))


def packed(*teachers: Teacher, base: Pack | None = None) -> Pack:
    by_site = {each.site: each for each in teachers}
    return pack_of("forums", list(by_site), by_site.__getitem__, base or Pack("forums", (FORUM,)))


def said(pack: Pack) -> dict[tuple[str, str], tuple[object, int, int]]:
    return {
        (rule.platform, key): (operation, rule.sites, rule.against)
        for rule in pack.rules
        for key, operation in rule.ops.items()
    }


@pytest.fixture(scope="module")
def alike() -> list[Teacher]:
    return [teacher(f"{name}.test") for name in ("one", "two", "three")]


def test_what_all_sites_show(alike: list[Teacher]) -> None:
    found = said(packed(*alike))
    assert found["forum", "q.sort"] == (Ignore(), 3, 0)
    assert found["forum", "q.style"] == (Keep(), 3, 0)
    assert found["forum", "q.t"] == (Keep(), 3, 0)


def test_one_site_teaches_nothing_but_how_often_documents_are_right(alike: list[Teacher]) -> None:
    assert packed(alike[0]).rules == ()
    written = PackRule({"q.sort": Ignore()}, "forum", source=("https://docs.test/",))
    pack = packed(alike[0], base=Pack("forums", (FORUM,), (written,)))
    assert pack.rules == (written.counted(1, 0),)


def test_no_site_is_named(alike: list[Teacher]) -> None:
    text = pack_text(packed(*alike))
    assert not any(name in text for name in ("one", "two", "three", "test"))


def test_a_site_where_the_key_is_the_page_speaks_against_it(alike: list[Teacher]) -> None:
    other = teacher("other.test", noise="style", page="sort")
    found = said(packed(*alike, other))
    assert ("forum", "q.style") not in found or found["forum", "q.style"][1:] == (3, 1)
    written = PackRule({"q.sort": Ignore()}, "forum", source=("https://docs.test/",))
    assert said(packed(*alike, other, base=Pack("forums", (FORUM,), (written,))))["forum", "q.sort"] == (Ignore(), 3, 1)
    # One of two: no guess is left.
    assert ("forum", "q.sort") not in said(packed(alike[0], other))


def test_platforms_are_kept_apart_and_new_ones_named_by_their_generators() -> None:
    shops = [teacher(f"{name}.test", generator="Shop/7.1") for name in ("four", "five")]
    pack = packed(*shops)
    assert [(each.name, each.generators) for each in pack.platforms] == [("forum", ("Forum",)), ("Shop", ("Shop",))]
    assert {platform for platform, _ in said(pack)} == {"Shop"}


def test_three_sites_of_any_platform_speak_for_all(alike: list[Teacher]) -> None:
    others = [teacher(f"{name}.test", generator=name) for name in ("four", "five", "six")]
    assert said(packed(*others))["", "q.sort"] == (Ignore(), 3, 0)


def test_one_site_is_in_memory_at_a_time(alike: list[Teacher]) -> None:
    class Loaded(Teacher):
        """Has weak references, and answers that it has not given yet."""

    by_site = {each.site: each for each in alike}
    alive: list[ref[Teacher]] = []

    def load(site: str) -> Teacher:
        assert not any(each() for each in alive)
        known = by_site[site]
        loaded = Loaded(site, known.sample, known.table, known.rules, known.generators)
        alive.append(ref(loaded))
        return loaded

    pack = pack_of("forums", list(by_site), load, Pack("forums", (FORUM,)))
    assert len(alive) == 2 * len(by_site)
    assert pack_text(pack) == pack_text(packed(*alike))


def test_the_order_of_sites_makes_no_difference(alike: list[Teacher]) -> None:
    texts = {pack_text(packed(*order)) for order in permutations(alike)}
    assert len(texts) == 1


@settings(max_examples=10, deadline=None)
@given(st.lists(st.sampled_from(["sort", "style"]), min_size=1, max_size=3))
def test_law_a_pack_of_its_own_making_is_made_again(noises: list[str]) -> None:
    """Documents that stay, and the same sites: the same pack."""
    made = [
        teacher(f"s{n}.test", noise=noise, page="sort" if noise == "style" else "style")
        for n, noise in enumerate(noises)
    ]
    once = packed(*made)
    assert packed(*made, base=Pack("forums", once.platforms)) == once
