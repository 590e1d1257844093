"""Places: the open elements at each point of a page, as an automaton that learns the site's markup.

Places form a trie (a place is its parent and one more element), shared by all pages. Each remembers which step each tag leads
to, so that a tag that was met before costs one look-up; what a new tag opens and closes :mod:`.markup` works out.

Threads may share the trie: its only changes are single insertions into dictionaries, and where two threads work out the same
step, either result will do. Past its bound it learns nothing more, and the next page begins a new one.
"""

from dataclasses import dataclass

from .markup import RAW, VOID, is_foreign, kept_on_end, kept_on_start
from .memo import Memo
from .tags import BEFORE_VALUE, Shape, Tag, alike_of, quoted_value, read_tag, shape_step, without_digits
from .token_kinds import CLOSE, EMPTY, OPEN, TEXT, Row

#: Open elements that a path or a selector names; the deeper ones share the place of the last one.
MAX_DEPTH = 256
#: Characters that a path or a selector has before the same happens.
MAX_PATH = 4000

_LIMIT = 16_000_000  # bytes of a trie, about
_LONG_TAG = 256
_MANY = 2000
"""Tags, and elements, that a place remembers: where there are more, nearly each is another one, with a name of its own."""


@dataclass(slots=True)  # frozen ones take four times as long to make
class TagStep:
    """What one tag does at one place; never changed once it is made."""

    #: What the tag is: an end tag stands inside the element that it closes.
    row: Row
    #: Where the page goes on.
    place: "OpenElements"
    #: True if it needs more than to go on: it has a value, or its contents are raw.
    special: bool = False
    #: Name of the element if its contents are not markup.
    raw: str = ""
    #: If it has an attribute that is content: the same as row, with the selector of the element itself.
    shown: Row | None = None
    #: Start and end of that attribute's value in the tag's text; (0, 0) for a step that many tags share.
    value: tuple[int, int] = (0, 0)

    def value_in(self, html: str, start: int) -> tuple[int, int]:
        """Return start and end of the value for the tag whose ``<`` is at *start*."""
        first, end = self.value
        if end:
            return start + 1 + first, start + 1 + end
        before = BEFORE_VALUE[self.row[1]]
        first = html.find(before, start) + len(before)
        return first, html.find('"', first)


# A place past the limits meets the same tags again and again, and remembers none.
_tags = Memo(read_tag, each=300)


class Trie:
    """The places of many pages."""

    def __init__(self) -> None:
        self.left = _LIMIT
        self.root = OpenElements(self, None, "", "")


class OpenElements(dict[str, TagStep]):
    """A list of open elements; maps the text of a tag (between its angle brackets) to its step.

    The step is None for what is no complete tag: other markup, text, or a tag with ``>`` in a value.
    """

    __slots__ = (
        "_alike",
        "_children",
        "_shapes",
        "_trie",
        "depth",
        "depths",
        "name",
        "parent",
        "path",
        "selector",
        "shared",
        "text",
    )

    def __init__(self, trie: Trie, parent: "OpenElements | None", name: str, step: str, *, shared: bool = True) -> None:
        self._trie = trie
        #: Whether its parent remembers it. What is not remembered remembers nothing, and nothing leads there.
        self.shared = shared
        self._alike: dict[str | bytes, TagStep] = {}
        self._children: dict[str, OpenElements] = {}
        self._shapes: dict[Shape, TagStep] = {}
        self.parent = parent
        self.name = name
        if parent is None:
            self.depth = 0
            self.depths: dict[str, int] = {}
            self.path = self.selector = ""
            self.text = self.row(TEXT, "")
            return
        self.depth = parent.depth + 1
        self.depths = {**parent.depths, name: self.depth}
        self.path = f"{parent.path}/{name}" if parent.path else name
        self.selector = f"{parent.selector}/{step}" if parent.selector else step
        self.text = self.row(TEXT, "")

    def __missing__(self, tag: str) -> TagStep | None:
        alike, varies = alike_of(tag)
        if alike:
            known = self._alike.get(alike)
            if known is not None:
                return known
        return self._met(tag, alike, varies=varies)

    def _met(self, tag: str, alike: str | bytes, *, varies: bool) -> TagStep | None:
        """Return the step of a tag that is met for the first time, and remember it if there is room.

        Tags with the same *alike* share one.
        """
        step = self.step(tag)
        if step is None or not self._learns(len(self) + len(self._alike)) or not step.place.shared:
            return step
        value = quoted_value(tag) if alike else (0, 0)
        if step.shown is not None:
            if step.value != value:
                return step
            varies = True
        elif value[1]:
            alike = ""  # what stands in the quotes is no value
        size = len(alike or tag)
        if size > _LONG_TAG:
            return step
        if varies and step.shown is not None:
            step.value = (0, 0)
        self._trie.left -= size + 200
        if alike:
            self._alike[alike] = step
        if not varies:
            self[tag] = step
        return step

    def _learns(self, known: int) -> bool:
        """Return whether it remembers more than so many."""
        if not self.shared or self._trie.left <= 0:
            return False
        if known >= _MANY:
            self._trie.left -= 200  # so that a new trie, with room for others, begins some day
            return False
        return True

    def step(self, tag: str) -> TagStep | None:
        """Return what the tag with this text does here, None if *tag* is not the text of a complete tag."""
        return self._step(read_tag(tag))

    def _step(self, read: Tag | None) -> TagStep | None:
        if read is None:
            return None
        is_end, name, identifier, classes, closed, value = read
        if is_end:
            return self._end(name)
        shape = name, without_digits(identifier), without_digits(classes), closed
        step = self._shapes.get(shape) or self._learned(shape)
        if value[0] >= value[1]:
            return step
        owner = step.place if step.row[0] == OPEN else step.place.leaf(name, shape_step(shape))
        return TagStep(step.row, step.place, True, step.raw, owner.row(step.row[0], name), value)

    def _learned(self, shape: Shape) -> TagStep:
        step = self._start(shape)
        if self._learns(len(self._shapes)) and step.place.shared:
            self._trie.left -= sum(map(len, shape[:3])) + 200
            self._shapes[shape] = step
        return step

    def _start(self, shape: Shape) -> TagStep:
        name, closed = shape[0], shape[3]
        keep = kept_on_start(name, self.name, self.depths)
        if keep is None:
            return TagStep(self.row(EMPTY, name), self)
        outer = self.left_open(keep)
        if name in VOID or closed:
            return TagStep(outer.row(EMPTY, name), outer)
        row = outer.row(OPEN, name)
        inner = outer.inside(shape)
        # The title of a drawing is markup; other raw elements are not met in one.
        raw = name if name in RAW and not (name == "title" and is_foreign(outer.depths)) else ""
        return TagStep(row, inner, bool(raw), raw)

    def _end(self, name: str) -> TagStep:
        keep = kept_on_end(name, self.name, self.depths)
        if keep is None:
            return TagStep(self.row(CLOSE, name), self)
        inner = self.left_open(keep + 1)
        row = inner.row(CLOSE, name)
        return TagStep(row, inner.left_open(keep))

    def row(self, kind: str, name: str) -> Row:
        """Return what a token of this kind and name is here."""
        return kind, name, self.path, self.selector, self.depth

    def leaf(self, name: str, step: str) -> "OpenElements":
        """Return the place of an element that has no contents; this one past the limits of depth and length."""
        found = self._children.get(step)
        if found is None:
            if self._is_last(step):
                return self
            shared = self._learns(len(self._children))
            found = OpenElements(self._trie, self, name, step, shared=shared)
            if shared:
                self._trie.left -= len(found.selector) + 100 * found.depth + 500
                self._children[step] = found
        return found

    def inside(self, shape: Shape) -> "OpenElements":
        """Return the place inside one more element."""
        name, step = shape[0], shape_step(shape)
        return DeepElements(self._trie, self, name) if self._is_last(step) else self.leaf(name, step)

    def _is_last(self, step: str) -> bool:
        return self.depth >= MAX_DEPTH or len(self.selector) + len(step) >= MAX_PATH

    def left_open(self, keep: int) -> "OpenElements":
        """Return the place where only the *keep* outermost elements are open."""
        place = self
        while place.depth > keep and place.parent is not None:
            place = place.parent
        return place


class DeepElements(OpenElements):
    """A place past the limits: it has the path of the last place within them.

    It belongs to one reader and changes with it; so it remembers no steps, and opening or closing
    an element costs the same at any depth.
    """

    __slots__ = ("_base", "_open", "_text")

    def __init__(self, trie: Trie, base: OpenElements, name: str) -> None:
        self._trie = trie
        self._base = self.parent = base
        self.shared = False
        self._shapes = {}
        self._open: list[tuple[str, int | None]] = []
        self._text: Row | None = None
        self.depth = base.depth
        self.depths = dict(base.depths)
        self.path = base.path
        self.selector = base.selector
        self._push(name)

    @property
    def text(self) -> Row:  # type: ignore[override]  # nothing assigns it here
        """What a text here is."""
        if self._text is None:
            self._text = self.row(TEXT, "")
        return self._text

    def __missing__(self, tag: str) -> TagStep | None:
        return self._step(_tags[tag])

    def _learned(self, shape: Shape) -> TagStep:
        return self._start(shape)

    def leaf(self, name: str, step: str) -> OpenElements:
        """Return this place: there is none for a single element past the limits."""
        return self

    def inside(self, shape: Shape) -> OpenElements:
        """Open one more element."""
        self._push(shape[0])
        return self

    def _push(self, name: str) -> None:
        self.depth += 1
        self._open.append((name, self.depths.get(name)))
        self.depths[name] = self.depth
        self.name = name
        self._text = None

    def left_open(self, keep: int) -> OpenElements:
        """Close elements until *keep* are left."""
        if keep <= self._base.depth:
            return self._base.left_open(keep)
        if keep < self.depth:
            self._close(keep)
        return self

    def _close(self, keep: int) -> None:
        while self.depth > keep:
            name, before = self._open.pop()
            if before is None:
                del self.depths[name]
            else:
                self.depths[name] = before
            self.depth -= 1
        self.name = self._open[-1][0]
        self._text = None
