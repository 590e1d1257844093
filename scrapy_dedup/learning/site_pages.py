"""The mask of a site, from what a store keeps of its pages."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import groupby

from xxhash import xxh3_64_intdigest

from ..content.retention import MOST_OF_KIND, MOST_VERSIONS, retained
from ..content.versions import Version
from ..masks.learning.carry_over.carrying import CarryOver
from ..masks.learning.carry_over.site_texts import SiteTexts
from ..masks.learning.counts.epochs import PageVersions, latest_epoch
from ..masks.learning.counts.place_counts import Place
from ..masks.learning.learn import mask_of
from ..masks.learning.single_crawl.crawl_order import crawl_numbers, crawls_of
from ..masks.learning.single_crawl.visits import TransientPlaces, transient_places
from ..masks.model import Mask, Template, TransientPath
from ..masks.published.thresholds import Thresholds
from ..rules import RuleBook
from ..rules.model import Status
from ..urls.templates import in_order, template_of
from .published_masks import published_mask_of

MOST_PAGES = 4_000
"""Pages of a site that are compared, those with the most versions."""

Kept = tuple[str, float, Version]
"""URL in normal form, seconds since 1970, version."""


@dataclass(frozen=True, slots=True)
class LearnedMasks:
    """The mask of a site, and the one that its pages are compared under: it knows those of past designs, too.

    None where there is nothing to say, and there was nothing before: the file of an older mask is to be renewed. ``note`` is what
    the user should know of it.
    """

    mask: Mask | None = None
    comparing: Mask | None = None
    note: str = ""


class SitePages:
    """The versions that are kept of the pages of a site, URL by URL, those of a URL in order of time.

    With *thresholds*, its mask is learned by the transient-content document's method, with these.
    """

    def __init__(self, site: str, kept: Sequence[Kept], thresholds: Thresholds | None = None) -> None:
        self._site = site
        self._thresholds = thresholds
        self._kept = kept
        fetches = sorted({(url, at) for url, at, _ in kept}, key=lambda each: (each[1], each[0]))
        #: (URL, seconds since 1970) -> the number of its crawl.
        self._crawls = dict(zip(fetches, crawl_numbers(fetches), strict=True))
        #: What depends on the visit, once a mask was learned.
        self._visits: TransientPlaces | None = None
        #: The last masks, with the keys of the pages that they were found by, and with what was known before.
        self._last: tuple[object, LearnedMasks] | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def masks(self, book: RuleBook | None, before: Mask | None) -> LearnedMasks:
        """Return the masks of pages that are distinguished by URL, or by the rules of *book*; *before* is the earlier mask."""
        key_of = book.canonical_key if book is not None else str
        asked = [key_of(url) for url, _, _ in self._kept], before
        if self._last is None or self._last[0] != asked:
            self._last = asked, self._masks(key_of, before)
        return self._last[1]

    def _masks(self, key_of: Callable[[str], str], before: Mask | None) -> LearnedMasks:
        pages = self._pages(key_of)
        if self._thresholds is not None:
            versions = [page.versions for page in pages]
            found, note = published_mask_of(versions, before, site=self._site, thresholds=self._thresholds)
            return LearnedMasks(found, found, note)
        if before is not None and before.mode == "seed":  # what that method has learned means something else
            before = replace(before, mode="default", paths=tuple([path for path in before.paths if path.state]))
        mask = mask_of(
            pages,
            previous=before,
            site=self._site,
            present=self._places if before is not None else (),
            looked_at=self._looked_at,
        )
        carry_over = CarryOver(latest_epoch(pages).latest, self._controls, lambda: self._texts)
        mask = carry_over.carried(mask)
        if self._visits is None:  # the first mask is that of the URLs: what rules say of them hides no visits
            self._visits = self._found_visits(mask)
        if self._visits.paths:
            mask = _with_visits(mask, self._visits)
        mask = carry_over.with_layouts(mask)
        known = mask if mask.paths or before is not None else None
        return LearnedMasks(known, self._comparing(pages, key_of, mask) or known)

    def without_refuted(self, before: Mask | None, known: RuleBook) -> Mask | None:
        """Return the mask *before* without the paths that only rules which are suspended in *known* have taught.

        The URLs that these took for one page are several, and what differs between them is their content.
        """
        rules = known.for_site(self._site)
        refuted = [rule for rule in rules if rule.status is Status.SUSPENDED and not rule.is_alias]
        if before is None or not refuted or self._thresholds is not None:  # that method learns all of it anew
            return before
        acting = [replace(rule, status=Status.ACTIVE) if rule in refuted else rule for rule in rules]
        book = RuleBook(acting, {self._site: known.site_rules(self._site).deep}, known.groups)
        taught = mask_of(self._pages(book.canonical_key), site=self._site)
        proper = mask_of(self._pages(known.canonical_key), site=self._site)
        wrong = _hidden(taught) - _hidden(proper)
        paths = [path for path in before.paths if path.state or (path.selector, path.attribute) not in wrong]
        return replace(before, paths=tuple(paths), templates=before.templates - (taught.templates - proper.templates))

    def _pages(self, key_of: Callable[[str], str]) -> list[PageVersions]:
        """Return the pages that were seen more than once; URLs of one key are one page."""
        pages = self._by_key(key_of)
        # By their hashes: neighbours in the alphabet may be pages of one sort.
        several = sorted(
            (page for page in pages.items() if len(page[1]) > 1),
            key=lambda page: (-len(page[1]), xxh3_64_intdigest(page[0].encode()), page[0]),
        )
        compared = Counter[Template]()
        chosen: list[PageVersions] = []
        for name, found in several:
            kinds = {template_of(url) for url, _, _ in found}
            if len(chosen) < MOST_PAGES and min(compared[kind] for kind in kinds) < MOST_OF_KIND:
                compared.update(kinds)
                chosen.append(self._seen(name, found))
        return chosen

    def _by_key(self, key_of: Callable[[str], str]) -> dict[str, list[Kept]]:
        pages: dict[str, list[Kept]] = {}
        for each in self._kept:
            pages.setdefault(key_of(each[0]), []).append(each)
        return pages

    def _seen(self, name: str, kept: Sequence[Kept]) -> PageVersions:
        """Return one page; where its versions come from several URLs, only their texts: links and forms echo the URL."""
        fetched = sorted(kept, key=lambda each: (each[1], each[0]))
        compared = [fetched[place] for place in retained([(at, url) for url, at, _ in fetched], MOST_VERSIONS)]
        versions = [version for _, _, version in compared]
        if len({url for url, _, _ in compared}) > 1:
            versions = [replace(v, blocks=tuple([row for row in v.blocks if not row[1]])) for v in versions]
        # Pages are named by their keys, which may be of another kind than the URLs they are seen under.
        templates = tuple({template_of(url) for url, _, _ in kept})
        crawls = [self._crawls[url, at] for url, at, _ in compared]
        return PageVersions(name, versions, templates, crawls, [(at, url) for url, at, _ in compared])

    def _comparing(self, pages: Iterable[PageVersions], key_of: Callable[[str], str], mask: Mask) -> Mask | None:
        """Return *mask* with what passed in past designs, by which their pages can still be compared; None without."""
        epochs = latest_epoch(pages)
        if not epochs.past:
            return None
        # What stands in such a place now is not what passed there, on a page that was seen once neither.
        seen = latest_epoch(self._seen(name, found) for name, found in self._by_key(key_of).items())
        present = {place for page in seen.latest for place in page.places()}
        old = mask_of(epochs.past, site=self._site)
        kinds = in_order(old.templates)
        further = [
            path if path.templates or path.everywhere else replace(path, templates=kinds)
            for path in old.paths
            if path.is_left_out and not path.is_unseen and (path.selector, path.attribute) not in present
        ]
        known = {path.key for path in mask.paths}
        further = [path for path in further if path.key not in known]
        if not further:
            return None
        paths = (*_of_its_kinds(mask), *further)
        return replace(mask, paths=paths, templates=mask.templates | old.templates)

    def _found_visits(self, mask: Mask) -> TransientPlaces:
        """Return what depends on the visit, by the URLs that were seen in the present design.

        Where there is nothing, it is looked for beside what *mask* says of places all over the site.
        """
        found = self._visits_beside(None)
        if found.paths:
            return found
        all_over = [path for path in mask.paths if path.everywhere]
        found = self._visits_beside(replace(mask, paths=tuple([path for path in all_over if path.is_hidden])))
        # What pages are but compared without may depend on the visit itself.
        return found if found.paths else self._visits_beside(replace(mask, paths=tuple(all_over)))

    def _visits_beside(self, mask: Mask | None) -> TransientPlaces:
        seen = (each for each in self._kept if each[0] in self._present)
        if mask is not None:
            seen = ((url, at, mask.left_of(version, url=url, carried=True)) for url, at, version in seen)
        return transient_places(crawls_of(seen))

    @cached_property
    def _controls(self) -> Sequence[PageVersions]:
        """The pages that were seen more than once under one URL, in the present design."""
        return latest_epoch(self._pages(str)).latest

    @cached_property
    def _present(self) -> set[str]:
        """URLs that were seen in the present design."""
        by_url = [(url, list(found)) for url, found in groupby(self._kept, key=lambda each: each[0])]
        pages = [
            PageVersions(url, [version for _, _, version in found], (), [self._crawls[url, at] for _, at, _ in found])
            for url, found in by_url
        ]
        return {page.name for page in latest_epoch(pages).latest}

    @cached_property
    def _texts(self) -> SiteTexts:
        return SiteTexts(self._kept)

    @cached_property
    def _places(self) -> set[Place]:
        return {row[:2] for _, _, version in self._kept for row in version.rows()}

    @cached_property
    def _looked_at(self) -> Counter[Template]:
        """Kind of pages -> number of URLs of it."""
        return Counter([template_of(url) for url, _ in groupby(self._kept, key=lambda each: each[0])])


def _hidden(mask: Mask) -> set[tuple[str, str]]:
    return {(path.selector, path.attribute) for path in mask.paths if path.is_left_out}


def _of_its_kinds(mask: Mask) -> list[TransientPath]:
    """Return the learned paths of a mask so that kinds of pages may join it of which they say nothing."""
    kinds = in_order(mask.templates)
    return [
        path if path.state or path.templates or path.everywhere else replace(path, templates=kinds)
        for path in mask.paths
    ]


def _with_visits(mask: Mask, visits: TransientPlaces) -> Mask:
    """Return a mask with the paths that depend on the visit; the user's paths and slots of places stay."""
    paths = _of_its_kinds(mask)
    further = {(path.selector, path.attribute): path for path in visits.paths}
    kept = []
    for path in paths:
        place = path.selector, path.attribute
        # Slots of one position say nothing of the others: "recently viewed" has more of them on later pages.
        is_part = path.slot is not None and path.position == 0
        if path.state or (path.is_left_out and is_part):
            further.pop(place, None)
    for path in paths:
        found = further.get((path.selector, path.attribute))
        if found is None or path.state:
            kept.append(path)
        elif path.is_left_out:
            both = {*path.templates, *found.templates} if path.templates else ()
            further[path.selector, path.attribute] = replace(found, templates=in_order(both))
    return replace(mask, paths=(*kept, *further.values()), templates=mask.templates | visits.templates)
