"""HTML that is written with the truth of every token."""

from dataclasses import dataclass, field
from enum import Enum
from html import escape


class Kind(str, Enum):
    """How long a token lasts: with the site, with the page, not at all, and from now on."""

    TEMPLATE = "template"
    MAIN = "main"
    TRANSIENT = "transient"
    GROWING = "growing"


@dataclass(frozen=True, slots=True)
class Token:
    """A piece of visible text: the names of its elements (``body/div.box/p``), its kind, its slot.

    ``start`` is where it stands in the HTML, escaped as ``html.escape`` does. ``whole``: it comes and goes, so that all of
    it passes, its lasting words, too.
    """

    path: str
    text: str
    kind: Kind
    slot: str = ""
    start: int = 0
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Value:
    """A piece of HTML that shows no text: what it is of, as written, and whether it passes."""

    name: str
    html: str
    passes: bool


@dataclass(frozen=True, slots=True)
class Page:
    """One version of a page."""

    html: str
    tokens: tuple[Token, ...]
    values: tuple[Value, ...] = ()

    def text(self, *kinds: Kind) -> str:
        """The visible text of these kinds, of all where none is given."""
        return " ".join([token.text for token in self.tokens if not kinds or token.kind in kinds])


@dataclass(slots=True)
class Writer:
    """Puts HTML together and keeps account of its text."""

    parts: list[str] = field(default_factory=list)
    tokens: list[Token] = field(default_factory=list)
    values: list[Value] = field(default_factory=list)
    stack: list[str] = field(default_factory=list)
    length: int = 0
    """Characters so far."""

    def open(self, tag: str, classes: str = "", **attributes: str) -> None:
        """Open an element."""
        given = {"class": classes, **attributes} if classes else attributes
        shown = "".join([f' {name}="{escape(value)}"' for name, value in given.items()])
        self.raw(f"<{tag}{shown}>")
        self.stack.append(f"{tag}.{classes}" if classes else tag)

    def close(self, *, written: bool = True) -> None:
        """Close the innermost element; an end tag that HTML does not need may be left out."""
        tag = self.stack.pop().partition(".")[0]
        self.raw(f"</{tag}>\n" if written else "\n")

    def say(self, text: str, kind: Kind, slot: str = "", *, whole: bool = False) -> None:
        """Write text."""
        self.tokens.append(Token("/".join(self.stack), text, kind, slot, self.length, whole))
        self.raw(escape(text))

    def raw(self, html: str) -> None:
        """Write HTML that shows no text."""
        self.parts.append(html)
        self.length += len(html)

    def value(self, before: str, html: str, after: str, name: str, *, passes: bool) -> None:
        """Write HTML that shows no text, of which *html* is to be gone, or to stay."""
        self.values.append(Value(name, html, passes))
        self.raw(f"{before}{html}{after}")

    def page(self) -> Page:
        """The page so far."""
        return Page("".join(self.parts), tuple(self.tokens), tuple(self.values))

    def element(self, tag: str, text: str, kind: Kind, slot: str = "", *, classes: str = "", end: bool = True) -> None:
        """Write an element with one text."""
        self.open(tag, classes)
        self.say(text, kind, slot)
        self.close(written=end)
