"""Carry-over: what changes on pages that were fetched twice, taken to change on pages of other URL templates.

Few pages of a site are fetched twice. A slot that changes nearly each time acts on URL templates of which no page was,
too, where what stands there fits: its literal words match, and what changes is *typed* (it holds a digit: a clock, a
counter, a token, a duration) and has a shape that was seen, or is a text that was seen to come and go. Where the nearest pages that were
fetched twice speak against it, it does not (the veto).

A typed slot that stands all over the site is learned from a single page that one crawl fetches twice, as an ordinary
crawl does with the start page: between crawls, pages are edited, and lists pushed on. What changes there must be a matter of time, and not of the page: each value is shown in one stretch of time.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise

from ...content.mask import Mask, PathKind, Template, TransientPath
from ...content.slots import Slot, is_typed
from ..clusters import APART
from .epochs import Seen
from .evidence import Place, grouped
from .site_texts import Page, SiteTexts, changing_texts, has_digit, is_whole, shape_of

__all__ = ["CarryOver"]

OFTEN = 0.75
"""Share of the responses that show a page again in which a slot must have changed to act elsewhere."""
FIT = 0.9
"""Share of the texts of a URL template that a slot must fit to act there; of the pages that have what is all over a site."""
TEMPLATES = 3
"""URL templates that have what stands all over a site; fewer only where the site has no more."""
ALIKE = 0.05
"""Share of the pages, fetched at different times, that show the same where what stands all over a site is a matter of time."""
AGREEING = 3
"""Pairs of URLs that differ in one parameter, or in all, and show the same at different times, and as many times more than by
chance, where what stands there is their pages' own.
"""
OTHERS = 3
"""Other texts that pages have shown between two responses, by which a clock has moved, however soon that was."""
TOO_SOON = 1.0
"""Seconds between two responses in which a clock need not have moved."""
MOST_POSITIONS = 50
"""Longer lists are taken as a whole."""
MOST_LAYOUTS = 100
"""Layouts of pages that were seen twice that a mask knows, those of most pages."""


_date = re.compile(r"(?:19|20)[0-9]{2}|[0-9]+([-./])[0-9]+\1[0-9]+.*|[0-9]+:[0-9]{2}.*").match
_Groups = Mapping[Place, Sequence[str]]


@dataclass(slots=True)
class _Trials:
    """What the responses that showed a page again say of one path."""

    changes: int = 0
    opportunities: int = 0
    pages: set[str] = field(default_factory=set)
    #: URL template -> [changes, opportunities]
    by_template: defaultdict[Template, list[int]] = field(default_factory=lambda: defaultdict(lambda: [0, 0]))
    values: list[tuple[str, ...]] = field(default_factory=list)
    #: URL template -> how often a number stayed among the words that changed.
    keeping: Counter[Template] = field(default_factory=Counter)
    #: The texts that went or came.
    changed: set[str] = field(default_factory=set)

    @property
    def often(self) -> bool:
        return self.changes >= OFTEN * self.opportunities > 0

    @property
    def changing(self) -> frozenset[Template]:
        """URL templates on whose pages it changed as often."""
        return frozenset(t for t, (changes, all_) in self.by_template.items() if changes >= OFTEN * all_ > 0)

    @property
    def lasting(self) -> frozenset[Template]:
        """URL templates on whose pages it did not."""
        return frozenset(self.by_template) - self.changing


class CarryOver:
    """Carries what was learned of the pages *seen* twice over to all pages, whose *texts* are asked for where need be."""

    def __init__(self, seen: Iterable[Seen], texts: Callable[[], SiteTexts]) -> None:
        self._seen = [page for page in seen if len(page.versions) > 1]
        self._texts_of_site = texts
        #: What pages show at a path: the work of each is done once.
        self._shown: dict[Hashable, Sequence[tuple[Page, list[str] | None]]] = {}
        self._groups = [[grouped(version.blocks) for version in page.versions] for page in self._seen]

    @cached_property
    def _texts(self) -> SiteTexts:
        return self._texts_of_site()

    def carried(self, mask: Mask) -> Mask:
        """Return *mask* with typed slots that stand all over the site, and with what acts on other URL templates.

        What the user said stays as it is.
        """
        if not self._seen:
            return mask
        said = {(path.selector, path.attribute) for path in mask.paths if path.state}
        learned = [path for path in mask.paths if path.is_left_out and not path.state]
        typed = {path.key: path for path in self._typed() if (path.selector, path.attribute) not in said}
        taken = {path.key for path in learned}
        paths = [self._spread_out(path, mask, typed.get(path.key)) for path in learned]
        paths += [path for key, path in typed.items() if key not in taken]
        now = {path.key for path in paths}
        rest = [path for path in mask.paths if path.key not in now]
        return replace(mask, paths=(*paths, *rest))

    def with_layouts(self, mask: Mask) -> Mask:
        """Return *mask* with the layouts of pages that were seen twice, where it needs them."""
        if not any(path.everywhere and not path.typed and path.is_left_out for path in mask.paths):
            return mask
        layouts = Counter(sorted(mask.layout(page.versions[-1].blocks) for page in self._seen))
        return replace(mask, layouts=frozenset(layout for layout, _ in layouts.most_common(MOST_LAYOUTS)))

    def _again(self, *, controls: bool) -> Iterator[tuple[Seen, int, _Groups, _Groups]]:
        """Yield (page, number of the version, its texts by place, those of the next version).

        With *controls*, only of versions of one URL in one crawl.
        """
        for page, groups in zip(self._seen, self._groups, strict=True):
            for number, (one, other) in enumerate(pairwise(groups)):
                if not controls or _is_control(page, number):
                    yield page, number, one, other

    def _trials(self, path: TransientPath, *, controls: bool = False, anew: bool = False) -> _Trials:
        """Count how often what changes at a path did change on the pages that were seen again; with *controls*, in one crawl.

        With *anew*, all of it must have: a list that is pushed on has changed, too.
        """
        trials = _Trials()
        place = path.selector, path.attribute
        for page, number, one, other in self._again(controls=controls):
            if place not in one or place not in other:
                continue
            before, after = (changing_texts(path, texts[place]) for texts in (one, other))
            if before is None or after is None or not (before and after):
                continue
            changed = set(before).isdisjoint(after) if anew else sorted(before) != sorted(after)
            if not changed and _is_too_soon(page, number):
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
            if changed and any(map(_keeps_number, before, after)):
                trials.keeping.update(page.kinds)
            if changed:
                stayed = Counter(before) & Counter(after)
                trials.changed.update(Counter(before) - stayed, Counter(after) - stayed)
        return trials

    def _spread_out(self, path: TransientPath, mask: Mask, typed: TransientPath | None) -> TransientPath:
        """Return a learned path so that it acts on further URL templates, where it fits; where it acts, it does still.

        Not so where it was learned from several URLs, taken for one page, and none of them has shown that it changes.
        """
        known = frozenset(path.templates) or mask.templates
        acting = known - self._own(path)
        others = mask.templates - acting
        if typed is not None and typed.slot == path.slot:
            excepted = others | (frozenset(typed.excepted) - acting)
            return replace(path, templates=(), everywhere=True, typed=True, excepted=_sorted(excepted))
        trials = self._trials(path)
        if not trials.often or not acting:
            if acting != known:
                kind: PathKind = path.kind if acting else "undecided"
                path = replace(path, kind=kind, templates=_sorted(acting))
            return path if not trials.opportunities else replace(path, everywhere=False, typed=False, excepted=())
        is_typed = self._is_typed(path, trials)
        _, unfit = self._fitting(path, trials, acting, typed=is_typed)
        return replace(path, templates=(), everywhere=True, typed=is_typed, excepted=_sorted(others | unfit))

    def _own(self, path: TransientPath) -> frozenset[Template]:
        """Return the URL templates on whose pages what stands at a path is the page's own.

        A page that was fetched again has shown the same, and none another, or has kept a number among what changed; or URLs
        agree that differ in a parameter.
        """
        again = self._trials(path, controls=True)
        lasting = {template for template, (changes, all_) in again.by_template.items() if all_ and not changes}
        keeping = {
            template for template, number in again.keeping.items() if 2 * number > again.by_template[template][0]
        }
        return frozenset(lasting | keeping) | self._agreeing(path)

    def _agreeing(self, path: TransientPath) -> frozenset[Template]:
        """Return the URL templates whose pages show what a URL does that lacks a parameter, or all, fetched at another time."""
        showing = [(page, tuple(texts)) for page, texts in self._showing(path) if texts]
        chance = _agreement(showing)
        by_name: defaultdict[str, list[tuple[Page, tuple[str, ...]]]] = defaultdict(list)
        for page, texts in showing:
            for name in _names(page.url):
                by_name[name].append((page, texts))
        pairs, equal = Counter[Template](), Counter[Template]()
        for found in by_name.values():
            for (one, before), (other, after) in pairwise(found):
                if other.at - one.at >= TOO_SOON or self._have_others_moved(path, one.at, other.at, after):
                    templates = {one.template, other.template}
                    pairs.update(templates)
                    equal.update(templates if before == after else ())
        return frozenset(
            template for template, number in equal.items() if number >= AGREEING * max(1.0, chance * pairs[template])
        )

    def _have_others_moved(self, path: TransientPath, since: float, until: float, texts: tuple[str, ...]) -> bool:
        """Whether other pages have shown several other texts between two moments: a clock had moved."""
        others: set[tuple[str, ...]] = set()
        for page, found in self._showing(path):
            if since < page.at < until and found and tuple(found) != texts:
                others.add(tuple(found))
                if len(others) >= OTHERS:
                    return True
        return False

    def _showing(self, path: TransientPath) -> Sequence[tuple[Page, list[str] | None]]:
        key = *path.key, path.slot
        if key not in self._shown:
            self._shown[key] = list(self._texts.showing(path))
        return self._shown[key]

    def _is_typed(self, path: TransientPath, trials: _Trials) -> bool:
        return all(map(has_digit, trials.changed)) and is_whole(path)

    def _fitting(
        self, path: TransientPath, trials: _Trials, acting: AbstractSet[Template], *, typed: bool
    ) -> tuple[set[Template], set[Template]]:
        """Return the further URL templates on whose pages a path fits, and those where it does not."""
        pool = {text for texts in trials.values for text in texts}
        showing = list(self._showing(path))
        if not typed:
            pool |= self._shared(showing, acting)
        shapes = set(map(shape_of, pool))
        met, fit = Counter[Template](), Counter[Template]()
        for page, texts in showing:
            met[page.template] += len(texts or (1,))
            for text in texts or ():
                if path.slot is not None:
                    fits = not typed or has_digit(text) is not None
                else:
                    fits = text in pool or (typed and shape_of(text) in shapes)
                fit[page.template] += fits
        fitting = {template for template, number in met.items() if fit[template] >= FIT * number}
        return fitting - acting, set(met) - fitting - acting

    @staticmethod
    def _shared(showing: Iterable[tuple[Page, Sequence[str] | None]], acting: AbstractSet[Template]) -> set[str]:
        """Return the texts that pages show where a path acts, and those that stand there on pages of several URL templates."""
        templates: defaultdict[str, set[Template]] = defaultdict(set)
        for page, texts in showing:
            for text in texts or ():
                templates[text].add(page.template)
        return {text for text, found in templates.items() if len(found) >= TEMPLATES or found & acting}

    # Typed slots

    def _typed(self) -> list[TransientPath]:
        """Return the typed slots that stand all over the site and changed nearly each time."""
        found = []
        for place in sorted(self._changed_places()):
            for path in self._candidates(place):
                trials = self._trials(path, controls=True, anew=True)
                if not trials.often:
                    continue
                path = replace(path, slot=_literal(trials.values))
                if path.slot is not None:
                    trials = self._trials(path, controls=True, anew=True)
                if not (trials.often and self._is_typed(path, trials)):
                    continue
                excepted = self._all_over(path, trials)
                if excepted is None:
                    continue
                found.append(
                    replace(
                        path,
                        pages=len(trials.pages),
                        changes=trials.changes,
                        opportunities=trials.opportunities,
                        confidence=round((trials.changes + 1) / (trials.opportunities + 2), 3),
                        examples=tuple(dict.fromkeys(text for texts in trials.values for text in texts))[:3],
                        excepted=_sorted(excepted),
                    )
                )
        return found

    def _changed_places(self) -> set[Place]:
        return {
            place
            for _, _, one, other in self._again(controls=True)
            for place in one.keys() & other.keys()
            if not place[1] and one[place] != other[place]
        }

    def _candidates(self, place: Place) -> list[TransientPath]:
        """Return the paths of a place as a whole, or of its texts that changed, counted from the nearer end."""
        changed: Counter[int] = Counter()
        met: Counter[int] = Counter()
        for page, number, one, other in self._again(controls=True):
            before, after = one.get(place, []), other.get(place, [])
            if len(before) != len(after) or not 0 < len(before) <= MOST_POSITIONS:
                continue
            if before == after and _is_too_soon(page, number):
                continue
            for at, (was, is_) in enumerate(zip(before, after, strict=True)):
                end = at + 1 if 2 * at < len(before) else at - len(before)
                changed[end] += was != is_
                met[end] += 1
        often = [end for end, number in changed.items() if number >= OFTEN * met[end]]
        whole = TransientPath(*place, kind="volatile", typed=True, everywhere=True)
        if len(often) == len(met):
            return [whole]
        return [replace(whole, position=end) for end in sorted(often)]

    def _all_over(self, path: TransientPath, trials: _Trials) -> set[Template] | None:
        """Return the URL templates where a typed path must not act; None if it does not stand all over the site."""
        pages = self._texts.pages
        fitting, unfit = self._fitting(path, trials, frozenset(), typed=True)
        if len(fitting) < min(TEMPLATES, len(self._texts.templates)):
            return None
        showing = [(page, texts) for page, texts in self._showing(path) if texts and page.template in fitting]
        if len(showing) < FIT * len(pages) or _agreement([(page, tuple(texts)) for page, texts in showing]) > ALIKE:
            return None
        return unfit | trials.lasting | self._own(path)


def _is_control(page: Seen, number: int) -> bool:
    """Whether a version and the next one are of one URL, fetched twice in one crawl."""
    if not page.fetches:
        return True
    (at, url), (later, other) = page.fetches[number : number + 2]
    return url == other and later - at < APART


def _is_too_soon(page: Seen, number: int) -> bool:
    """Whether a version was fetched so soon after the last one that a clock need not have moved."""
    return bool(page.fetches) and page.fetches[number + 1][0] - page.fetches[number][0] < TOO_SOON


def _names(url: str) -> set[str]:
    """Return a URL, and what is left of it without each parameter of its query, and without all."""
    path, _, query = url.partition("?")
    parts = query.split("&") if query else []
    without = ["&".join([*parts[:number], *parts[number + 1 :]]) for number in range(len(parts))]
    return {f"{path}?{rest}" for rest in (query, "", *without)}


def _agreement(showing: Sequence[tuple[Page, tuple[str, ...]]]) -> float:
    """Return the share of pages that show what a page shows that was fetched much earlier or later."""
    half = len(showing) // 2
    pairs = [(showing[number][1], showing[number + half][1]) for number in range(half)]
    return sum(one == other for one, other in pairs) / half if half else 1.0


def _literal(values: Iterable[tuple[str, ...]]) -> Slot | None:
    """Return the slot with the words that all of some texts begin and end with, up to those of a date; None without any."""
    texts = {tuple(text.split()) for value in values for text in value}
    if len(texts) < 2:
        return None
    head = _common(texts)
    tail = _common({text[len(head) :][::-1] for text in texts})[::-1]
    return (" ".join(head), " ".join(tail)) if head or tail else None


def _common(texts: AbstractSet[tuple[str, ...]]) -> tuple[str, ...]:
    found: list[str] = []
    one = next(iter(texts))
    for number, words in enumerate(zip(*texts, strict=False)):
        if len(set(words)) > 1 or _is_of_date(one, number):
            break
        found.append(words[0])
    return tuple(found)


def _keeps_number(before: str, after: str) -> bool:
    """Whether a number that is of no date stands in the same place of two texts, among other words that changed."""
    one, other = before.split(), after.split()
    if one == other or len(one) != len(other):
        return False
    return any(
        word == also and has_digit(word) is not None and not _is_of_date(one, number)
        for number, (word, also) in enumerate(zip(one, other, strict=True))
    )


def _is_of_date(words: Sequence[str], number: int) -> bool:
    """Whether a word is of a date, which has not changed yet; another number that has not is a matter of its page."""
    word = words[number]
    if not has_digit(word):
        return is_typed(word)
    beside = [*words[max(0, number - 1) : number], *words[number + 1 : number + 2]]
    return _date(word) is not None or any(is_typed(each) and not has_digit(each) for each in beside)


def _sorted(templates: Iterable[Template]) -> tuple[Template, ...]:
    return tuple(sorted(templates, key=repr))
