"""Carry-over: what changes on pages that were fetched twice, taken to change on pages of other URL templates.

Few pages of a site are fetched twice. A slot that changes nearly each time acts on URL templates of which no page was,
too, where what stands there fits: its literal words match, and what changes is *typed* (it holds a digit: a clock, a
counter, a token, a duration) and has a shape that was seen, or is a text that was seen to come and go. Where pages show that it is their own, it
does not (the veto).

A typed slot that stands all over the site is learned from a single page that one crawl fetches twice, as an ordinary
crawl does with the start page: between crawls, pages are edited, and lists pushed on. What stands there must be another on
nearly every page, but for pages of one moment.
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

from ....urls.templates import in_order
from ...model import Mask, PathKind, Template, TransientPath
from ...words import has_digit
from ..counts.epochs import PageVersions
from ..counts.place_counts import MOST_POSITIONS, Place
from ..judging.examples import example_of
from ..parameters import current
from .site_texts import SitePage, SiteTexts, is_whole, shape_of
from .trials import ChangeTrials, Responses, is_too_soon
from .typed_words import literal_of

MOST_WORDS = 50
"""Words that go with the numbers of a typed slot; more are no names of days and months."""
MOST_LAYOUTS = 100
"""Layouts of pages that were seen twice that a mask knows, those of most pages."""


class CarryOver:
    """Carries what was learned from pages *seen* twice over to all pages; *texts* returns the texts of these.

    *controls* are the pages seen twice under one URL.
    """

    def __init__(
        self, seen: Iterable[PageVersions], controls: Iterable[PageVersions], texts: Callable[[], SiteTexts]
    ) -> None:
        self._again = Responses(seen, controls, texts)

    def carried(self, mask: Mask) -> Mask:
        """Return *mask* with typed slots of the whole site, and with paths that act on further URL templates.

        What the user said stays as it is.
        """
        if not self._again.pages:
            return mask
        said = {(path.selector, path.attribute) for path in mask.paths if path.state}
        learned = [self._as_seen_at_once(path) for path in mask.paths if not path.state]
        learned = [path for path in learned if path.is_left_out]
        learned = [self._without_literals(path) for path in learned]
        typed = {path.key: path for path in self._typed() if (path.selector, path.attribute) not in said}
        taken = {path.key for path in learned}
        paths = [self._spread_out(path, mask, typed.get(path.key)) for path in learned]
        paths += [path for key, path in typed.items() if key not in taken]
        now = {path.key for path in paths}
        rest = [path for path in mask.paths if path.key not in now]
        return replace(mask, paths=(*paths, *rest))

    def _as_seen_at_once(self, path: TransientPath) -> TransientPath:
        """Return a path that pages are compared without where what stands there is another one in the next moment."""
        if path.kind != "undecided" or path.attribute:  # addresses are not compared
            return path
        trials = self._again.trials(path, controls=True, anew=True)
        return (
            replace(path, kind="volatile")
            if self._again.changes_often(path, trials) and len(trials.pages) >= current().several
            else path
        )

    def _without_literals(self, path: TransientPath) -> TransientPath:
        """Return a path without a slot where other words stand beside its numbers on some pages, and change as often."""
        if path.slot is None:
            return path
        whole = replace(path, slot=None)
        trials = self._again.trials(whole)
        is_wider = trials.opportunities > self._again.trials(path).opportunities
        return whole if is_wider and trials.is_typed and self._again.changes_often(whole, trials) else path

    def with_layouts(self, mask: Mask) -> Mask:
        """Return *mask* with the layouts of pages that were seen twice, where it needs them."""
        if not any(
            path.everywhere and not path.typed and path.is_left_out and not path.is_unseen for path in mask.paths
        ):
            return mask
        layouts = Counter(sorted(mask.layout(page.versions[-1].blocks) for page, _ in self._again.pages))
        return replace(mask, layouts=frozenset(layout for layout, _ in layouts.most_common(MOST_LAYOUTS)))

    def _spread_out(self, path: TransientPath, mask: Mask, typed: TransientPath | None) -> TransientPath:
        """Return a learned path so that it acts on further URL templates, where it fits; where it acts, it does still.

        Not so where it was learned from several URLs, taken for one page, and none of them has shown that it changes.
        """
        known = frozenset(path.templates) or mask.templates
        own = self._again.own(path)
        acting = known - own
        trials = self._again.trials(path)
        lasting = own | (self._again.lasting(path, trials) - acting)
        if typed is not None and typed.slot == path.slot:
            excepted = lasting | (frozenset(typed.excepted) - acting)
            return self._everywhere(path, excepted, frozenset(typed.untested) - acting - excepted)
        if not acting or not (path.kind == "transient" or self._again.changes_often(path, trials)):
            if acting != known:
                kind: PathKind = path.kind if acting else "undecided"
                path = replace(path, kind=kind, templates=in_order(acting))
            if not trials.opportunities:
                return path
            return replace(path, everywhere=False, typed=False, excepted=(), untested=(), words=())
        is_typed = self._is_typed(path, trials)
        _, unfit = self._fitting(path, trials, acting, typed=is_typed)
        if not is_typed:
            return self._everywhere(path, lasting | unfit, typed=False)
        return self._everywhere(path, lasting, unfit - lasting)

    def _everywhere(
        self,
        path: TransientPath,
        excepted: Iterable[Template],
        untested: Iterable[Template] = (),
        *,
        typed: bool = True,
    ) -> TransientPath:
        """Return a path that acts on all URL templates but those that are *excepted* or *untested*."""
        return replace(
            path,
            templates=(),
            everywhere=True,
            typed=typed,
            excepted=in_order(excepted),
            untested=in_order(untested),
            words=self._words(path) if typed else (),
        )

    def _words(self, path: TransientPath) -> tuple[str, ...]:
        """Return the words that go with the numbers of a typed path, as the days of the week do in any language."""
        words = self._again.trials(path).words if path.slot is None else ()
        return tuple(sorted(words)) if len(words) <= MOST_WORDS else ()

    def _is_typed(self, path: TransientPath, trials: ChangeTrials) -> bool:
        return trials.is_typed and is_whole(path)

    def _fitting(
        self, path: TransientPath, trials: ChangeTrials, acting: AbstractSet[Template], *, typed: bool
    ) -> tuple[set[Template], set[Template]]:
        """Return the further URL templates on whose pages a path fits, and those where it does not."""
        pool = {text for texts in trials.values for text in texts}
        showing = list(self._again.showing(path))
        if not typed:
            pool |= self._shared(showing, acting)
        words = frozenset(self._words(path) if typed else ())
        shapes = {shape_of(text, words) for text in pool}
        met, fit = Counter[Template](), Counter[Template]()
        for page, texts in showing:
            met[page.template] += len(texts or (1,))
            for text in texts or ():
                if path.slot is not None:
                    fits = not typed or has_digit(text) is not None
                else:
                    fits = text in pool or (typed and shape_of(text, words) in shapes)
                fit[page.template] += fits
        fitting = {template for template, number in met.items() if fit[template] >= current().nearly_all * number}
        return fitting - acting, set(met) - fitting - acting

    @staticmethod
    def _shared(showing: Iterable[tuple[SitePage, Sequence[str] | None]], acting: AbstractSet[Template]) -> set[str]:
        """Return the texts that pages show where a path acts, and those that stand there on pages of several URL templates."""
        templates: defaultdict[str, set[Template]] = defaultdict(set)
        for page, texts in showing:
            for text in texts or ():
                templates[text].add(page.template)
        return {text for text, found in templates.items() if len(found) >= current().several or found & acting}

    # Typed slots

    def _typed(self) -> list[TransientPath]:
        """Return the typed slots that stand all over the site and changed nearly each time."""
        found = []
        for place in sorted(self._changed_places()):
            for path in self._candidates(place):
                trials = self._again.trials(path, controls=True, anew=True)
                if not self._again.changes_often(path, trials):
                    continue
                path = replace(path, slot=literal_of(trials.values))
                if path.slot is not None:
                    trials = self._again.trials(path, controls=True, anew=True)
                if not (self._again.changes_often(path, trials) and self._is_typed(path, trials)):
                    continue
                unfit = self._all_over(path, trials)
                if unfit is None:
                    continue
                own = self._again.own(path)
                found.append(
                    replace(
                        self._everywhere(path, own, unfit - own),
                        pages=len(trials.pages),
                        changes=trials.changes,
                        opportunities=trials.opportunities,
                        confidence=round((trials.changes + 1) / (trials.opportunities + 2), 3),
                        examples=example_of(zip(trials.values[::2], trials.values[1::2], strict=True)),
                    )
                )
        return found

    def _changed_places(self) -> set[Place]:
        return {
            place
            for _, _, one, other in self._again.again(controls=True)
            for place in one.keys() & other.keys()
            if not place[1] and one[place] != other[place]
        }

    def _candidates(self, place: Place) -> list[TransientPath]:
        """Return the paths of a place as a whole, or of its texts that changed, counted from the nearer end."""
        changed: Counter[int] = Counter()
        met: Counter[int] = Counter()
        for page, number, one, other in self._again.again(controls=True):
            before, after = one.get(place, []), other.get(place, [])
            if len(before) != len(after) or not 0 < len(before) <= MOST_POSITIONS:
                continue
            if before == after and is_too_soon(page, number):
                continue
            for at, (was, is_) in enumerate(zip(before, after, strict=True)):
                end = at + 1 if 2 * at < len(before) else at - len(before)
                changed[end] += was != is_
                met[end] += 1
        often = [end for end, number in changed.items() if number >= current().nearly_always * met[end]]
        whole = TransientPath(*place, kind="volatile", typed=True, everywhere=True)
        if len(often) == len(met):
            return [whole]
        return [replace(whole, position=end) for end in sorted(often)]

    def _all_over(self, path: TransientPath, trials: ChangeTrials) -> set[Template] | None:
        """Return the URL templates where a typed path does not fit; None if it is not all over the site."""
        pages = self._again.texts.pages
        fitting, unfit = self._fitting(path, trials, frozenset(), typed=True)
        if len(fitting) < min(current().several, len(self._again.texts.templates)):
            return None
        showing = sum(bool(texts) and page.template in fitting for page, texts in self._again.showing(path))
        alike = self._again.agreement(path, fitting.__contains__)
        if showing < current().nearly_all * len(pages) or alike is None or alike > current().alike:
            return None
        return unfit
