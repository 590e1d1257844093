"""Real versions of pages: DIR/SITE/PAGE/N.html, in the order of the numbers N.

What is read of a page, before and after a mask, is read with lxml, not with the code that is measured.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from w3lib.encoding import html_to_unicode

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.versions import version_of

from ..recordings.pages import parse, texts
from ..scoring.masking import share
from ..sites.seeded import digest

Versions = Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Kept:
    """What a mask does to real pages.

    pages, versions: pages with two versions or more, and those versions. pairs, equal_before, equal: adjacent versions,
    those with the same visible text, and those with the same one when they are stripped. compared: those that are the same when
    pages are compared, which leaves out more. words, words_kept: visible words, and those that
    stay. distinct_before, distinct: different texts of the first versions, without the mask and under it.
    """

    site: str
    mode: str
    part: str
    pages: int
    versions: int
    pairs: int
    equal_before: int
    equal: int
    compared: int
    words: int
    words_kept: int
    distinct_before: int
    distinct: int
    paths: int

    @property
    def shares(self) -> dict[str, float | None]:
        return {
            "equal_before_share": share(self.equal_before, self.pairs),
            "equal_share": share(self.equal, self.pairs),
            "compared_share": share(self.compared, self.pairs),
            "kept_share": share(self.words_kept, self.words),
            "distinct_share": share(self.distinct, self.distinct_before),
        }


def read(folder: Path) -> dict[str, list[str]]:
    """The versions of the pages of one site (PAGE/N.html), of those that have two."""
    found = {}
    for page in sorted(each for each in folder.iterdir() if each.is_dir()):
        files = sorted(page.glob("*.html"), key=lambda path: (len(path.stem), path.stem))
        if len(files) > 1:
            found[page.name] = [html_to_unicode("", path.read_bytes())[1] for path in files]
    return found


def halves(versions: Versions) -> tuple[dict[str, Sequence[str]], dict[str, Sequence[str]]]:
    """Two halves of the pages, always the same."""
    order = sorted(versions, key=digest)
    return {name: versions[name] for name in order[::2]}, {name: versions[name] for name in order[1::2]}


def measure(site: str, versions: Versions, mode: str) -> list[Kept]:
    """A site, learned on half of its pages and applied to the other half, and learned on all and applied to all."""
    learned, rest = halves(versions)
    found = [apply(learn_mask(versions, mode=mode), versions, site, mode, "all")]
    if rest:
        found.append(apply(learn_mask(learned, mode=mode), rest, site, mode, "the other half"))
    return found


def apply(mask: Mask, versions: Versions, site: str, mode: str, part: str) -> Kept:
    """What *mask* does to the pages."""
    pairs = equal_before = equal = compared = words = words_kept = 0
    first: set[str] = set()
    first_masked: set[str] = set()
    for pages in versions.values():
        before = [visible(html) for html in pages]
        after = [visible(mask.strip(html)) for html in pages]
        pairs += len(pages) - 1
        equal_before += sum(a == b for a, b in pairwise(before))
        equal += sum(a == b for a, b in pairwise(after))
        compared += sum(a == b for a, b in pairwise(mask.masked(version_of(html)) for html in pages))
        words += sum(len(text.split()) for text in before)
        words_kept += sum(len(text.split()) for text in after)
        first.add(before[0])
        first_masked.add(after[0])
    return Kept(
        site=site,
        mode=mode,
        part=part,
        pages=len(versions),
        versions=sum(map(len, versions.values())),
        pairs=pairs,
        equal_before=equal_before,
        equal=equal,
        compared=compared,
        words=words,
        words_kept=words_kept,
        distinct_before=len(first),
        distinct=len(first_masked),
        paths=len(mask.paths),
    )


def visible(html: str) -> str:
    """The visible text, its white space collapsed."""
    root = parse(html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    return "" if root is None else " ".join(" ".join(texts(root)).split())
