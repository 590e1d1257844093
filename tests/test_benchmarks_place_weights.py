"""The benchmark that fits the weights of the score of a place."""

import json
from dataclasses import fields, replace
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
import tomlkit

from scrapy_dedup.content.versions import version_of
from scrapy_dedup.masks.learning import mask_of
from scrapy_dedup.masks.learning.counts.epochs import PageVersions
from scrapy_dedup.masks.learning.judging import score
from scrapy_dedup.masks.learning.judging.features import Features
from scrapy_dedup.masks.learning.judging.score import (
    CONSTANT,
    STRIPPED,
    WEIGHED,
    WEIGHTS_FILE,
    probability,
    shipped,
    weighed,
)

from .benchmarks import place_weights
from .benchmarks.fitting.places import Known, Row, fitted, left_out, rows_of, scores
from .benchmarks.place_weights import Fit, main, text_of
from .benchmarks.places.site import PARTS, PlacedSite

SITES = range(15, 22)
PLAIN = Features(**dict.fromkeys([field.name for field in fields(Features)], 1))


@pytest.fixture(scope="module")
def known() -> Known:
    """The rows of some sites."""
    return Known([row for seed in SITES for row in rows_of(PlacedSite(seed))])


def test_rows_are_recorded_of_both_natures_and_always_the_same(known: Known) -> None:
    assert known.transient.sum() > 10
    assert (~known.transient).sum() > 10
    assert {row.nature for row in known.rows} <= {part.name for part in PARTS}
    assert rows_of(PlacedSite(18)) == [row for row in known.rows if row.site == 18] != []


def test_each_nature_weighs_as_much_as_any_other(known: Known) -> None:
    weights = {float(known.weighing[known.of_nature(row.nature)].sum().round(6)) for row in known.rows}
    assert len(weights) == 1
    assert known.weighing.mean() == pytest.approx(1)


def test_what_is_fitted_tells_transient_parts_from_content(known: Known) -> None:
    sure = scores(known, fitted(known))
    assert sure[known.transient].mean() > 0.7
    assert sure[~known.transient].mean() < 0.3
    for groups in ([row.site for row in known.rows], [row.nature for row in known.rows]):
        others = left_out(known, groups)
        assert others[known.transient].mean() > 0.6
        assert others[~known.transient].mean() < 0.4
        assert not np.allclose(others, sure, atol=0.01)


def test_what_is_left_out_says_nothing_of_its_own_score(known: Known) -> None:
    nature = known.rows[0].nature
    denied = Known([replace(row, transient=row.transient ^ (row.nature == nature)) for row in known.rows])
    groups = [row.nature for row in known.rows]
    rows = known.of_nature(nature)
    assert left_out(denied, groups)[rows] == pytest.approx(left_out(known, groups)[rows])
    assert scores(denied, fitted(denied))[rows] != pytest.approx(scores(known, fitted(known))[rows], abs=0.001)


def test_the_weights_of_the_package_are_those_of_its_file() -> None:
    document = tomlkit.parse(files(score.__package__).joinpath(WEIGHTS_FILE).read_text("utf-8")).unwrap()
    weights = document["weights"]
    assert weights.keys() == {*WEIGHED, CONSTANT}
    assert shipped() == weights
    assert document["fitted"]["sites"] >= 100
    assert document["fitted"]["to_other_natures"]["stripped"]["wrong"] <= place_weights.MOST_WRONG
    for field in fields(Features):
        of = replace(PLAIN, **{field.name: 0.5})
        odds = weights[CONSTANT] + sum(weights[each] * getattr(of, each) for each in WEIGHED)
        assert probability(of) == weighed(of, weights) == pytest.approx(1 / (1 + np.exp(-odds)))


def test_the_file_says_from_what_it_was_fitted(known: Known) -> None:
    fit = Fit.of(known)
    document = tomlkit.parse(text_of(fit, SITES)).unwrap()
    assert document["weights"] == {name: round(weight, 2) for name, weight in fit.weights.items()}
    assert document["fitted"]["sites"] == len(SITES)
    assert document["fitted"]["rows"] == len(known.rows) >= document["fitted"]["parts"] > 20
    found = fit.summary()["all"]["all sites"][STRIPPED]
    assert document["fitted"]["to_all"]["stripped"] == pytest.approx(
        {"found": found.found, "wrong": found.wrong}, abs=1e-4
    )


def test_the_command_prints_checks_and_writes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "weights.toml"
    monkeypatch.setattr(place_weights, "WEIGHTS_FILE", str(target))
    monkeypatch.setattr(place_weights, "LEAST_FOUND", 1.1)
    assert main(["--sites", "2", "--first-seed", "17", "--json", "--check", "--write"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert found["sites"] == 2
    assert found["rows"] == sum(one["rows"] for one in found["natures"]) > 0
    assert not target.exists()
    monkeypatch.setattr(place_weights, "LEAST_FOUND", 0.0)
    monkeypatch.setattr(place_weights, "MOST_WRONG", 1.0)
    assert main(["--sites", "2", "--first-seed", "17", "--check", "--write"]) == 0
    assert "as shipped" in capsys.readouterr().out
    written = tomlkit.parse(target.read_text("utf-8")).unwrap()
    assert written["weights"] == {name: round(weight, 2) for name, weight in found["weights"].items()}


@pytest.mark.parametrize(("wrong", "share", "holds"), [(False, 0.67, True), (False, 0.65, False), (True, 0.67, False)])
def test_check_asks_for_what_is_found_and_what_is_wrong(wrong: bool, share: float, holds: bool) -> None:
    rows = [Row(0, ("body/p", ""), "x", number < 100, 0, PLAIN) for number in range(200)]
    sure = np.zeros(200)
    sure[: round(100 * share)] = 1
    sure[199] = float(wrong)
    fit = Fit(Known(rows), {}, dict.fromkeys(("all sites", "other natures"), sure))
    assert all(check.holds for check in fit.checks()) is holds


def test_a_mask_is_judged_by_the_score_that_is_given() -> None:
    page = "<body><h1>Page {}</h1><p>Today is {}</p>"
    pages = [
        PageVersions(f"http://a.example/{n}", [version_of(page.format(n, day)) for day in ("Mon", "Tue", "Wed")])
        for n in range(4)
    ]
    assert [path.kind for path in mask_of(pages).paths] == ["transient"]
    asked: list[tuple[str, str]] = []
    mask = mask_of(pages, score_at=lambda place: lambda _: asked.append(place) or 0.0)
    assert {path.kind for path in mask.paths} <= {"undecided", "volatile"}
    assert set(asked) == {("body/p", "")}
