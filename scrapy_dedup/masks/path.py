"""Paths of a mask: places on the pages of a site whose texts are transient, growing, or undecided."""

from dataclasses import dataclass
from typing import Literal

from ..content.tokenizer.unseen import is_unseen
from ..urls.templates import in_order
from .css_xpath import css_of, xpath_of
from .slots import Slot

__all__ = ["Example", "PathKind", "State", "Template", "TransientPath"]

PathKind = Literal["transient", "volatile", "growing", "undecided"]
State = Literal["", "keep", "strip"]
Template = tuple[object, ...]
"""See :func:`scrapy_dedup.urls.templates.template_of`."""
Example = tuple[str, str]
"""What stood somewhere before a change, and after it; "" for nothing. What may be a secret is blotted out."""


@dataclass(frozen=True, slots=True)
class TransientPath:
    """A place on the pages of a site, with the kind and the evidence of the texts there."""

    selector: str
    """The names of tags, with ids and classes that last: ``html/body/div#main/p.clock``. One that ends in ``/*``, as the mode
    "seed" makes them, is made of names alone (``html/body/p/*``), and means all that stands in such elements."""
    attribute: str = ""
    """"" for texts, else the attribute whose values are meant, or what stands for one where they are in a script, in a
    comment or in a part of a value (:mod:`scrapy_dedup.content.tokenizer.unseen`)."""
    slot: Slot | None = None
    """Which words are transient (see :mod:`scrapy_dedup.masks.slots`); None: all."""
    kind: PathKind = "transient"
    """What is "transient" surely passes. What is "volatile" differs as often, but may be what the page is about (a stock
    figure, a rating): pages are compared without it, and nothing is stripped."""
    confidence: float = 0.0
    """Probability (0 to 1) that what changes there is transient (:mod:`scrapy_dedup.masks.learning.judging.score`)."""
    pages: int = 0
    """Pages on which it was seen twice."""
    changes: int = 0
    """Changes that were seen of it."""
    opportunities: int = 0
    """Pairs of versions in which it could have changed."""
    examples: tuple[Example, ...] = ()
    """Some of these changes."""
    position: int = 0
    """The number, from 1, of one block among the ``of`` blocks of a page with this selector and attribute; 0 for all of them,
    however many. With an ``of`` of 0, it is counted from the first (1) or from the last (-1) of however many, and there must be
    a slot, or it must be typed."""
    of: int = 0
    templates: tuple[Template, ...] = ()
    """The URL templates it is true of; empty: all of which a page was seen in two versions."""
    state: State = ""
    """What the user says: "keep" (never stripped, whatever is learned), "strip" (always), or "" for nothing."""
    typed: bool = False
    """Whether only what holds a digit is hidden, as a clock, a counter or a token does. On other templates a path acts only where
    a page with the same places was seen twice; one that is typed does at once where pages are compared, but it takes nothing out
    of items there."""
    everywhere: bool = False
    """Whether it is true of all other templates, too, but those that are ``excepted`` or ``untested``."""
    excepted: tuple[Template, ...] = ()
    """Templates where what stands there is the pages' own."""
    untested: tuple[Template, ...] = ()
    """Templates where other texts stand there, and no page was fetched again."""
    words: tuple[str, ...] = ()
    """What goes with its numbers, as days of the week in any language do."""

    def __post_init__(self) -> None:
        for name in ("templates", "excepted", "untested"):  # in whatever order they come, they say the same
            object.__setattr__(self, name, in_order(set(getattr(self, name))))

    @property
    def is_hidden(self) -> bool:
        """Whether what stands there is stripped."""
        return self.state == "strip" or (self.state == "" and self.kind == "transient")

    @property
    def is_left_out(self) -> bool:
        """Whether pages are compared without what stands there, as they are without all that is stripped or volatile."""
        return self.is_hidden or (self.state == "" and self.kind == "volatile")

    @property
    def is_unseen(self) -> bool:
        """Whether it is about what nobody sees: pages are never compared by it, with or without."""
        return is_unseen(self.attribute)

    @property
    def key(self) -> tuple[str, str, int, int]:
        """What tells one path of a mask from another."""
        return self.selector, self.attribute, self.position, self.of

    @property
    def css(self) -> str:
        """A CSS selector for parsel of all texts at ``selector``, one of which is meant if there is a position."""
        return css_of(self.selector, self.attribute)

    @property
    def xpath(self) -> str:
        """An XPath of the texts that are meant."""
        return xpath_of(self.selector, self.attribute, self.position)
