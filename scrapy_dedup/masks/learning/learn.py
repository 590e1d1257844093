"""A mask learned: versions in, evidence by place, judgement, and what the user said before."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace
from math import isfinite

from ...content.versions import version_of
from ...urls import site_of_url
from ...urls.templates import in_order
from ..files.mask_data import Mode
from ..model import Mask
from ..path import Template, TransientPath
from ..published.thresholds import Thresholds
from ..slots import hidden, pieces
from .counts.collection import Collection
from .counts.epochs import PageVersions, latest_epoch
from .counts.place_counts import Place
from .judging.place_judgement import lasting_kinds, paths_of
from .judging.score import Score, probability
from .published_mask import published_mask

__all__ = ["learn_mask", "mask_of"]

MOST_UNDECIDED = 50
"""Places that are shown although nothing is known of them for sure."""

AGED = 50
"""Pages of a kind that are looked at without a place that was transient there, for it to be forgotten."""


def learn_mask(
    versions: Mapping[str, Sequence[str]],
    mode: Mode = "default",
    *,
    times: Mapping[str, Sequence[float]] | None = None,
    threshold: float = 0.5,
    markup: bool = True,
    max_marked: float = 0.5,
    max_share: float = 0.5,
    max_path: int = 1000,
) -> Mask:
    """Return what is transient on the pages of a site, learned from *versions*.

    *versions* are the HTML of each page, in order of time, by its URL or any other name; by names that are no URLs
    the mask does not know of kinds of pages, and strips them all.

    *mode* is "default", or "seed" for the method of the transient-content document. *times* are those of the versions
    of each page, in seconds from any moment on: with them, more can be told to pass. With *markup*, what is transient in attributes,
    scripts and comments is learned, too, in the default mode.

    The thresholds are of the mode "seed" only. *threshold* is the document's T: the share of the tokens on a path, in any
    version of any page, that must have changed. A page counts as reorganised, and teaches nothing, if more than
    the share *max_marked* of its tokens changed; a site counts as restructured, and has an empty mask, if more than the share
    *max_share* of its paths is transient. These three are over 0, and 1 at most. Paths of more than *max_path* characters
    (at least 1) are skipped.

    Raises ValueError for another mode, for a threshold that is out of range, in either mode, and where a page has not as many
    times as versions, all of them finite numbers in rising order. No HTML is wrong.

    Source: transient-content, FIG. 1 to 3, 5 and 6; what the default mode does beyond that is told in the documentation (Methods).

    >>> page = "<body><h1>Page {}</h1><p>Today is {}</p>"
    >>> versions = {f"http://a.example/{n}": [page.format(n, day) for day in ("Mon", "Tue", "Wed")] for n in range(4)}
    >>> mask = learn_mask(versions)
    >>> [(path.selector, path.slot) for path in mask.paths]
    [('body/p', ('Today is', ''))]
    >>> mask.text(page.format(17, "Sun"), url="http://a.example/17")
    'Page 17 Today is'
    """
    if mode not in ("default", "seed"):
        raise ValueError(f'mode is {mode!r}: there are "default" and "seed"')
    thresholds = Thresholds(threshold, max_marked, max_share, max_path)
    site = _site(versions)
    if mode == "seed":
        return published_mask(versions, site=site, thresholds=thresholds)
    fetches = _fetches(versions, times or {})
    seen = [
        PageVersions(page, [version_of(html, markup=markup) for html in found], fetches=fetches.get(page, ()))
        for page, found in versions.items()
    ]
    return mask_of(seen, site=site)


def _fetches(
    versions: Mapping[str, Sequence[str]], times: Mapping[str, Sequence[float]]
) -> dict[str, list[tuple[float, str]]]:
    for page, found in times.items():
        if len(found) != len(versions.get(page, ())):
            raise ValueError(f"{page}: {len(versions.get(page, ()))} versions and {len(found)} times")
        if not all(isinstance(at, int | float) and isfinite(at) for at in found):
            raise ValueError(f"{page}: times are {list(found)!r}: numbers of seconds are expected")
        if list(found) != sorted(found):
            raise ValueError(f"{page}: its versions are not in order of time")
    return {page: [(at, page) for at in found] for page, found in times.items()}


def mask_of(
    pages: Iterable[PageVersions],
    *,
    previous: Mask | None = None,
    site: str = "",
    present: Iterable[Place] = (),
    looked_at: Mapping[Template, int] | None = None,
    score_at: Callable[[Place], Score] = lambda _: probability,
) -> Mask:
    """Return what is transient on *pages* of a site, which are in any order: since the last redesign of each kind of pages.

    What the user said in *previous* stays as it is. What was learned then stays:

    - of places that no page has now, neither *pages* nor those whose places are *present*;
    - elsewhere, of the kinds of pages of which no more is known now: their pages were not seen twice, or too seldom.

    It is forgotten of places from before a redesign, and of those that no page had of enough that were *looked_at* (kind ->
    number of pages). *score_at* returns what scores a place. Time is linear in the blocks.
    """
    collection = Collection()
    epochs = latest_epoch(pages)
    past = {place for page in epochs.past for place in page.places()}
    seen = {*present, *past}
    for page in epochs.latest:
        site = site or _site([page.name])
        collection.add(page)
        if previous is not None:
            seen |= page.places()
    sightings = collection.settle()
    templates = frozenset(collection.templates - {()})
    if previous is not None:
        templates |= previous.templates
    known = templates or collection.templates
    paths: list[TransientPath] = []
    for place in sorted(collection.evidence):
        paths += paths_of(place, collection.evidence[place], known, sightings.get(place, {}), score_at(place))
    kept = _shown(paths)
    if previous is not None:
        aged = _without_aged(previous, seen, looked_at or {})
        still = _still_told(aged, collection, seen - past) if collection.templates else {}
        kept = _with_previous(kept, aged, seen if collection.templates else past, templates, still)
        site = site or previous.site
    return Mask(site, tuple(kept), templates=templates)


def _site(pages: Iterable[str]) -> str:
    return next((site_of_url(page) for page in sorted(pages) if "://" in page), "")


def _shown(paths: Iterable[TransientPath]) -> list[TransientPath]:
    """Return all paths but, of the undecided, only those that change most: so many of what pages show, and of the rest."""
    paths = list(paths)
    undecided = [path for path in paths if path.kind == "undecided"]
    undecided.sort(key=lambda path: (-path.confidence, -path.changes, path.key))
    seen, unseen = ([path for path in undecided if path.is_unseen == unseen] for unseen in (False, True))
    return [path for path in paths if path.kind != "undecided"] + seen[:MOST_UNDECIDED] + unseen[:MOST_UNDECIDED]


def _without_aged(previous: Mask, seen: AbstractSet[Place], looked_at: Mapping[Template, int]) -> Mask:
    """Return a mask without what was learned of places that were not *seen* on enough pages of their kinds."""

    def aged(path: TransientPath) -> bool:
        if path.state or (path.selector, path.attribute) in seen:
            return False
        kinds = path.templates or previous.templates
        return bool(kinds) and all(looked_at.get(kind, 0) >= AGED for kind in kinds)

    return replace(previous, paths=tuple([path for path in previous.paths if not aged(path)]))


def _still_told(
    previous: Mask, collection: Collection, present: AbstractSet[Place]
) -> dict[tuple[str, str, int, int], frozenset[Template]]:
    """Return the kinds of pages on which a place does not surely last now, by the key of a learned path of *previous*.

    Its place is *present*.
    """
    found = {}
    for path in previous.paths:
        place = path.selector, path.attribute
        if path.is_left_out and not path.state and place in present:
            kinds = frozenset(path.templates) or previous.templates
            found[path.key] = kinds - lasting_kinds(collection.evidence.get(place, {}))
    return found


def _with_previous(
    learned: Iterable[TransientPath],
    previous: Mask,
    known: Iterable[Place],
    templates: frozenset[Template],
    still: Mapping[tuple[str, str, int, int], frozenset[Template]],
) -> list[TransientPath]:
    known = set(known)
    said = {path.key: path for path in previous.paths if path.state}
    kept = {path.key: path for path in learned if path.key not in said}
    stale = [p for p in previous.paths if not p.state and p.is_left_out and (p.selector, p.attribute) not in known]
    if templates != previous.templates and previous.templates:  # they are true of the kinds of then
        of_then = in_order(previous.templates)
        stale = [p if p.templates or p.everywhere else replace(p, templates=of_then) for p in stale]
    for path in previous.paths:
        if kinds := still.get(path.key):
            kept[path.key] = _joined(path, kinds, kept.get(path.key), templates)
    return [*kept.values(), *said.values(), *stale]


def _joined(
    path: TransientPath, kinds: frozenset[Template], fresh: TransientPath | None, templates: frozenset[Template]
) -> TransientPath:
    """Return one path from a known one, still true of some *kinds* of pages, and a *fresh* one of the same place.

    The known one stays as it is while it rests on more and fits the texts that stand there now.
    """
    rests_on_more = fresh is None or path.opportunities > fresh.opportunities
    if fresh is not None and not fresh.is_left_out and not rests_on_more:
        return fresh
    if fresh is not None and fresh.is_left_out:
        kinds |= frozenset(fresh.templates) or templates
        if not (rests_on_more and _fits(path, [text for pair in fresh.examples for text in pair if text])):
            path = fresh
    return replace(path, templates=() if kinds == templates else in_order(kinds))


def _fits(path: TransientPath, texts: Iterable[str]) -> bool:
    """Return whether the slot of a path fits all *texts*."""
    slot, attribute = path.slot, path.attribute
    return slot is None or all(hidden(pieces(text, attribute), slot, attribute) is not None for text in texts)
