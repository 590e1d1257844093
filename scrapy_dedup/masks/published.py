"""The transient-content document's own method: which paths of tag names on the pages of a site are transient.

Paragraphs on FIG. 1 to 3 and 5 to 7. Where the document leaves a choice, it is made so:

- The path of a token names the open tags before it. A start tag counts as open in its own path, since that path names the
  subtree that the tag roots; end tags root nothing, and are not counted. So the tokens of a path are its start tags, and the
  texts, comments and scripts that stand right in them.
- Text that stands right in an element is no child path: an element all of whose child elements are transient is promoted,
  whatever its own text.
- One change in one opportunity is enough for any threshold.
- The document retrieves a page again and again; what it calls a version is a page *at another time*. Two URLs of one page, a
  spot check and a refetch within one crawl are no new time: of each crawl the first response to a page is its version, and
  from crawl to crawl each token has one opportunity to change. (Were all of them versions, a date that changes daily would
  not have changed in most of its opportunities.)
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import pairwise
from typing import Final, NamedTuple

from ..observation import KeptPage, numbered
from .model import Mask, Place
from .selectors import ALL
from .token_changes import SKIPPED, Options, changes_of, unpacked_table

MOST_PAGES: Final = 4_000
"""Pages of a site that are compared, those with the most versions."""


# The paths of a site (FIG. 2, 3 and 6)


class PathTables(NamedTuple):
    """The hash tables of FIG. 3, by path; the third one, of the paths one step below, follows from the first."""

    #: How often a token with this path was met.
    subtrees: Counter[str]
    #: How often the whole subtree rooted at such a token had changed.
    marked_subtrees: Counter[str]

    def add(self, other: "PathTables") -> None:
        """Add what other versions say."""
        for mine, others in zip(self, other, strict=True):
            mine.update(others)


def tables_of(first: bytes, second: bytes, options: Options) -> PathTables:
    """Return what two versions of a page, as packed tables, say of paths. Raises ValueError where one is damaged.

    Paragraph "The path analysis module 360 updates the data structures".
    """
    found = PathTables(Counter(), Counter())
    changes = changes_of(unpacked_table(first), unpacked_table(second), options)
    for table, whole in zip(changes.tables, changes.whole, strict=True):
        paths = table.named(options.max_path)
        for entry, (parent, number) in enumerate(zip(table.parents, table.paths, strict=True)):
            if number >= 0 and (parent < 0 or table.ends[parent] != entry):
                found.subtrees[paths[number]] += 1
                found.marked_subtrees[paths[number]] += whole[entry] and not paths[number].endswith(SKIPPED)
    return found


def transient_paths(tables: PathTables, options: Options) -> Mapping[str, tuple[int, int]] | None:
    """Return the paths that the tables show to be transient: what they name, and all below it; None for a restructured site.

    With each how many of its tokens had changed, and how many there were; with one that was promoted, those of its children.

    Paragraph "In some implementations, the paths in the marked_subtrees hash table": a path is transient where
    ``marked_subtrees(path) >= subtrees(path) * threshold`` (the text says "greater than", its formula ">="; the formula is followed),
    and what is below is skipped. Then parents all of whose unique children are transient are added, from the bottom up.
    """
    unique_children = Counter(map(_above, tables.subtrees))
    from_the_top = sorted(tables.subtrees, key=lambda path: path.count("/"))
    found: dict[str, tuple[int, int]] = {}
    below = defaultdict[str, list[tuple[int, int]]](list)
    for path in reversed(from_the_top):
        changed, count = tables.marked_subtrees[path], tables.subtrees[path]
        if changed < options.threshold * count:
            if not 0 < len(below[path]) == unique_children[path]:
                continue
            changed, count = map(sum, zip(*below[path], strict=True))
        found[path] = changed, count
        below[_above(path)].append(found[path])
    covered: set[str] = set()
    for path in from_the_top:
        if path in found or _above(path) in covered:
            covered.add(path)
    if len(covered) > options.max_share * len(from_the_top):
        return None
    return {path: own for path, own in found.items() if _above(path) not in covered}


def _above(path: str) -> str:
    return path.rpartition("/")[0]


# The mask of a site (FIG. 7)


def learned(
    pages: Iterable[Sequence[KeptPage]], before: Mask | None, *, site: str, options: Options
) -> tuple[Mask | None, str]:
    """Return the mask of a site, or None, and a note on it, or "".

    *pages* are the responses to each page in order of time; those that were recorded without tokens say nothing. What the user
    said *before* stays, and what this method learned then does of paths that no page has now. Where no page has tokens of
    two crawls, those of one crawl are its versions; where none has two at all, the mask of before stays as it is.
    """
    seen = [[each for each in page if each.version.table] for page in pages]
    several = [found for found in map(one_of_each_crawl, seen) if len(found) > 1]
    tables, compared = PathTables(Counter(), Counter()), 0
    for page in sorted(several or seen, key=len, reverse=True)[:MOST_PAGES]:
        found = [each for pair in pairwise(page) if (each := _compared(*pair, options)) is not None]
        compared += bool(found)
        for each in found:
            tables.add(each)
    if not tables.subtrees:
        note = f"transient content: {len(seen)} page{'s' * (len(seen) != 1)} seen more than once, and none of them twice while it was"
        return before, f'{note} recorded with DEDUP_TRANSIENT_METHOD = "seed"; crawl again' if seen else ""
    paths = transient_paths(tables, options)
    places = [
        Place(path, ALL, changes=some, opportunities=all_, pages=compared)
        for path, (some, all_) in (paths or {}).items()
    ]
    mask = Mask(site, tuple(places), "seed")
    if before is not None:
        there = {Place(path, ALL).key for path in tables.subtrees}
        old = [place for place in before.places if before.mode == "seed" and place.key not in there]
        mask = replace(mask, places=(*mask.places, *old), site=mask.site or before.site).obeying(before)
    note = (
        f"transient content: more than {options.max_share:g} of all paths changed, as in a redesign, so that none is transient "
        "(max_share of DEDUP_TRANSIENT_OPTIONS)"
    )
    return (mask if mask.places or before is not None else None), note if paths is None else ""


def one_of_each_crawl(page: Sequence[KeptPage]) -> list[KeptPage]:
    """Return the first response of each crawl to a page."""
    return sorted(dict(reversed([*numbered(page)])).values(), key=lambda each: each.time)


def _compared(first: KeptPage, second: KeptPage, options: Options) -> PathTables | None:
    """Return what two responses say of paths, worked out once; None if one is damaged."""
    known = first.version.compared
    key = "seed", second.version.table, options
    with suppress(ValueError):
        if key not in known:
            known[key] = tables_of(first.version.table, second.version.table, options)
    found: PathTables | None = known.get(key)
    return found
