"""Refetched pages, path by path: how often the texts change, and where they are the pages' own."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise

from ....chance import at_most
from ....content.versions import by_place
from ....observation import APART, AT_ONCE
from ...path import Template, TransientPath
from ...words import has_digit
from ..counts.collection import TextsByPlace
from ..counts.epochs import PageVersions
from ..parameters import current
from .luck import agreements, beyond_luck, is_nearly_always
from .site_texts import SitePage, SiteTexts, changing_texts
from .typed_words import keep_number, untyped_words


@dataclass(slots=True)
class ChangeTrials:
    """What the responses that showed a page again say of one path."""

    changes: int = 0
    opportunities: int = 0
    pages: set[str] = field(default_factory=set)
    #: URL template -> [changes, opportunities]
    by_template: defaultdict[Template, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    values: list[tuple[str, ...]] = field(default_factory=list)
    #: URL template -> how often a text with a number stayed in its place among others that changed.
    keeping: Counter[Template] = field(default_factory=Counter)
    #: The texts that went or came, and the words among them that did and are no numbers.
    changed: set[str] = field(default_factory=set)
    words: set[str] = field(default_factory=set)
    #: Changes within moments, and those of them in which such words went or came.
    moments: int = 0
    rewordings: int = 0

    def is_often(self, alike: Callable[[], float]) -> bool:
        """Return whether it changed nearly each time; *alike* gives the share of the pages that show the same."""
        changes, all_ = self.changes, self.opportunities
        return changes > 0 and (is_nearly_always(changes, all_) or is_nearly_always(changes, all_, alike()))

    @property
    def is_typed(self) -> bool:
        """Whether numbers change, and the words beside them stay: "12 users online" does, and the name of an article does not."""
        return 2 * self.rewordings < max(1, self.moments) and all(map(has_digit, self.changed))

    def staying(self, without: Template) -> float:
        """Return the share of the responses that have shown the same on pages of other URL templates."""
        changes, all_ = self.by_template.get(without, (0, 0))
        changes, all_ = self.changes - changes, self.opportunities - all_
        return max(0.0, 1 - changes / all_) if all_ > 0 else 0.0


class Responses:
    """The responses that showed a page again; *texts* returns the texts of all pages of the site.

    Of the pages *seen*, several URLs may be one; *controls* are those of one URL each.
    """

    def __init__(
        self, seen: Iterable[PageVersions], controls: Iterable[PageVersions], texts: Callable[[], SiteTexts]
    ) -> None:
        self.pages = _with_texts(seen)
        self._controls = _with_texts(controls)
        self._texts_of_site = texts
        #: What pages show at a path: the work of each is done once.
        self._shown: dict[Hashable, Sequence[tuple[SitePage, list[str] | None]]] = {}
        self._trials: dict[Hashable, ChangeTrials] = {}
        self._agreements: dict[Hashable, Mapping[Template, tuple[int, int]]] = {}

    @cached_property
    def texts(self) -> SiteTexts:
        """The texts of all pages."""
        return self._texts_of_site()

    def again(self, *, controls: bool) -> Iterator[tuple[PageVersions, int, TextsByPlace, TextsByPlace]]:
        """Yield (page, number of the version, its texts by place, those of the next version).

        With *controls*, only of versions of one URL in one crawl.
        """
        for page, groups in self._controls if controls else self.pages:
            for number, (one, other) in enumerate(pairwise(groups)):
                if not controls or _is_control(page, number):
                    yield page, number, one, other

    def trials(self, path: TransientPath, *, controls: bool = False, anew: bool = False) -> ChangeTrials:
        """Count how often what changes at a path did change on the pages that were seen again; with *controls*, in one crawl.

        With *anew*, all of it must have: a list that is pushed on has changed, too.
        """
        key = path.key, path.slot, controls, anew
        if key not in self._trials:
            self._trials[key] = self._counted(path, controls=controls, anew=anew)
        return self._trials[key]

    def _counted(self, path: TransientPath, *, controls: bool, anew: bool) -> ChangeTrials:
        trials = ChangeTrials()
        place = path.selector, path.attribute
        for page, number, one, other in self.again(controls=controls):
            if place not in one or place not in other:
                continue
            before, after = (changing_texts(path, texts[place]) for texts in (one, other))
            if before is None or after is None or not (before and after):
                continue
            changed = set(before).isdisjoint(after) if anew else sorted(before) != sorted(after)
            if not changed and is_too_soon(page, number):
                (at, _), (later, _) = page.fetches[number : number + 2]
                if not self._have_others_moved(path, at, later, tuple(after)):
                    continue
            for template in page.kinds:
                trials.by_template[template][0] += changed
                trials.by_template[template][1] += 1
            trials.changes += changed
            trials.opportunities += 1
            trials.pages.add(page.name)
            trials.values += [tuple(before), tuple(after)]
            if changed and keep_number(before, after):
                trials.keeping.update(page.kinds)
            if changed:
                stayed = Counter(before) & Counter(after)
                trials.changed.update(Counter(before) - stayed, Counter(after) - stayed)
                gone, come = untyped_words(before), untyped_words(after)
                trials.words.update(gone - come, come - gone)
                if _is_soon(page, number):
                    trials.moments += 1
                    trials.rewordings += gone != come
        return trials

    def own(self, path: TransientPath) -> frozenset[Template]:
        """Return the URL templates on whose pages the texts at a path are the page's own.

        Those fetched again have shown the same, and not by luck, or have kept a number among what changed; or URLs agree that
        differ in a parameter. By luck, what is one of a few texts is the same now and then. What a page says counts for
        templates of which none was fetched again, too, and most of whose pages have its places.
        """
        again = self.trials(path, controls=True)
        own = self.lasting(path, again) | self._keeping(path, again)
        return frozenset(own | self._alike(own, again.by_template.keys())) | self._agreeing(path, again)

    def lasting(self, path: TransientPath, trials: ChangeTrials) -> frozenset[Template]:
        """Return the URL templates whose pages have shown the same again at a path, in *trials* of it, and not by luck."""
        staying = {}
        for template, (changes, all_) in trials.by_template.items():
            expected = 1.0 - self._luck(path, trials, template)
            if changes < current().nearly_always * expected * all_:
                staying[template] = at_most(changes, all_, expected)
        return frozenset(beyond_luck(staying, len(trials.by_template)))

    def _keeping(self, path: TransientPath, trials: ChangeTrials) -> frozenset[Template]:
        """Return the URL templates whose pages keep a text with a number in its place, mostly, and not by luck."""
        keeping = {}
        for template, number in trials.keeping.items():
            changes = trials.by_template[template][0]
            if 2 * number > changes:
                chance = self._luck_of_pages(path, template, keeping=True)
                keeping[template] = at_most(changes - number, changes, 1.0 - chance)
        return frozenset(beyond_luck(keeping, len(trials.by_template)))

    def _luck(self, path: TransientPath, trials: ChangeTrials, template: Template) -> float:
        """Return the probability with which what changes on pages of other URL templates stays the same."""
        return max(self._luck_of_pages(path, template), trials.staying(template))

    def _alike(self, own: AbstractSet[Template], again: AbstractSet[Template]) -> set[Template]:
        """Return templates of which no page was fetched *again*, and most of whose pages have the places of an *own* one."""
        if not own:
            return set()
        layouts = self.texts.layouts
        places = {layout for template in own for layout in layouts.get(template, ())}
        places -= {layout for template in again - own for layout in layouts.get(template, ())}
        return {
            template
            for template, found in layouts.items()
            if template not in again and 2 * sum(found[layout] for layout in places) > found.total()
        }

    def changes_often(self, path: TransientPath, trials: ChangeTrials) -> bool:
        """Return whether *trials* of a path say that what stands there changes nearly each time."""
        return trials.is_often(lambda: self._luck_of_pages(path))

    def _luck_of_pages(self, path: TransientPath, without: Template | None = None, *, keeping: bool = False) -> float:
        """Return the probability with which pages, of other URL templates, show the same by luck, or but one number."""
        alike = self.agreement(path, lambda template: template != without, keeping=keeping)
        return alike if alike is not None and alike < current().common else 0.0

    def agreement(
        self, path: TransientPath, chosen: Callable[[Template], bool], *, keeping: bool = False
    ) -> float | None:
        """Return the share of pages of *chosen* URL templates that show what others of theirs do; None without any to tell."""
        key = *path.key, path.slot, keeping
        if key not in self._agreements:
            self._agreements[key] = agreements(self._texts_at(path), keep_number if keeping else tuple.__eq__)
        counts = [found for template, found in self._agreements[key].items() if chosen(template)]
        pairs = sum(all_ for _, all_ in counts)
        return sum(equal for equal, _ in counts) / pairs if pairs else None

    def _texts_at(self, path: TransientPath) -> list[tuple[SitePage, tuple[str, ...]]]:
        return [(page, tuple(texts)) for page, texts in self.showing(path) if texts]

    def _agreeing(self, path: TransientPath, again: ChangeTrials) -> frozenset[Template]:
        """Return the URL templates whose pages show what a URL does that lacks a parameter, or all, fetched at another time."""
        by_name: defaultdict[str, list[tuple[SitePage, tuple[str, ...]]]] = defaultdict(list)
        for page, texts in self._texts_at(path):
            for name in _names(page.url):
                by_name[name].append((page, texts))
        pairs, equal = Counter[Template](), Counter[Template]()
        for found in by_name.values():
            for (one, before), (other, after) in pairwise(found):
                if other.at - one.at >= AT_ONCE or self._have_others_moved(path, one.at, other.at, after):
                    templates = {one.template, other.template}
                    pairs.update(templates)
                    equal.update(templates if before == after else ())
        agreeing = {
            template: at_most(pairs[template] - number, pairs[template], 1.0 - self._luck(path, again, template))
            for template, number in equal.items()
            if number >= current().several
        }
        return frozenset(beyond_luck(agreeing, len(pairs)))

    def _have_others_moved(self, path: TransientPath, since: float, until: float, texts: tuple[str, ...]) -> bool:
        """Return whether other pages have shown several other texts between two moments: a clock had moved."""
        others: set[tuple[str, ...]] = set()
        for page, found in self.showing(path):
            if since < page.at < until and found and tuple(found) != texts:
                others.add(tuple(found))
                if len(others) >= current().several:
                    return True
        return False

    def showing(self, path: TransientPath) -> Sequence[tuple[SitePage, list[str] | None]]:
        key = *path.key, path.slot
        if key not in self._shown:
            self._shown[key] = list(self.texts.showing(path))
        return self._shown[key]


def _with_texts(pages: Iterable[PageVersions]) -> list[tuple[PageVersions, list[TextsByPlace]]]:
    several = (page for page in pages if len(page.versions) > 1)
    return [(page, [by_place(version.rows()) for version in page.versions]) for page in several]


def _is_control(page: PageVersions, number: int) -> bool:
    """Return whether a version and the next one are of one URL, fetched twice in one crawl."""
    if not page.fetches:
        return True
    (_, url), (_, other) = page.fetches[number : number + 2]
    return url == other and _is_soon(page, number)


def _is_soon(page: PageVersions, number: int) -> bool:
    """Return whether a version was fetched in the crawl of the last one."""
    return not page.fetches or page.fetches[number + 1][0] - page.fetches[number][0] < APART


def is_too_soon(page: PageVersions, number: int) -> bool:
    """Return whether a version was fetched so soon after the last one that a clock need not have moved."""
    return bool(page.fetches) and page.fetches[number + 1][0] - page.fetches[number][0] < AT_ONCE


def _names(url: str) -> set[str]:
    """Return a URL, and what is left of it without each parameter of its query, and without all."""
    path, _, query = url.partition("?")
    parts = query.split("&") if query else []
    without = ["&".join([*parts[:number], *parts[number + 1 :]]) for number in range(len(parts))]
    return {f"{path}?{rest}" for rest in (query, "", *without)}
