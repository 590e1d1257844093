"""Which places of a site's pages are passing, growing, undecided: the evidence judged.

A place is passing if what stands there changes as often as what passes does. How often that is depends on whose
matter it is: what all pages share, or what knows nothing of its page, may change now and then; what belongs to its page (a
stock figure, an edited article) is its content unless it is a number that rises nearly every time, on several
pages; and an amount of money stays unless all pages show the same. Without evidence everything stays. What is passing so
is left out when pages are compared, and what of it is stripped, too, is told by :mod:`.passing`.
"""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from ...content.unseen import is_unseen
from ...urls.templates import in_order
from ..model import PathKind, Template, TransientPath
from .belonging import belonging, is_price, is_rising, tells_time
from .bounds import CONFIDENCE, confidence, is_rare
from .evidence import Cell, Change, Evidence, Kinds, Place, pooled
from .examples import examples_of
from .passing import surely_passes
from .sightings import Sighting
from .wording import ADDRESSES, NOTHING, is_fleeting, is_heading, is_never_twice, is_token, is_wording_shared, slot_of

__all__ = ["lasting_kinds", "paths_of"]

OF_SITE = 0.20
"""Share of changes that is passing for what is the site's matter."""
OF_ANY = 0.25
"""The same where nothing tells whose matter it is."""
OF_PAGE = 0.65
"""The same for what is the page's."""
ALONE = 0.40
"""The same where one page is all there is: two changes out of two."""
ENDS = (1, -1, 2, -2)
"""Positions that are counted from the first text or the last, in lists of any number."""
EVERYWHERE = 0.75
"""Share of the kinds of pages that have what stands on all pages of a site."""
_PAGES = 3
"""Pages on which a number that is theirs has risen, and again, before it counts visits and is passing.

As many on which a field's value was another one each time.
"""


@dataclass(frozen=True, slots=True)
class _Verdict:
    kind: PathKind
    confidence: float
    of_site: bool = False


def paths_of(
    place: Place,
    evidence: Mapping[Kinds, Evidence],
    known: AbstractSet[Template],
    sightings: Mapping[Kinds, Sequence[Sighting]],
) -> list[TransientPath]:
    """Return what is to be said of one place, nothing where it lasts.

    Kinds of pages on which the place was not seen to change, or surely lasts, are left out of the rest's evidence, and
    of its paths. *known* are all kinds of which anything is known: paths that are true of them all name none.
    *sightings* are what some pages of each kind have shown there.
    """
    changing = {kinds: each for kinds, each in evidence.items() if _changes(each) and not _lasts(each)}
    if not changing:
        return []
    of_them = sorted(changing, key=repr)
    shown = [each for kinds in of_them for each in sightings.get(kinds, ())]
    is_everywhere = _is_everywhere({kind for kinds in evidence for kind in kinds}, known)
    paths = _paths_of(place, pooled(changing[kinds] for kinds in of_them))
    found = [_for_export(path, shown, is_everywhere=is_everywhere) for path in paths]
    # Under a name of several kinds it may be from one to the other that a page changes.
    lasting = {kinds[0] for kinds in evidence.keys() - changing.keys() if len(kinds) == 1}
    templates = {kind for kinds in changing for kind in kinds} - lasting
    if not templates:
        return []
    if templates == known:
        return found
    return [replace(path, templates=in_order(templates)) for path in found]


def lasting_kinds(evidence: Mapping[Kinds, Evidence]) -> set[Template]:
    """Return the kinds of pages on which a place surely lasts, by their own *evidence*."""
    return {kinds[0] for kinds, each in evidence.items() if len(kinds) == 1 and _lasts(each)}


def _is_everywhere(having: AbstractSet[Template], known: AbstractSet[Template]) -> bool:
    """Whether (nearly) all kinds of pages have a place, as they have the site's header; parameters do not make a kind."""
    names, all_names = {kind[:2] for kind in having}, {kind[:2] for kind in known}
    return len(names & all_names) >= EVERYWHERE * len(all_names)


def _for_export(path: TransientPath, shown: Sequence[Sighting], *, is_everywhere: bool) -> TransientPath:
    """Return a path that strips only what surely passes; what may be its page's own matter is but not compared."""
    if path.kind != "transient" or surely_passes(
        shown,
        path.slot,
        attribute=_judged_as(path.attribute),
        position=path.position,
        of=path.of,
        is_everywhere=is_everywhere,
    ):
        return path
    return replace(path, kind="volatile")


def _changes(evidence: Evidence) -> bool:
    """Whether the place was seen to change: texts went, came, or all did both."""
    moved = evidence.went.opportunities and evidence.appeared
    return bool(evidence.whole.changes or evidence.grown or moved)


def _lasts(evidence: Evidence) -> bool:
    whole = evidence.whole
    if evidence.grown or (evidence.went.opportunities and evidence.appeared):
        return False
    cells = [whole, *evidence.positions.values()]
    return all(is_rare(cell.changes, cell.opportunities, OF_SITE) for cell in cells if cell.changes) and (
        whole.changes > 0 or is_rare(0, whole.opportunities, OF_SITE)
    )


def _paths_of(place: Place, evidence: Evidence) -> list[TransientPath]:
    whole = evidence.whole
    cells = evidence.positions
    hot = {at: cell for at, cell in cells.items() if cell.changes and not _is_cold(cell)}
    cold = [at for at, cell in cells.items() if _is_cold(cell)]
    found: list[TransientPath] = []
    if hot and cold:
        ends = _from_ends(place, evidence, hot)
        for at, cell in sorted(hot.items()):
            if at[0] + 1 not in ends and at[0] - at[1] not in ends:
                found.append(_judged(place, cell, at))
        return [*found, *ends.values()]
    whole = _with_visits(evidence)
    path = None
    if whole.changes:
        path = _judged(place, whole, None)
    elif evidence.grown:
        path = _path(place, _Verdict("growing", 0.0), evidence.whole, None, examples=evidence.grown_examples)
    return [path] if path is not None else []


def _is_cold(cell: Cell) -> bool:
    """Whether there is no change to tell of, or surely but few."""
    return not cell.changes or is_rare(cell.changes, cell.opportunities, OF_SITE)


def _with_visits(evidence: Evidence) -> Cell:
    """Return the counts of a place as a whole, with those of its comings and goings if it does both.

    What only went, or only came, may have been moved for good.
    """
    total = Cell()
    total.add(evidence.whole)
    visits = min(evidence.went.opportunities, evidence.appeared)
    if visits > 1:
        total.add(evidence.went)
        total.changes += visits - evidence.went.opportunities
    return total


def _from_ends(place: Place, evidence: Evidence, hot: Iterable[tuple[int, int]]) -> dict[int, TransientPath]:
    """Return the paths of positions counted from the first text or the last of any number, with literal words to go by.

    Where pages have different numbers of texts at a place, that is what they have in common.
    """
    found: dict[int, TransientPath] = {}
    for end in ENDS:
        at = [(position, of) for position, of in hot if end in (position + 1, position - of)]
        if len({of for _, of in at}) < 2:
            continue
        total = Cell()
        for (position, of), cell in sorted(evidence.positions.items()):
            if end in (position + 1, position - of):
                total.add(cell)
        path = _judged(place, total, None)
        if path.kind == "transient" and path.slot is not None:
            found[end] = replace(path, position=end)
    return found


def _judged_as(attribute: str) -> str:
    """Return the attribute as which values are judged: what nobody sees is judged as texts are."""
    return "" if is_unseen(attribute) else attribute


def _judged(place: Place, cell: Cell, at: tuple[int, int] | None) -> TransientPath:
    attribute = _judged_as(place[1])
    verdict = _verdict(cell, attribute)
    slot = None
    if verdict.kind == "transient" and not _may_pass(place, cell):
        verdict = _Verdict("undecided", verdict.confidence)
    elif verdict.kind == "transient" and all(len(change.before) == len(change.after) == 1 for change in cell.examples):
        slot = slot_of(cell.examples, attribute, of_site=verdict.of_site)
        if slot == NOTHING:
            slot = None
            if attribute or not is_wording_shared(cell.examples):
                verdict = _Verdict("undecided", verdict.confidence)
    elif verdict.kind == "transient" and attribute in ADDRESSES:
        verdict = _Verdict("undecided", verdict.confidence)
    return _path(place, verdict, cell, at, slot, examples=cell.examples)


def _may_pass(place: Place, cell: Cell) -> bool:
    """Whether what stands there may be passing at all: a heading says what the page is, and a field's value is its content."""
    selector, attribute = place[0], _judged_as(place[1])
    if attribute:
        return attribute in ADDRESSES or all(map(is_token, cell.examples)) or _is_drawn_anew(cell)
    return not is_heading(selector) or all(map(is_fleeting, cell.examples))


def _is_drawn_anew(cell: Cell) -> bool:
    """Whether each response has a value of its own there."""
    each_time = cell.changes == cell.opportunities and len(cell.changed_pages) >= _PAGES
    return each_time and is_never_twice(cell.examples)


def _verdict(cell: Cell, attribute: str) -> _Verdict:
    changes, opportunities = cell.changes, cell.opportunities
    prices = sum(map(is_price, cell.examples)) > len(cell.examples) / 2

    def judged(threshold: float, *, proven: bool, of_site: bool = False) -> _Verdict:
        sure = confidence(changes, opportunities, threshold)
        kind: PathKind = "transient" if sure >= CONFIDENCE and proven else "undecided"
        return _Verdict(kind, sure, of_site)

    if len(cell.pages) == 1:
        return judged(ALONE, proven=changes >= 2 and not prices)
    if len(cell.changed_pages) == 1:
        return judged(OF_PAGE, proven=False)
    whose = belonging(cell.examples, attribute)
    if prices and not whose.is_everywhere:
        return judged(OF_PAGE, proven=False)
    if whose.is_sites:
        return judged(OF_SITE, proven=True, of_site=True)
    times = sum(map(tells_time, cell.examples)) > len(cell.examples) / 2
    if not whose.is_pages or times:
        return judged(OF_SITE if times else OF_ANY, proven=True, of_site=times)
    again = _changed_again(cell.examples)
    rising = all(is_rising(change, attribute) for change in cell.examples)
    return judged(OF_PAGE, proven=rising and again >= _PAGES)


def _changed_again(examples: Sequence[Change]) -> int:
    """Return the number of pages on which the text changed twice or more."""
    pairs: dict[str, set[int]] = {}
    for change in examples:
        pairs.setdefault(change.page, set()).add(change.pair)
    return sum(len(found) > 1 for found in pairs.values())


def _path(
    place: Place,
    verdict: _Verdict,
    cell: Cell,
    at: tuple[int, int] | None,
    slot: tuple[str, ...] | None = None,
    *,
    examples: Iterable[Change] = (),
) -> TransientPath:
    position, of = (at[0] + 1, at[1]) if at is not None else (0, 0)
    return TransientPath(
        *place,
        slot=slot,
        kind=verdict.kind,
        confidence=round(verdict.confidence, 3),
        pages=len(cell.pages),
        changes=round(cell.changes),
        opportunities=cell.opportunities,
        examples=examples_of(examples),
        position=position,
        of=of,
    )
