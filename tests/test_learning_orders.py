"""Orders, bare values and values of two tokens: both errors, on made-up sites with and without odd responses."""

import random
from itertools import permutations

import pytest

from scrapy_dedup import Observation, learn_rules

from .unseen import SITE, Page, Spell, learned, token

COLORS, SIZES, MAKERS = ("red", "blue", "green", "black"), ("s", "m", "l", "xl"), ("north", "arc", "peak", "vale")
FACETS = [
    tuple((name, value) for name, value in zip(("color", "size", "maker"), each, strict=True) if value)
    for each in ((c, s, m) for c in COLORS for s in ("", *SIZES) for m in ("", *MAKERS))
]


def facets(start: str, between: str, end: str = "") -> Spell:
    """URLs of facets as segments in any order."""

    def spell(r: random.Random, page: Page) -> str:
        assert isinstance(page, tuple)
        return start + "/".join(name + between + value for name, value in r.sample(page, len(page))) + end

    return spell


def semicolons(r: random.Random, page: Page) -> str:
    assert isinstance(page, tuple)
    pairs = [
        f"col={page[1]}",
        f"way={page[2]}",
        *([f"stamp={r.randint(10**9, 2 * 10**9)}"] if r.random() < 0.5 else []),
    ]
    r.shuffle(pairs)
    return f"/pub/{page[0]}/?" + "".join(pair + r.choice(";&") for pair in pairs)[:-1]


NUMBERS = range(100, 280)
LISTS = [(n, c, w) for n in range(40) for c in "NMS" for w in "AD"]
TAGS = [tuple(sorted(pair)) for pair in permutations(["ash", "bay", "elm", "fir", "oak", "yew", "box", "fig"], 3)]
SAME = {
    "dashes": (FACETS, facets("/list/", "-", "/")),
    "colons at the root": (FACETS, facets("/", ":")),
    "equals": (FACETS, facets("/list/", "=")),
    "extension": (FACETS, facets("/shop/list/", "_", ".html")),
    "pairs of segments": (FACETS, facets("/", "/", "/")),
    "pairs before a page": (FACETS, facets("/list/", "/", "/page/2")),
    "tags without names": (sorted(set(TAGS)) * 2, lambda r, page: "/tags/" + "/".join(r.sample(page, 3))),
    "semicolons": (LISTS, semicolons),
    "bare number": (NUMBERS, lambda r, page: f"/{page}.css?{r.randint(10**9, 2 * 10**9)}"),
    "bare letters": (NUMBERS, lambda r, page: f"/{page}.css?{token(r, 'abcdefghijkmnpqrstuvwxyz0123456789', 6)}"),
    "bare beside others": (NUMBERS, lambda r, page: r.choice(("/a?{1}&id={0}", "/a?id={0}")).format(page, token(r))),
    "a query that is a path": (
        NUMBERS,
        lambda r, page: (
            f"/picture.php?/{page}"
            + r.choice(("", "/best", f"/category/{r.randint(1, 60)}-hills", f"/tags/{r.randint(1, 60)}-tree"))
            + r.choice(("", "", "&slideshow="))
        ),
    ),
    "a list in one value": (
        FACETS,
        lambda r, page: "/list?f=" + ",".join(f"{name}_{value}" for name, value in r.sample(page, len(page))),
    ),
    "a list in a segment": (sorted(set(TAGS)) * 2, lambda r, page: "/tags/" + "+".join(r.sample(page, 3)) + ".html"),
    "a tail that is there or not": (
        NUMBERS,
        lambda r, page: f"/show?id={page}" + r.choice(("", f":title-of-{page * 7}")),
    ),
    "a tail behind a tilde": (
        NUMBERS,
        lambda r, page: f"/record=b{page}x" + r.choice(("", f"~S{r.randint(0, 20)}", f"~S{r.randint(0, 20)}*eng")),
    ),
    "a title before the number or not": (NUMBERS, lambda r, page: f"/a/{r.choice(('', 'title-'))}{page}.html"),
    "session of two tokens": (NUMBERS, lambda r, page: f"/a/{page};sid={token(r)}.node{r.randint(1, 4)}"),
}
DIFFERENT = {
    "a way and its way back": (
        list(permutations(range(14), 2)),
        lambda r, page: f"/from/{page[0]}/to/{page[1]}" + r.choice(("", "?sid=" + token(r))),
    ),
    "segments whose order is the page": (
        list(permutations(("ash", "bay", "elm", "fir", "oak", "yew"), 3)),
        lambda r, page: "/route/" + "/".join(page) + r.choice(("", "?sid=" + token(r))),
    ),
    "bare words": (
        [(n, word) for n in range(40) for word in ("about", "team", "map", "jobs")],
        lambda r, page: f"/{page[0]}?{page[1]}" + r.choice(("", "&sid=" + token(r))),
    ),
    "bare numbers": (NUMBERS, lambda r, page: f"/show?{page}" + r.choice(("", "&sid=" + token(r)))),
    "bare pages of a list": (
        [(n, p) for n in range(20) for p in range(9)],
        lambda r, page: f"/list{page[0]}?p{page[1]}" + r.choice(("", "&sid=" + token(r))),
    ),
    "a token and a language": (
        [(n, code) for n in range(60) for code in ("en", "de", "fr")],
        lambda r, page: f"/a/{page[0]};s={token(r)}.{page[1]}",
    ),
    "a query that is a path to pages": (
        [(n, part) for n in range(60) for part in ("", "/map", "/map/2")],
        lambda r, page: f"/index.php?/area/{page[0]}{page[1]}" + r.choice(("", "&sid=" + token(r))),
    ),
    "stops of a route in one value": (
        list(permutations(("ash", "bay", "elm", "fir", "oak", "yew"), 3)),
        lambda r, page: f"/route?via={','.join(page)}" + r.choice(("", "&sid=" + token(r))),
    ),
    "a tail that names a page": (
        [(n, tail) for n in range(60) for tail in ("", ":reviews", ":offers")],
        lambda r, page: f"/show?id={page[0]}{page[1]}" + r.choice(("", "&sid=" + token(r))),
    ),
    "a tail that is the page": (
        [(n, tail) for n in range(60) for tail in ("~S1", "~S2")],
        lambda r, page: f"/record=b{page[0]}{page[1]}" + r.choice(("", "?sid=" + token(r))),
    ),
    "an id and a token": (NUMBERS, lambda r, page: f"/show?t={page}.{token(r)}"),
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("noise", [0.0, 0.01])
def test_what_makes_no_difference_is_merged(name: str, noise: float) -> None:
    pages, spell = SAME[name]
    share, lost, _ = learned(sorted(set(pages)), spell, 1, noise)
    assert lost == 0
    assert share > 0.95


@pytest.mark.parametrize("name", DIFFERENT)
@pytest.mark.parametrize("noise", [0.0, 0.03])
def test_what_makes_a_page_is_kept(name: str, noise: float) -> None:
    pages, spell = DIFFERENT[name]
    share, lost, _ = learned(list(pages), spell, 2, noise)
    assert lost == 0
    assert share > 0.45 if noise else share > 0.95


@pytest.mark.parametrize(
    "name", ["a tail that is there or not", "a tail behind a tilde", "a list in one value", "a query that is a path"]
)
def test_parts_of_values_are_learned_among_odd_responses(name: str) -> None:
    pages, spell = SAME[name]
    share, lost, _ = learned(list(pages), spell, 1, 0.03)
    assert lost == 0
    assert share > 0.95


def test_names_that_were_not_seen_to_move_stay_in_their_places() -> None:
    r = random.Random(0)
    spell = facets("/list/", "-")
    rows = [Observation(SITE + spell(r, page), repr(page)) for page in FACETS for _ in range(3)]
    book = learn_rules(rows)
    assert book.equivalent(f"{SITE}/list/size-9/color-pink", f"{SITE}/list/color-pink/size-9")
    assert not book.equivalent(f"{SITE}/list/step-2/color-pink", f"{SITE}/list/color-pink/step-2")
