"""Transient paths applied, in both of the document's ways: where they exist, and where a comparison verifies them.

Paragraphs on FIG. 2 ("accompanied by analysis of the content associated with the path") and FIG. 7.
"""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.masks.queries import BELOW
from scrapy_dedup.masks.seed.changes import changes_between
from scrapy_dedup.masks.seed.paths import TransientPaths


def page(weather: str, visitors: str, title: str = "Title") -> str:
    return (
        f"<html><body><h1>{title}</h1><div><b>Weather</b> {weather}</div><p>{visitors}</p>"
        "<i>home</i><i>news</i><i>help</i></body></html>"
    )


SITE = {
    f"http://news.example/{n}": [page(f"sun {n} {k}", f"{10 * n + k} here", f"Title {n}") for k in range(3)]
    for n in range(4)
}


@pytest.fixture(scope="module")
def mask() -> Mask:
    found = learn_mask(SITE, "seed")
    assert [path.selector for path in found.paths] == ["html/body/div/*", "html/body/p/*"]
    return found


def test_seed_paths_by_existence_only(mask: Mask) -> None:
    """FIG. 7: "if path exists in related web pages, content associated with the path is labeled as transient"."""
    assert mask.text(page("rain", "12 here")) == "Title home news help"
    assert len(mask.transient(page("rain", "12 here"))) == 3


def test_seed_paths_verified_by_comparison(mask: Mask) -> None:
    """A path whose content is the same in another version of the page is left alone; a changed one goes as a whole."""
    now = page("rain", "12 here")
    assert mask.text(now, other=page("rain", "13 here")) == "Title Weather rain home news help"
    assert mask.text(now, other=page("snow", "12 here")) == "Title 12 here home news help"
    assert mask.text(now, other=page("snow", "13 here")) == mask.text(now)
    assert mask.strip(now, other=now) == now
    assert mask.transient(now, other=now) == []
    assert [now[token.start : token.end] for token in mask.transient(now, other=page("rain", "13 here"))] == ["12 here"]


def test_seed_verified_paths_are_none_on_a_reorganised_page(mask: Mask) -> None:
    now = page("rain", "12 here")
    assert mask.strip(now, other="<table><tr><td>all<td>is<td>new</table>") == now


def test_seed_both_ways_in_the_default_mode() -> None:
    mask = Mask(paths=(TransientPath("body/p", slot=("", "here")), TransientPath("body/div")))
    now = "<body><div>rain</div><p>12 here</p>"
    assert mask.text(now) == "here"
    assert mask.text(now, other="<body><div>rain</div><p>13 here</p>") == "rain here"
    assert mask.text(now, other="<body><div>snow</div>") == "here"  # what came differs, too
    assert mask.text(now, other=now) == "rain 12 here"
    assert mask.text(now, other="") == "here"


HTML = st.lists(
    st.sampled_from(["<p>", "</p>", "<div>", "</div>", "<b>", "rain", "12 here", "<h1>", "</h1>", "\n", "<", "&amp;"])
).map("".join)


@given(HTML, HTML)
def test_seed_verified_is_part_of_what_exists(one: str, other: str) -> None:
    for mask in (
        Mask(paths=tuple(TransientPath(path + BELOW) for path in ("p", "div", "p/b")), mode="seed"),
        Mask(paths=(TransientPath("p"), TransientPath("div", slot=("", "here")))),
    ):
        verified, all_ = mask.spans(one, other=other), mask.spans(one)
        assert all(any(low <= start and end <= high for low, high in all_) for start, end in verified)
        assert mask.spans(one, other=one) == []


@given(HTML, HTML)
def test_seed_verified_tokens_are_those_of_the_paths(one: str, other: str) -> None:
    paths = TransientPaths(frozenset(("p", "div")))
    changes = changes_between(one, other)
    bits = paths.verified(changes)[0]
    marked = {
        changes.first.tokens[number].start
        for number, bit in enumerate(bits)
        if bit and changes.first.tokens[number].text
    }
    mask = Mask(paths=(TransientPath("p" + BELOW), TransientPath("div" + BELOW)), mode="seed")
    spans = mask.spans(one, other=other)
    assert all(any(start <= at < end for start, end in spans) for at in marked if one[at].strip())
