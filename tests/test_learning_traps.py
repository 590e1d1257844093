"""The made-up sites one by one: phenomena that are merged, and traps on which no page is lost, whatever is merged."""

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules

from .benchmarks.methods.compared import pipeline
from .benchmarks.scoring.grading import Grade
from .benchmarks.scoring.trials import UNSEEN, Training, trials
from .benchmarks.sites.levels import level_knobs, sites_of
from .benchmarks.sites.model import Knobs
from .benchmarks.sites.traps import TRAPS

SITE = "http://shop.example"
DRIFTS = {"T22"}


def graded(name: str, seed: int = 0, share: float | None = None, **knobs: float) -> Grade:
    """The grade of the pipeline on a site of one kind, on pages that it never saw."""
    (site,) = sites_of("L0", seed, level_knobs("L0", Knobs(**knobs)), [name])
    (trial,) = trials("L0", site, {"pipeline": pipeline}, Training(share), UNSEEN)
    return next(grade for grade in trial.grades if grade.endpoint == name)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize("name", ["D7", "D15", "D16", "D20", "T3", "T16"])
def test_passed(name: str, seed: int) -> None:
    grade = graded(name, seed)
    assert (grade.wrong, grade.lost) == (0, 0)
    assert grade.passed


def test_what_only_redirects_declare_is_no_rule() -> None:
    """A third of D25: nothing but a redirect speaks for it, which is an alias in the crawl and proves no rule."""
    grade = graded("D25")
    assert (grade.wrong, grade.lost) == (0, 0)
    assert 0.85 < grade.share < 1


def test_one_page_under_hundreds_of_tokens() -> None:
    """T24: the number that tells the small pages beside it apart is kept; that the token is none of them a wall could say, too."""
    grade = graded("T24")
    assert (grade.wrong, grade.lost) == (0, 0)


@pytest.mark.parametrize("name", sorted(TRAPS.keys() - DRIFTS - {"T24"}, key=lambda name: int(name[1:])))
@pytest.mark.parametrize("share", [0.1, 0.3])
def test_little_evidence_loses_no_page(name: str, share: float) -> None:
    grade = graded(name, share=share, pages=120)
    assert grade.lost <= max(grade.allowed, grade.lost_anyway)


def reports(kinds: dict[str, int]) -> RuleBook:
    """News under three views each, of which none matters; and other kinds, whose URLs were met once each."""
    rows = [(f"/x/news?id={i}&view={view}", f"news {i}") for i in range(20) for view in ("grid", "list", "full")]
    for kind, pages in kinds.items():
        views = ("grid", "list", "full")
        rows += [(f"/x/{kind}?id={i}&view={views[i % 3]}", f"{kind} {i} {views[i % 3]}") for i in range(pages)]
    return learn_rules([Observation(SITE + url, page) for url, page in rows])


@pytest.mark.parametrize("pages", [0, 2, 8, 100])
def test_a_key_is_kept_on_kinds_of_pages_where_it_was_never_tested(pages: int) -> None:
    book = reports({"report": pages})
    assert book.equivalent(f"{SITE}/x/news?id=99&view=grid", f"{SITE}/x/news?id=99&view=list")
    assert not book.equivalent(f"{SITE}/x/report?id=99&view=grid", f"{SITE}/x/report?id=99&view=list")


def test_mirrors_that_differ_in_one_section() -> None:
    rows = [(f"http://{host}.shop.example/m/news/{i}", f"news {i}") for i in range(20) for host in ("de", "us")]
    rows += [
        (f"http://{host}.shop.example/m/imprint/{host}{i}", f"{host} {i}") for i in range(4) for host in ("de", "us")
    ]
    book = learn_rules([Observation(url, page) for url, page in rows])
    assert book.equivalent("http://de.shop.example/m/news/99", "http://us.shop.example/m/news/99")
    assert not book.equivalent("http://de.shop.example/m/imprint/x", "http://us.shop.example/m/imprint/x")


def test_values_of_one_shape_of_which_one_matters() -> None:
    letters = "abcdefghijklmnopqrstuvwxyz"
    rows = [
        (f"/i?id={i}&mode={letter}", f"item {i}" + " z" * (letter == "z"))
        for i in range(60)
        for letter in (letters[i % 26], letters[(i + 7) % 26], "z")
    ]
    rows += [(f"/i?id={i}&mode=full", f"item {i} full") for i in range(60)]
    book = learn_rules([Observation(SITE + url, page) for url, page in rows])
    assert not book.equivalent(f"{SITE}/i?id=99&mode=a", f"{SITE}/i?id=99&mode=z")


def test_what_a_url_in_a_value_hides() -> None:
    """``from`` makes no difference to what ``url`` leads to, which comes in two spellings."""
    rows = [(f"/v?v={i}&w={w}", f"video {i}") for i in range(30) for w in (i, 7000 + i)]
    inner = "http%3A%2F%2Fshop.example%2Fv%3Fv%3D{}%26w%3D{}"
    rows += [(f"/go?url={inner.format(i, w)}", f"go {i}") for i in range(30) for w in (i, 7000 + i)]
    rows += [(f"/go?url={inner.format(i, 8000 + i)}&from={300 + i}", f"go {i}") for i in range(30)]
    book = learn_rules([Observation(SITE + url, page) for url, page in rows])
    one, other = (f"{SITE}/go?url={inner.format(99, w)}" for w in (1, 2))
    assert book.equivalent(one, other)
    assert book.equivalent(f"{one}&from=123", f"{other}&from=321")
    assert not book.equivalent(one, f"{SITE}/go?url={inner.format(98, 1)}")
