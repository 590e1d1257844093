"""Key-value views as segments: the document's method on the URLs of one site as the project sees them.

A segment of the path keeps its order and not its number, so that an optional one can be found; every
other key of the view is a ``name=value`` segment, the scheme and the labels of the host among them:
what the document learns per web server is learned per site.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ....urls import DeepSplit, values_of
from ...config import current
from ...data.frame import NEVER_KEPT
from ...data.judgement import SiteUrls
from ...data.url_table import Table, encode, joined_repeats
from ...evidence.arrays import ABSENT
from .segments import Segment, SegmentedUrl

PATH = "/"
"""The key of a path segment that is no ``name=value``."""


def views_of(
    sample: SiteUrls, deep: Mapping[str, DeepSplit], plain: Table | None = None
) -> tuple[list[SegmentedUrl], Table]:
    """Return the views of a sample as segments and as columns, in the sample's order.

    *plain* are the columns without deep tokens, made where they are not given.
    Segments of a path are shown by their deep tokens where only one of the two varies between URLs of
    one page: an optional segment before it would otherwise find no equal one.
    """
    if plain is None:
        plain = encode(sample.urls, (values_of(url, groups=sample.site_groups) for url in sample.urls), sample.content)
    # The document knows no noise: a content of one URL is one.
    plain = replace(plain, lone=np.zeros(len(plain), dtype=np.bool_))
    chosen = {
        key: split for key, split in deep.items() if not key.startswith("path.") or _varies_alone(plain, key, split)
    }
    return _members(sample, chosen), plain.with_deep(chosen) if chosen else plain


def _varies_alone(table: Table, key: str, split: DeepSplit) -> bool:
    """Return whether one of the two tokens varies, and the other stays, in clusters enough to learn from."""
    if key not in table.columns:
        return False
    codes, place = np.unique(table.columns[key], return_inverse=True)
    parts = [split.parts(table.vocabulary[code]) if code != ABSENT else None for code in codes.tolist()]
    numbers: dict[str | None, int] = {}
    tokens = np.array(
        [[numbers.setdefault(part, len(numbers) + 1) for part in pair] if pair else (0, 0) for pair in parts],
        dtype=np.int32,
    )[place]
    order = np.argsort(table.content, kind="stable")
    starts = np.flatnonzero(np.r_[True, np.diff(table.content[order]) != 0])
    ordered = tokens[order]
    varies = np.minimum.reduceat(ordered, starts) != np.maximum.reduceat(ordered, starts)
    present = np.minimum.reduceat(ordered, starts) > 0
    head, tail = varies.T
    return bool(np.count_nonzero((head ^ tail) & present.all(axis=1)) >= current().least_contents)


def _members(sample: SiteUrls, deep: Mapping[str, DeepSplit]) -> list[SegmentedUrl]:
    members: list[SegmentedUrl] = []
    known: dict[tuple[str, str], Segment] = {}
    for url in sample.urls:
        segments = []
        for pair in joined_repeats(values_of(url, groups=sample.site_groups, deep=deep)):
            if pair[0] in NEVER_KEPT:
                continue
            # The same object for the same segment: a site has few, and each URL several.
            segment = known.get(pair)
            if segment is None:
                segment = known[pair] = _segment(*pair)
            segments.append(segment)
        members.append(SegmentedUrl(url, "", tuple(segments)))
    return members


def _segment(key: str, value: str) -> Segment:
    if key.startswith("path.") and key[5:].isdigit():
        return Segment(PATH, value, value)
    return Segment(key, value, f"{key}={value}")


def path_positions(keys: tuple[str, ...]) -> dict[int, int]:
    """Return place in *keys* -> position in the path, of the segments of a path.

    The numbers of segments that are shown by deep tokens are left out.

    >>> path_positions(("scheme", "/", "/", "path.1.head", "path.1.tail"))
    {1: 0, 2: 2}
    """
    deep = {int(key.split(".")[1]) for key in keys if key.startswith("path.") and key.endswith((".head", ".tail"))}
    found = {}
    number = 0
    for place, key in enumerate(keys):
        if key == PATH:
            while number in deep:
                number += 1
            found[place] = number
            number += 1
    return found
