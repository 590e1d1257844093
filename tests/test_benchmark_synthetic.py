"""The benchmark on made-up sites: methods by name, grades, and what the command prints."""

import json

import pytest

from scrapy_dedup import Observation
from tests.benchmarks import synthetic
from tests.benchmarks.methods.baselines import without_trackers
from tests.benchmarks.methods.compared import Keys, Safe, asked_for, available
from tests.benchmarks.scoring.grading import Marks, level_score
from tests.benchmarks.scoring.score import score
from tests.benchmarks.scoring.trials import SAME, UNSEEN, WHOLE, Training, evidence, trials
from tests.benchmarks.sites.crawl import crawl
from tests.benchmarks.sites.levels import sites_of
from tests.benchmarks.sites.model import Knobs

NOTHING = Marks(0, 0, 0, 0, 0, 0, 0, 0)


def test_methods_by_name() -> None:
    methods, notes = asked_for("all")
    assert methods.keys() == available()[0].keys()
    assert {"pipeline", "no rules", "normal form", "w3lib", "tracker list"} <= methods.keys()
    assert all(": " in note for note in notes)
    assert asked_for(None) == ({}, [])
    assert list(asked_for("w3lib,normal form")[0]) == ["w3lib", "normal form"]
    assert list(asked_for("pattern tree, graph,w3lib")[0]) == ["pattern tree, graph", "w3lib"]
    with pytest.raises(ValueError, match="magic"):
        asked_for("w3lib,magic")


def test_every_method_learns_from_little_and_from_nothing() -> None:
    few = [
        Observation(f"http://a.example/t?id={page}&sid={page}{visit}", f"{page}" * 20)
        for page in range(9)
        for visit in (1, 2)
    ]
    for name, learn in available()[0].items():
        for observations in (few, few[:1], []):
            keys = learn(observations)
            assert isinstance(keys, Keys), name
            assert isinstance(keys.key("http://a.example/t?id=1&sid=77"), str), name


def test_the_static_list() -> None:
    assert (
        without_trackers("http://a.example/x;jsessionid=1?utm_source=a&id=2&PHPSESSID=3") == "http://a.example/x?id=2"
    )
    assert without_trackers("http://a.example/x;v=1?fbclid=a") == "http://a.example/x;v=1"
    assert without_trackers("http://[::1/x") == "http://[::1/x"


def test_a_method_that_raises_is_counted() -> None:
    safe = Safe(lambda url: str(1 / len(url)))
    assert (safe("ab"), safe("")) == ("0.5", "")
    assert safe.errors == 1


def test_a_trial_scores_every_part() -> None:
    (site,) = sites_of("L0", 0, Knobs(pages=120), ["T9"])
    methods, _ = asked_for("no rules,tracker list")
    plain, listed = trials("L0", site, methods, Training(), UNSEEN)
    assert plain.headline == plain.scores[UNSEEN]
    assert plain.headline.saved == 0
    assert plain.scores[WHOLE].urls > plain.scores[UNSEEN].urls + plain.scores[SAME].urls
    # Names of junk that are keys: a list of names loses pages.
    assert listed.headline.lost > 5
    assert [grade.passed for grade in listed.grades] == [False]


def test_score_of_a_level() -> None:
    perfect = score(["k", "k", "l"], ["a", "a", "b"])
    assert level_score(perfect, NOTHING) == 1
    lossy = score(["k"] * 3, ["a", "a", "b"])
    assert level_score(lossy, NOTHING) == 0
    assert level_score(score(["a", "b"], ["a", "b"]), NOTHING) == 0


def test_the_command_prints_one_json_object(capsys: pytest.CaptureFixture[str]) -> None:
    code = synthetic.main(["--level", "L0", "--only", "D1", "--methods", "pipeline,rules of truth", "--json"])
    found = json.loads(capsys.readouterr().out)
    assert code == 0
    truth = found["levels"]["L0"]["rules of truth"]
    assert truth["micro"]["oracle_compression"] == truth["marks"]["phenomena_share"] == 1
    assert truth["marks"]["rules_recovered"] == truth["marks"]["rules"] > 0
    learned = found["levels"]["L0"]["pipeline"]
    assert 0 < learned["micro"]["oracle_compression"] <= 1
    assert learned["micro"]["lost"] == 0
    assert learned["rules"]["deployed"] > 0


def test_the_command_prints_tables_and_checks(capsys: pytest.CaptureFixture[str]) -> None:
    options = ["--level", "L0", "--only", "D9,T7", "--pages", "40", "--methods", "pipeline", "--show", "1"]
    synthetic.main([*options, "--check"])
    out, err = capsys.readouterr()
    assert "L0 pipeline" in out
    assert "figures hold" in err or "MISSED" in err


def test_a_spoiled_site_is_checked_against_the_same_site_unspoiled(capsys: pytest.CaptureFixture[str]) -> None:
    """A site with one kind of pages has nothing that noise could be compared with: the figure is missed."""
    options = ["--level", "L0", "--only", "D1", "--pages", "60", "--methods", "pipeline", "--check"]
    assert synthetic.main([*options, "--clusters", ".8"]) == 1
    assert "of that of clean sites" in capsys.readouterr().err
    assert synthetic.main([*options, "--clusters", ".5"]) == 0, "beyond the aim only losses are asked"


def test_how_much_there_was_to_learn_from() -> None:
    (site,) = sites_of("L0", 0, Knobs(pages=60, noise=0.5), ["D1"])
    rows = crawl(site)
    pages, spoiled = evidence(rows)["D1"]
    assert 0 < spoiled <= pages <= 60
    (clean,) = sites_of("L0", 0, Knobs(pages=60), ["D1"])
    assert evidence(crawl(clean)) == {"D1": (pages, 0)}
    assert evidence([]) == {}
