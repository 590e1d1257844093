"""Alike pages: what several pages of a kind show, where most pages of the kind show what no other one does.

It may be a soft block, or how these pages are (lists without results). So a few of them are fetched again under other URLs:
where one shows something else then, it was no page. Where none does, the others of its kind are not fetched again.
"""

from collections import Counter, OrderedDict, deque
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import attrs

from ...learning.contents import COMMON

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Sequence

    from ...pages.response import Fingerprints
    from ...pages.sketch import Sketch

#: Pages that show a content when it may be odd before the crawl is at its end; and pages of a kind that show the same again.
ALIKE: Final = 3
#: Kinds, and pages that show one content, that are remembered; outlines, and contents of one outline.
_MOST: Final = 2_000
_OUTLINES: Final = 200
_OTHERS: Final = 3
_SUSPECTS: Final = 10

K = TypeVar("K")
V = TypeVar("V")


class OddContent(NamedTuple):
    """What unrelated URLs have shown: its fingerprint, its sketch, and that of a page that it stood for."""

    bag: str
    sketch: "Sketch | None" = None
    unlike: "Sketch | None" = None

    def is_shown_by(self, bag: str, sketch: "Sketch | None") -> bool:
        """Whether a response shows it, or nearly so."""
        return bag == self.bag or _is_same_form(self.sketch, sketch, self.unlike)


@attrs.define(eq=False, repr=False)
class PageForm:
    """A content but for its clocks, and the slots that have shown it, with their URLs."""

    bag: str
    sketch: "Sketch | None"
    slots: dict[int, str] = attrs.field(factory=dict)

    def is_shown_by(self, prints: "Fingerprints", others: "deque[PageForm]") -> bool:
        """Whether a page shows it, or nearly so, beside what *others* of the kind show, too."""
        unlike = [each.sketch for each in others if each is not self]
        return prints.bag == self.bag or (
            len(unlike) > 1 and all(_is_same_form(self.sketch, prints.sketch, each) for each in unlike)
        )


@attrs.define(eq=False, repr=False)
class PageKind:
    """The pages of a kind: their number, that of those like others, and which are fetched again."""

    number: int = 0
    alike: int = 0
    latest: deque[PageForm] = attrs.field(factory=lambda: deque(maxlen=_OTHERS))
    #: What several pages have shown.
    suspects: list[PageForm] = attrs.field(factory=list)
    tried: set[int] = attrs.field(factory=set)
    asked: dict[int, PageForm] = attrs.field(factory=dict)
    #: Pages that have shown the same again.
    same: int = 0

    def trials(self, filtered: "Container[str] | None" = None) -> "Iterator[tuple[int, str]]":
        """Yield pages of which another URL is to be fetched: at the end of those for whose URL others were *filtered*."""
        if 2 * self.alike > self.number:  # that is how they are
            return
        least = ALIKE if filtered is None else 2
        for form in sorted(self.suspects, key=lambda each: -len(each.slots)):
            for slot, url in form.slots.items() if len(form.slots) >= least else ():
                if len(self.asked) + self.same >= ALIKE:
                    return
                if slot not in self.tried and (filtered is None or url in filtered):
                    self.tried.add(slot)
                    self.asked[slot] = form
                    yield slot, url


class AlikePages:
    """Finds contents that several pages of a kind show."""

    def __init__(self) -> None:
        self.kinds: OrderedDict[tuple[object, ...], PageKind] = OrderedDict()
        #: By kind and outline, the latest contents.
        self._forms: OrderedDict[tuple[object, ...], deque[PageForm]] = OrderedDict()

    def note(self, kind: tuple[object, ...], slot: int, url: str, prints: "Fingerprints") -> PageForm | None:
        """Note a page of a kind; return what it had shown under another URL if that was no page."""
        pages = _kept(self.kinds, kind, PageKind(), _MOST)
        before = pages.asked.pop(slot, None)
        if before is not None:
            if not before.is_shown_by(prints, pages.latest) and _differs(before, prints, pages):
                pages.suspects = [each for each in pages.suspects if each is not before]
                return before
            pages.same += 1
            before.slots[slot] = url
            return None
        sketch = prints.sketch
        outline = prints.bag if sketch is None else hash(sketch.weights)
        forms = _kept(self._forms, (kind, outline), deque(maxlen=_OTHERS), _OUTLINES)
        form = next((each for each in (*pages.suspects, *forms) if each.is_shown_by(prints, pages.latest)), None)
        if form is None:
            form = PageForm(prints.bag, sketch)
            forms.append(form)
            pages.latest.append(form)
        is_new = slot not in form.slots
        pages.number += is_new
        if form.slots and is_new:
            pages.alike += 1 + (len(form.slots) == 1)
            if form not in pages.suspects:  # the most wide-spread stay
                pages.suspects = sorted((*pages.suspects, form), key=lambda each: -len(each.slots))[:_SUSPECTS]
        if len(form.slots) < _MOST:
            form.slots[slot] = url
        return None


def _differs(form: PageForm, prints: "Fingerprints", pages: PageKind) -> bool:
    """Return whether a page shows less than half of what is the form's own, or the other way round, in words."""
    if form.sketch is None or prints.sketch is None:
        return True
    others = [each.sketch for each in pages.latest if each is not form and each.sketch is not None]
    one, other = (_own(each, others) for each in (form.sketch, prints.sketch))
    words = (one | other).total()
    return words > 0 and (one & other).total() < COMMON * words


def _own(sketch: "Sketch", others: "Sequence[Sketch]") -> Counter[int]:
    """Return the blocks of a page that most of the *others* lack, each with its words."""
    met = Counter(block for other in others for block in set(other.blocks))
    return Counter({block: words for block, words in sketch.counted().items() if 2 * met[block] <= len(others)})


def _is_same_form(one: "Sketch | None", two: "Sketch | None", unlike: "Sketch | None") -> bool:
    """Return whether *two* shows most of what *one* shows and *unlike* does not, in blocks of as many words.

    So two visits to a page to wait are alike, whose clock or number of the request differs, and two products are not.
    """
    if one is None or two is None or unlike is None or one.words != two.words or one.weights != two.weights:
        return False
    told = one.counted() - unlike.counted()
    words = told.total()
    return words > 0 and (told & two.counted()).total() >= COMMON * words


def _kept(values: OrderedDict[K, V], key: K, new: V, most: int) -> V:
    value = values.setdefault(key, new)
    values.move_to_end(key)
    if len(values) > most:
        values.popitem(last=False)
    return value
