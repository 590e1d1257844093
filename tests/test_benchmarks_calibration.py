"""The benchmarks of the judge's numbers: calibration, learned priors, and the configuration."""

import ast
import datetime
from dataclasses import fields
from importlib.resources import files
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
import tomlkit

from scrapy_dedup import learn_rules
from scrapy_dedup.learning import config
from scrapy_dedup.learning.config import Config
from scrapy_dedup.learning.evidence import value_kinds
from scrapy_dedup.learning.evidence.value_kinds import KindPrior, ValueKind

from .benchmarks import ablation, priors
from .benchmarks.calibration import Bin, Cell, bins_of, cells_of, checks, log_loss
from .benchmarks.fitting.priors import HAND_SET, STATES, Known, fitted, left_out
from .benchmarks.fitting.strata_of_sites import Judged, judged_proposals, small
from .benchmarks.parts import without

BOLD = KindPrior(0.97, 0.02, 0.01, (0.001, 0.004, 0.1, 0.3, 0.595), 0.5)
CAREFUL = KindPrior(1e-12, 1e-12, 1 - 2e-12, (0.001, 0.004, 0.995, 1e-12, 1e-12), 0.5)


@pytest.fixture(scope="module")
def found() -> list[Judged]:
    """The proposals of some small sites."""
    return [one for site in (*small(range(6)), *small(range(6, 10), 0.03)) for one in judged_proposals(site)]


def judged_with(found: list[Judged], prior: KindPrior) -> list[Cell]:
    """The strata of proposals, predicted with one prior for all kinds of values."""
    of_kinds = dict.fromkeys(ValueKind, prior)
    return cells_of(found, {one.site: of_kinds for one in found})


def faults(bins: list[Bin]) -> set[str]:
    return {each.fault for each in bins} - {""}


def test_what_is_held_out_is_what_the_truth_says(found: list[Judged]) -> None:
    held = [held for one in found for held in one.held_out]
    assert held
    assert all(0 <= each.lost <= each.filtered and 0 < each.groups <= each.filtered for each in held)
    of_items = [one for one in found if " of q.id where ()" in one.rule]  # the number of an item names its page
    assert of_items
    assert all(each.lost == each.filtered for one in of_items for each in one.held_out)
    acting = [each for one in found if one.rule.endswith(", acting") for each in one.held_out]
    assert sum(each.lost for each in acting) < 0.05 * sum(each.filtered for each in acting)


def test_honest_priors_beat_the_base_rate_and_distorted_ones_fail_both_ways(found: list[Judged]) -> None:
    cells = cells_of(found, left_out(Known.of(found)))
    loss = log_loss(cells)
    assert loss.predicted < loss.base
    bold, careful = judged_with(found, BOLD), judged_with(found, CAREFUL)
    assert "too bold" in faults(bins_of(bold))
    assert "too careful" in faults(bins_of(careful))
    for distorted in (bold, careful):
        assert not all(check.holds for check in checks(bins_of(distorted), log_loss(distorted)))
        assert log_loss(distorted).predicted > loss.predicted


def test_a_bin_is_judged_by_sites_and_not_by_requests() -> None:
    def cells(sites: int, observed: float) -> list[Cell]:
        return [Cell(f"site {n % sites}", f"rule {n}", ValueKind.OTHER, 0.3, observed, 20.0) for n in range(60)]

    assert faults(bins_of(cells(30, 1.0))) == {"too bold"}
    assert faults(bins_of(cells(30, 0.0))) == {"too careful"}
    assert faults(bins_of(cells(1, 1.0))) == faults(bins_of(cells(1, 0.0))) == set()  # one site is one draw
    assert faults(bins_of(cells(30, 0.3))) == set()


def known_of(log: np.ndarray, sites: list[str], kind: ValueKind) -> Known:
    """One proposal a row, in one stratum."""
    return Known(sites, [kind] * len(log), np.zeros(len(log), dtype=np.bool_), np.ones(len(log), dtype=np.intp), log)


def test_priors_follow_what_is_seen_and_are_drawn_towards_those_set_by_hand() -> None:
    clean = np.full((100, STATES), -30.0)
    clean[:, :5] = 0.0  # only the least share of wrong groups explains it
    many = [f"site {number}" for number in range(100)]
    before = HAND_SET[ValueKind.OTHER]
    of_many = fitted(known_of(clean, many, ValueKind.OTHER))[ValueKind.OTHER]
    of_one = fitted(known_of(clean, ["one"] * 100, ValueKind.OTHER))[ValueKind.OTHER]
    assert 0.55 < of_many.right < 0.65
    assert before.right < of_one.right < 0.3  # a hundred proposals of one site count as ten
    assert fitted(known_of(clean, many, ValueKind.OTHER))[ValueKind.DRAWN].right == pytest.approx(0.6)
    wrong = fitted(known_of(clean[:, ::-1], many, ValueKind.OTHER))[ValueKind.OTHER]
    assert before.wrong < 0.85 < wrong.wrong
    assert wrong.equals == before.equals


def test_the_file_of_learned_priors_says_from_what(found: list[Judged]) -> None:
    text = priors.text_of(fitted(Known.of(found)), found, datetime.date(2026, 11, 23))
    document = tomlkit.parse(text).unwrap()
    assert document["learned"]["on"] == datetime.date(2026, 11, 23)
    assert document["learned"]["from"] == [
        {"data": "small sites", "sites": len({one.site for one in found}), "proposals": len(found)}
    ]
    shipped = tomlkit.parse(
        files(value_kinds.__package__).joinpath(value_kinds.PRIORS_FILE).read_text("utf-8")
    ).unwrap()
    assert shipped["learned"]["by"]
    assert all(part["sites"] > 0 and part["proposals"] > 0 for part in shipped["learned"]["from"])
    for kind in ValueKind:
        one = shipped["kinds"][kind.value]
        assert one.keys() == document["kinds"][kind.value].keys()
        assert one["right"] + one["mixed"] + one["wrong"] == pytest.approx(1, abs=0.001)
        assert sum(one["equals"]) == pytest.approx(1, abs=0.001)
        assert 0 < one["unlike"] < 1
        assert kind.unlike == one["unlike"]


def test_each_field_of_the_configuration_is_documented_and_there_are_few() -> None:
    tree = ast.parse(Path(str(config.__file__)).read_text("utf-8"))
    (body,) = (node.body for node in tree.body if isinstance(node, ast.ClassDef))
    documented = {
        node.target.id
        for node, after in pairwise(body)
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name)
        if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant) and len(str(after.value.value)) > 30
    }
    assert documented == {field.name for field in fields(Config)}
    assert len(documented) <= 40


def test_a_number_moves_a_figure_for_as_long_as_asked() -> None:
    sites = list(small(range(2)))

    def share() -> float:
        return ablation.removed((site, learn_rules([each.observation for each in site.train])) for site in sites)[
            "removed"
        ]

    before = share()
    with without("price x 1e9"):
        assert share() < before - 0.1
    assert share() == before > 0.3
