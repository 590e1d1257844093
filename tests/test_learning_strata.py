"""Where a proposal holds: strata that are alike but for exceptions, and values that nothing was seen of."""

from random import Random

import numpy as np
import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.evidence.judge import Judge
from scrapy_dedup.learning.evidence.splits import Split
from scrapy_dedup.learning.evidence.value_kinds import VALUES_UNLIKE, ValueKind
from scrapy_dedup.learning.evidence.witnesses import Witnesses, witnesses

NAMES = ("de", "en", "es", "fr")


def _groups(clean: list[int], bad: list[int]) -> tuple[Witnesses, np.ndarray]:
    """Return witness groups of two URLs each: so many of one page, and of two, in each stratum; and the stratum of each."""
    kinds = [kind for one, two in zip(clean, bad, strict=True) for kind in (0,) * one + (1,) * two]
    content = [shown for number, kind in enumerate(kinds) for shown in (2 * number, 2 * number + kind)]
    group = np.repeat(np.arange(len(kinds)), 2)
    counts = np.bincount(content)
    found = witnesses(group, np.array(content, dtype=np.int32), counts[content] == 1, ValueKind.ENUMERATED.prior)
    stratum = np.repeat(np.arange(len(clean)), [one + two for one, two in zip(clean, bad, strict=True)])
    return found, stratum


def _split(clean: list[int], bad: list[int], unlike: float = 0.5) -> Split:
    found, stratum = _groups(clean, bad)
    return Split.of(Judge(), found, stratum, len(clean), unlike)


def test_what_most_strata_show_holds_in_those_of_few_groups() -> None:
    alone = _split([1], [0])
    assert not alone.strata[0].may_act
    among = _split([20, 20, 20, 1], [0, 0, 0, 0])
    assert all(one.may_act for one in among.strata)
    assert among.unseen.may_act


def test_one_exception_leaves_the_others_what_they_share() -> None:
    split = _split([20, 20, 20, 2, 0], [0, 0, 0, 0, 12])
    assert [one.may_act for one in split.strata] == [True, True, True, True, False]
    assert not split.unseen.may_act  # the next one may be another exception


def test_strata_that_differ_speak_for_none_but_themselves() -> None:
    split = _split([20, 0, 0, 1], [0, 12, 12, 0])
    assert [one.may_act for one in split.strata] == [True, False, False, False]


def test_a_value_that_few_others_speak_for_needs_groups_of_its_own() -> None:
    assert not _split([8] * 4 + [0], [0] * 5, VALUES_UNLIKE).strata[-1].may_act
    assert _split([8] * 4 + [2], [0] * 5, VALUES_UNLIKE).strata[-1].may_act
    assert _split([8] * 16 + [0], [0] * 17, VALUES_UNLIKE).strata[-1].may_act


def _hosts_learned(mirrored: int) -> tuple[list[bool], bool]:
    """Learn a site whose host is a form in so many sections; tell whether it is dropped in each, and in the shop.

    Each page of the shop was seen under one host, so nothing tells whether the other one has the same.
    """
    rows = [
        (f"http://{host}.forms.example/part{section}/{item}", f"part {section} {item}")
        for section in range(mirrored)
        for item in range(6)
        for host in ("www", "m")
    ]
    rows += [(f"http://{('www', 'm')[item % 2]}.forms.example/shop/{item}", f"shop {item}") for item in range(20)]
    book = learn_rules(Observation(url, page) for url, page in rows)

    def is_dropped(section: str) -> bool:
        return len({book.canonical_key(f"http://{host}.forms.example/{section}/77") for host in ("www", "m")}) == 1

    return [is_dropped(f"part{section}") for section in range(mirrored)], is_dropped("shop")


@pytest.mark.parametrize(("mirrored", "shop"), [(1, False), (2, False), (3, False), (4, False), (8, True), (12, True)])
def test_a_form_holds_in_a_section_that_was_not_seen_once_many_others_are_alike(mirrored: int, shop: bool) -> None:
    assert _hosts_learned(mirrored) == ([True] * mirrored, shop)


def test_strata_in_another_order_are_judged_the_same() -> None:
    one, other = _split([3, 9, 0], [1, 0, 4]), _split([0, 9, 3], [4, 0, 1])
    for mine, theirs in zip(one.strata, reversed(other.strata), strict=True):
        assert np.allclose(mine.states, theirs.states)
        assert abs(mine.states.sum() - 1) < 1e-9


def _learned(rows: list[tuple[str, str]], noise: float) -> tuple[int, int, int]:
    """Return the duplicates that rules remove which were learned with noise, all duplicates, and the pages lost."""
    rng = Random(1)
    book = learn_rules(Observation(url, f"{page} {url}" if rng.random() < noise else page) for url, page in rows)
    first: dict[str, str] = {}
    for url, page in rows:
        first.setdefault(book.canonical_key(url), page)
    pages = {page for _, page in rows}
    return len(rows) - len(first), len(rows) - len(pages), len(pages - set(first.values()))


def test_noise_does_not_hide_that_an_empty_value_is_none() -> None:
    rng = Random(7)
    rows = {}
    for number in range(150):
        for _ in range(3):
            url = f"http://books.example/copy?isbn={number * 37 + 1000}" + rng.choice(("", "&hint="))
            rows[url + rng.choice(("", "&peek"))] = f"book {number}"
        if number % 4 == 0:
            name = rng.choice(NAMES)
            rows[f"http://books.example/copy?isbn={number * 37 + 1000}&hint={name}"] = f"book {number} {name}"
    removed, duplicates, lost = _learned(list(rows.items()), 0.03)
    assert lost == 0
    assert removed >= 0.95 * duplicates


def test_noise_does_not_hide_that_hosts_and_slashes_are_forms() -> None:
    rng = Random(3)
    rows = {}
    for number in range(60):
        for _ in range(3):
            host, slash = rng.choice(("www.", "")), rng.choice(("", "/"))
            rows[f"http://{host}forms.example/note/{number * 13}-{number % 7}{slash}"] = f"note {number}"
    removed, duplicates, lost = _learned(list(rows.items()), 0.03)
    assert lost == 0
    assert removed >= 0.95 * duplicates


def test_hosts_of_their_own_pages_stay_apart() -> None:
    rows = [
        (f"http://{city}.forms.example/note/{number}", f"{city} {number if number % 10 else 'imprint'}")
        for city in ("bonn", "kiel", "ulm")
        for number in range(40)
    ]
    removed, _, lost = _learned(rows, 0.0)
    assert lost == 0
    assert removed <= 12


def test_noise_does_not_hide_that_a_key_names_pages_under_one_value_of_another() -> None:
    rng = Random(5)
    rows = {}
    for month in range(1, 13):
        for year in range(2010, 2022):
            for _ in range(2):
                url = f"http://events.example/cal?year={year}&month={month}&day={rng.randint(1, 28)}"
                rows[f"{url}&view=month&ref={rng.randint(1, 9)}"] = f"month {year} {month}"
    for number in range(8):  # little is seen of the days: two of each of a few months
        year, month = 2010 + number, number + 1
        for day in rng.sample(range(1, 29), 2):
            for ref in rng.sample(range(1, 10), 2):
                url = f"http://events.example/cal?year={year}&month={month}&day={day}&view=day&ref={ref}"
                rows[url] = f"day {year} {month} {day}"
    removed, duplicates, lost = _learned(list(rows.items()), 0.03)
    assert lost == 0
    assert removed >= 0.8 * duplicates
