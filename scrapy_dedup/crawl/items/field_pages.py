"""The pages that the fields of an item may come from: that of its response, and those on which it was begun."""

from typing import TYPE_CHECKING

import attrs

from ...masks.fields.transient_page import FieldCuts, Reading, TransientPage

if TYPE_CHECKING:
    from collections.abc import Callable

    from .partial_items import HandOver, KeptPage


@attrs.define(eq=False, repr=False)
class FieldPages:
    """Finds what of a field is transient: in the page that it comes from.

    A string that a request has handed over comes from the page on which that was made, or else from the response's
    own. One that no request has handed over comes from another page only if all of it stands there, and not all in
    the response's own. Where two pages have a string equally, they must agree.
    """

    _own: TransientPage | None
    _steps: "tuple[HandOver, ...]" = ()
    _page_of: "Callable[[KeptPage], TransientPage] | None" = None
    #: Fields, or parts of lists, in which another page than the response's own has shown what is transient.
    elsewhere: int = attrs.field(default=0, init=False)

    def find(self, strings: list[str], kind: str) -> FieldCuts:
        """Return what of a field, one string or several, is transient; *kind* is "html" or "text"."""
        if not self._steps:
            return self._own.find(strings, kind) if self._own is not None else FieldCuts([[] for _ in strings], False)
        origins = [self._origin_of(string) for string in strings]
        if len(set(origins)) > 1 and self._own is not None:
            read = self._own.read(strings, kind)
            if read.covered == 1.0:  # a list of the page, of which another one has some strings
                return read.found
        cuts: list[list[tuple[int, int]]] = [[] for _ in strings]
        ambiguous = False
        for origin in dict.fromkeys(origins):
            numbers = [number for number, each in enumerate(origins) if each == origin]
            found = self._read([strings[number] for number in numbers], kind, origin).found
            for number, each in zip(numbers, found.cuts, strict=True):
                cuts[number] = each
            ambiguous = ambiguous or found.ambiguous
        return FieldCuts(cuts, ambiguous)

    def covered(self, string: str, kind: str) -> float:
        """Return how much of a string stands in the page that has most of it."""
        return self._read([string], kind, self._origin_of(string), quiet=True).covered

    def verbatim(self, string: str) -> list[tuple[int, int]]:
        """Return what is transient of a string that stands in the HTML of the page as it is."""
        origin = self._origin_of(string)
        kept = self._steps[origin].page if origin >= 0 else None
        page = self._page_of(kept) if kept is not None and self._page_of else self._own
        return page.verbatim(string) if page is not None else []

    def _origin_of(self, string: str) -> int:
        """Return the number of the step that has handed over a string first; -1 if none has."""
        if not string.strip():
            return -1
        return max((number for number, step in enumerate(self._steps) if step.handed_over(string)), default=-1)

    def _readings(self, strings: list[str], kind: str, steps: "tuple[HandOver, ...]") -> list[Reading]:
        pages = [step.page for step in steps if step.page is not None]
        return [self._page_of(page).read(strings, kind) for page in pages if self._page_of is not None]

    def _read(self, strings: list[str], kind: str, origin: int, *, quiet: bool = False) -> Reading:
        own = Reading(FieldCuts([[] for _ in strings], False), 0.0)
        if self._own is not None:
            own = self._own.read(strings, kind)
        giving = [] if origin < 0 else self._readings(strings, kind, self._steps[origin : origin + 1])
        others = giving
        if all(each.covered < 1.0 for each in (own, *giving)):
            further = self._readings(strings, kind, self._steps[origin + 1 :])
            others = [*giving, *(each for each in further if each.covered == 1.0)]
        most = max([own.covered, *(each.covered for each in others)])
        if not most:
            return own
        best = [each for each in (own, *others) if each.covered == most]
        # What fits for sure goes before what stands in several places of its page.
        best = [each for each in best if not each.found.ambiguous] or best
        if any(each.found.cuts != best[0].found.cuts for each in best):
            return Reading(FieldCuts([[] for _ in strings], True), most)
        if not quiet and best[0] is not own and any(best[0].found.cuts):
            self.elsewhere += 1
        return best[0]
