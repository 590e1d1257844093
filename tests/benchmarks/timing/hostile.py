"""How the time of tokens, blocks and masks grows on hostile pages.

A hostile page of each size is read again and again for some time, and the *mean* is what counts: what a small page
leaves to the garbage collector is paid for while a later one is read, and the least time of many would leave that out
for small pages only. Of a few such means the least is taken, since other processes only add to them.
"""

import gc
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from random import Random
from time import process_time

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.pages.tokens import blocks_with_offsets, tokens

from ..sites.many_keys import word
from .learning import slope

STEPS = 4
FACTOR = 3
"""Sizes of a hostile page: the largest and three more, each a third of the next."""
LARGE = 1_000_000
DEEP = 400_000
"""Tags of a page of open elements: of these the first 256 have names of their own, which are remembered, so the smallest
page must have many times as many, or the slope would be that from these to all others."""
SAMPLE_SECONDS, SAMPLES = 0.1, 3
"""A sample is the mean of as many runs as take so long; there are so many samples, if they take less than LONG_SECONDS."""
LONG_SECONDS = 5.0
MOST_RUNS = 100
MOST_SECONDS = 60.0
"""A size that would take longer, by the two before it, is left out, and so are larger ones."""

SALT = "\ue000"
"""Stands for a name of the run, so that no two runs read the same tags or the same long text."""

Work = Callable[[str], object]


@dataclass(frozen=True, slots=True)
class Growth:
    """CPU seconds at each size (bytes) of one kind of page."""

    shape: str
    what: str
    sizes: tuple[int, ...]
    seconds: tuple[float, ...]
    stopped: str = ""
    """Why larger sizes were left out: what was raised, or "too long"; "" if none were."""

    @property
    def slope(self) -> float | None:
        """Of log(seconds) over log(bytes)."""
        return slope(list(zip(self.sizes, self.seconds, strict=True)))


def all_tokens(html: str) -> None:
    """Read a page and make each of its tokens."""
    deque(tokens(html), maxlen=0)


def all_blocks(html: str) -> None:
    """Read a page and make each of its blocks."""
    deque(blocks_with_offsets(html), maxlen=0)


def fat_page(rng: Random, vocabulary: Sequence[str], words: int) -> str:
    """A page of 50 kB whose texts have so many words each; every row has an id and a link of its own."""
    parts = ["<!DOCTYPE html><html><head><title>A page</title><script>var a = '<b>';</script></head><body>"]
    length = 0
    while length < 50_000:
        number = rng.randrange(10**6)
        text = " ".join(rng.choices(vocabulary, k=words))
        part = (
            f'<div class="row" id="row{number}"><h3><a href="/item/{number}?from=list">{text[:30]}</a></h3>'
            f'<img src="/img/{number}.png" alt=""><p>{text}<br>{number % 1000} &amp; more</p>'
            f"<ul><li>one<li>two</ul></div>\n"
        )
        parts.append(part)
        length += len(part)
    return "".join([*parts, "</body></html>"])


def seconds_of(work: Work, pages: Sequence[str]) -> float:
    """CPU seconds for some pages: other processes take nothing from it."""
    start = process_time()
    for html in pages:
        work(html)
    return process_time() - start


# -- hostile pages


def large_page(size: int) -> str:
    """An ordinary page of that many characters."""
    rng = Random(1)
    body = fat_page(rng, [word(rng) for _ in range(500)], 20)
    head, _, rest = body.partition("<body>")
    rows = rest.removesuffix("</body></html>")
    return f"{head}<body>{rows * max(1, size // len(rows))}</body></html>"


SHAPES: Mapping[str, tuple[int, Callable[[int], str]]] = {
    "100,000 nested elements": (100_000, lambda n: "<div>" * n + "text" + "</div>" * n),
    "100,000 nested elements with classes": (
        100_000,
        lambda n: "".join([f'<div class="c{i % 10}" id="i{i}{SALT}">' for i in range(n)]) + "text" + "</div>" * n,
    ),
    "elements that are never closed": (DEEP, lambda n: "<b><i>text" * (n // 2)),
    "100,000 unmatched end tags": (100_000, lambda n: "<body>" + "</b>text" * n),
    "unmatched end tags in deep nesting": (DEEP, lambda n: "<div>" * (n // 2) + "</span>text" * (n // 2)),
    "end tags in the wrong order": (DEEP, lambda n: "<b>" * (n // 4) + "<i>" * (n // 4) + "</b></i>" * (n // 4)),
    "every start tag ends another": (DEEP, lambda n: "<table><tr><td><p>text<li>" * (n // 5)),
    "li in deep nesting": (DEEP, lambda n: "<ul><li>" + "<span>" * (n // 2) + "<li>text" * (n // 2)),
    "p and div by turns": (DEEP, lambda n: "<p>text<div>" * (n // 2)),
    "100,000 tags, no two alike": (
        100_000,
        lambda n: "".join([f'<p id="{word(Random(i))}{SALT}" lang=x{i}{SALT}>text' for i in range(n)]),
    ),
    "names of elements, no two alike": (DEEP, lambda n: "".join([f"<x{i}{SALT}>text" for i in range(n)])),
    "100,000 attributes": (100_000, lambda n: "<p " + "".join([f"a{i}{SALT}=b " for i in range(n)]) + ">text</p>"),
    "100,000 classes": (100_000, lambda n: '<p class="' + " ".join([f"a{i}{SALT}" for i in range(n)]) + '">text</p>'),
    "100,000 open quotes": (100_000, lambda n: '<a href="x>text ' * n),
    "100,000 open comments": (100_000, lambda n: "<!-- text " * n),
    "100,000 open scripts": (100_000, lambda n: "<script>text " * n),
    "100,000 ends of scripts that are none": (100_000, lambda n: "<script>" + "</scrip text" * n),
    "100,000 open CDATA": (100_000, lambda n: "<svg><![CDATA[text " * n),
    "1,000,000 <": (1_000_000, lambda n: "<" * n),
    "1,000,000 &": (1_000_000, lambda n: SALT + "&" * n + f"<p>{SALT}" + "&amp;" * (n // 10) + "&#" * (n // 10)),
    "NUL bytes": (1_000_000, lambda n: "<p\0>te\0xt</p\0>\0" * (n // 12)),
    "UTF-16 read as Latin-1": (
        1_000_000,
        lambda n: ("<p class='x'>text</p>" * (n // 40)).encode("utf-16").decode("latin-1"),
    ),
    "KOI8-R read as UTF-8": (
        1_000_000,
        lambda n: ("<p>привет мир</p>" * (n // 17)).encode("koi8-r").decode("utf-8", "surrogateescape"),
    ),
    "a line of 10 MB": (10_000_000, lambda n: f"<p>{SALT}" + "text and " * (n // 9) + "</p>"),
    "a word of 10 MB": (10_000_000, lambda n: f"<p>{SALT}" + "x" * n + "</p>"),
    "a page of 50 MB": (50_000_000, large_page),
}
"""Name -> (the largest size, the page of a size)."""


def growths(*, quick: bool, only: Sequence[str] = ()) -> Iterator[Growth]:
    """How tokens, blocks and Mask.strip grow on each shape."""
    for name, (largest, shape) in SHAPES.items():
        if only and not any(part in name for part in only):
            continue
        mask = mask_for(shape)
        if quick and largest > LARGE:
            largest //= 10
        sizes = [largest // FACTOR**step for step in reversed(range(STEPS))]
        works: dict[str, Work] = {"tokens": all_tokens, "blocks": all_blocks, "Mask.strip": mask.strip}
        for what, work in works.items():
            yield growth(name, what, work, (shape(size) for size in sizes), quick=quick)


def mask_for(shape: Callable[[int], str]) -> Mask:
    """A mask learned from small pages of the shape, with a clock before it."""
    versions = {
        f"page {number}": [
            f"<html><body><h1>page {number}</h1><p class=clock>It is day {version}</p>{shape(40)}"
            for version in range(3)
        ]
        for number in range(8)
    }
    mask = learn_mask(versions)
    assert any(path.is_hidden for path in mask.paths), "nothing is stripped"
    return mask


def growth(shape: str, what: str, work: Work, pages: Iterator[str], *, quick: bool) -> Growth:
    """The times of *work* on pages of growing size."""
    sizes: list[int] = []
    seconds: list[float] = []
    stopped = ""
    for html in pages:
        if len(seconds) > 1 and seconds[-1] ** 2 / seconds[-2] > MOST_SECONDS:
            stopped = "too long"
            break
        try:
            took = least_seconds(work, html, quick=quick)
        except Exception as error:  # noqa: BLE001 # no page may make it raise: a missed figure
            stopped = repr(error)[:80]
            break
        sizes.append(len(html.encode("utf-8", "surrogatepass")))
        seconds.append(took)
    return Growth(shape, what, tuple(sizes), tuple(seconds), stopped)


def least_seconds(work: Work, html: str, *, quick: bool) -> float:
    """The CPU seconds of a run: the least of some samples."""
    found: list[float] = []
    gc.collect()
    while not found or (len(found) < SAMPLES and sum(found) < LONG_SECONDS):
        found.append(sample(work, html, SAMPLE_SECONDS / (4 if quick else 1)))
    return min(found)


def sample(work: Work, html: str, least: float) -> float:
    """The mean CPU seconds of as many runs as take at least so long."""
    runs, seconds = 0, 0.0
    while seconds < least and runs < MOST_RUNS:
        seconds += seconds_of(work, [html.replace(SALT, next(_salts))])
        runs += 1
    return seconds / runs


# Letters, as a reader may take all numbers for one.
_salts = (number.translate(str.maketrans("0123456789", "bcdfghjklm")) for number in map(str, count()))
