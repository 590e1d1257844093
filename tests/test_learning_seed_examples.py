"""The worked examples of the documents, as sites with pages enough, through the pipeline as it is deployed."""

from collections.abc import Callable, Sequence
from itertools import product
from random import Random

import pytest

from scrapy_dedup import Observation, learn_rules

Forms = Callable[[int, Random], Sequence[str]]
"""The URLs of page *n*."""


def sid(rng: Random) -> str:
    return f"{rng.getrandbits(128):032X}"


def marketwatch(n: int, rng: Random) -> Sequence[str]:
    guid = f"%7B{n:08X}%2DBB62%2D457C%2DA82E%2D05EE3F6F16C8%7D"
    options = product(("yhoo/", ""), ("source=blq/yhoo&", ""), ("siteid=yhoo&", ""), ("dist=yhoo&", ""))
    return [
        f"http://www.marketwatch.com/news/{brand}story.asp?{source}{siteid}{dist}guid={guid}"
        for brand, source, siteid, dist in options
    ]


def informationweek(n: int, rng: Random) -> Sequence[str]:
    page = "http://www.informationweek.com/showArticle.jhtml"
    article = f"articleID={60401364 + n}"
    return [
        f"{page};jsessionid={sid(rng)}?{article}",
        f"{page}?{article}&tid={rng.randrange(1000, 9999)}",
        f"{page}?{article}",
    ]


def amazon(n: int, rng: Random) -> Sequence[str]:
    page = f"http://www.amazon.fr/exec/obidos/ASIN/{2709606810 + n}/"
    q1, q2 = (rng.randrange(1038383000, 1038384000) for _ in range(2))
    return [
        f"{page}qid={q1}/sr=1-{n % 30}/ref=sr_1_3_{n % 30}/",
        f"{page}qid={q2}/br=1-{n % 20}/ref=br_lf_b_{n % 20}/",
        f"{page}ref=br_lf_b_{n % 20}/",
    ]


def player(n: int, rng: Random) -> Sequence[str]:
    """URLs (1) to (3), (7) and (8)."""
    file = f"file=news{20080115 + n}"
    return [
        f"http://xyz.com/content/video?{file}&player=small",
        f"http://xyz.com/content/video?player=small&{file}",
        f"http://xyz.com/content/video?player=small&{file}&irrelevantparam={rng.randrange(9)}",
        f"http://xyz.com/content/video?junk={rng.randrange(1000)}&{file}&player=small",
    ]


def nested(n: int, rng: Random) -> Sequence[str]:
    """URLs (12) to (14); the site of the inner URL is known by its own pages."""
    inner = f"http%3A%2F%2Fxyz.com%2Fwatch%3Fid%3D{n}%26irrelevant2%3D"
    return [
        *(f"http://xyz.com/watch?id={n}&irrelevant2={rng.randrange(10**6)}" for _ in range(2)),
        *(
            f"http://xyz.com/frame?irrelevant={rng.randrange(10**6)}&url={inner}{rng.randrange(10**6)}"
            for _ in range(2)
        ),
    ]


def path_and_file(n: int, rng: Random) -> Sequence[str]:
    """URLs (15) to (18), with something irrelevant beside them."""
    tuple_ = f"path=cats/{('kittens', 'tigers', 'lions', 'lynxes')[n % 4]}&file={chr(97 + n // 4)}.mpg"
    return [f"http://xyz.com/video?{tuple_}&x={rng.randrange(10**6)}" for _ in range(2)]


def paths(n: int, rng: Random) -> Sequence[str]:
    return [f"http://site.com/{path}?video=a{n}.mpeg" for path in ("path1", "path2")]


def hosts(n: int, rng: Random) -> Sequence[str]:
    return [f"http://{host}.site.com/watch?video={n}" for host in ("www1", "www2")]


def spelled(n: int, rng: Random) -> Sequence[str]:
    return [f"http://site.com/v?v={name}" for name in (f"video{n}.mpg", f"VIDEO{n}.MPG")]


def archives(n: int, rng: Random) -> Sequence[str]:
    """Figure 4 of the pattern tree."""
    return [
        f"http://www.example.com/archive{n % 4}/display?pageid={10 + n}",
        f"http://www.example.com/archive{(n * 3 + 1) % 4}/{10 + n}/display?sid={sid(rng)}",
    ]


def mirrors(n: int, rng: Random) -> Sequence[str]:
    """``us.php.net`` and ``de.php.net``; a slash at the end, and the name of an index."""
    return [f"http://{host}.php.net/manual/f{n}{end}" for host in ("us", "de") for end in ("/", "", "/default.asp")]


EXAMPLES = (
    marketwatch,
    informationweek,
    amazon,
    player,
    nested,
    path_and_file,
    paths,
    hosts,
    spelled,
    archives,
    mirrors,
)


@pytest.mark.parametrize("forms", EXAMPLES)
def test_example(forms: Forms) -> None:
    """Forty pages are seen under all their URLs; of twenty others, and one of these, each has one key of its own."""
    rng = Random(1)
    seen = [
        Observation(url, f"{kind_of(url)} page {n}", status=200, words=80) for n in range(40) for url in forms(n, rng)
    ]
    book = learn_rules(seen)
    keys: dict[tuple[int, str], set[str]] = {}
    for n in (7, *range(40, 60)):
        for url in forms(n, rng):
            keys.setdefault((n, kind_of(url)), set()).add(book.canonical_key(url))
    assert {page: len(own) for page, own in keys.items()} == dict.fromkeys(keys, 1)
    assert len(set[str]().union(*keys.values())) == len(keys), "pages are kept apart"


def kind_of(url: str) -> str:
    """Tell pages of one number apart: a frame is another page than what is shown in it."""
    return "frame" if "/frame" in url else "page"
