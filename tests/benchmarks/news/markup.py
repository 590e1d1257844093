"""The markup of one made-up site: names of classes and ids, elements, wrappers, and what is not well formed.

A *role* is what a block is for ("weather", "comment"). What markup it gets is drawn once from the site's seed, so that
it is the same on every page of a site, and another one on another site.
"""

from collections.abc import Iterable
from functools import lru_cache
from html import escape
from random import Random
from typing import NamedTuple

from ..sites.many_keys import word

_HEX = "0123456789abcdef"


class _Shape(NamedTuple):
    """tags: of a block and its wrappers, outermost first, with their attributes."""

    tags: tuple[tuple[str, str], ...]
    value: str
    """How a value stands beside its label: "plain" in one text, or in the element of that name."""
    listed: str
    """How items stand in a list: "ul", "ol", "div" or "table"."""


class Markup:
    """The markup of the site of a seed."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"markup of {seed}")
        self._seed = seed
        self._naming = rng.choice(("words", "block", "hashed", "ids", "bare"))
        self._unclosed = rng.random() < 0.4
        self._unquoted = rng.random() < 0.3
        self._capitals = rng.random() < 0.15
        self._one_class = word(rng) if rng.random() < 0.4 else ""
        self._stray = rng.random() < 0.3
        self._block = word(rng)
        self.heading = rng.choice(("h2", "h3", "h4", "strong"))
        self.indented = rng.random() < 0.7
        self._shape = lru_cache(maxsize=None)(self._drawn)

    def box(self, role: str, *inner: str, tag: str = "", attributes: str = "") -> str:
        """A block of a role around *inner*, in the wrappers of that role; *tag* takes the place of the innermost element."""
        tags = list(self._shape(role).tags)
        if tag:
            tags[-1] = tag, tags[-1][1]
        opened = [f"<{name}{given}>" for name, given in tags]
        if attributes:
            opened[-1] = opened[-1][:-1] + f" {attributes}>"
        body = ("\n" if self.indented else "").join([*opened, *inner, *(f"</{name}>" for name, _ in reversed(tags))])
        # An end tag too many: browsers and parsers skip it.
        return body + ("</span>" if self._stray and Random(f"{self._seed} stray {role}").random() < 0.1 else "")

    def line(self, role: str, label: str, value: str) -> str:
        """A label with its value in the place of ``{}``: one text, or the value in an element of its own. *value* is HTML."""
        before, _, after = (escape(part) for part in label.partition("{}"))
        shape = self._shape(role)
        apart = (not before or before[-1].isspace()) and (not after or after[0].isspace())
        if shape.value == "plain" or not apart:
            return f"{before}{value}{after}"
        return f"{before}<{shape.value}{self.attributes(role + ' value')}>{value}</{shape.value}>{after}"

    def paragraph(self, text: str) -> str:
        """A paragraph of HTML, on some sites without its end tag."""
        return f"{self._tag('p')}{text}" + ("" if self._unclosed else f"</{self._name('p')}>")

    def items(self, role: str, items: Iterable[str]) -> str:
        """A list of HTML items."""
        kind = self._shape(role).listed
        given = self.attributes(role + " list")
        if kind == "table":
            return f"<table{given}>" + "".join(f"<tr><td>{each}</td></tr>" for each in items) + "</table>"
        item = "div" if kind == "div" else "li"
        end = "" if self._unclosed and item == "li" else f"</{item}>"
        space = "\n" if self.indented else ""
        return f"<{kind}{given}>{space}" + space.join(f"<{item}>{each}{end}" for each in items) + f"{space}</{kind}>"

    def table(self, role: str, rows: Iterable[Iterable[str]]) -> str:
        """A table of HTML cells, on some sites without the end tags of its cells."""
        end = "" if self._unclosed else "</td>"
        body = "\n".join("<tr>" + "".join(f"<td>{cell}{end}" for cell in row) + "</tr>" for row in rows)
        return f"<table{self.attributes(role)}>{body}</table>"

    def title(self, text: str) -> str:
        """The heading of a block."""
        return f"<{self.heading}>{escape(text)}</{self.heading}>"

    def attributes(self, role: str) -> str:
        """The class or the id of a role, "" where it has none."""
        rng = Random(f"{self._seed} name {role}")
        naming = self._naming
        side = role.startswith("side ")
        if side and self._one_class:
            return self._attribute("class", self._one_class)
        if naming == "bare" and rng.random() < 0.6:
            return ""
        name = word(rng)
        if naming == "block":
            name = f"{self._block}__{name}" + (f" {self._block}--{word(rng)}" if rng.random() < 0.4 else "")
        elif naming == "hashed":
            name = f"{name[:3]}-{''.join(rng.choices(_HEX, k=6))} css-{''.join(rng.choices(_HEX, k=5))}"
        elif naming == "words" and rng.random() < 0.5:
            name = f"{name} {word(rng)}"
        if naming == "ids" and rng.random() < 0.6 and "value" not in role:
            return self._attribute("id", name.replace(" ", "-"))
        return self._attribute("class", name)

    def named(self, role: str) -> str:
        """A name for what has to be called by one: an attribute, a variable, a folder."""
        return word(Random(f"{self._seed} id of {role}"))

    def _drawn(self, role: str) -> _Shape:
        rng = Random(f"{self._seed} shape of {role}")
        depth = rng.choice((0, 0, 1, 1, 2, 3))
        tags = [(self._name("div"), self.attributes(f"{role} {each}")) for each in range(depth)]
        own = rng.choice(("div", "div", "section", "aside", "div"))
        tags.append((self._name(own), self.attributes(role)))
        return _Shape(
            tuple(tags),
            rng.choice(("plain", "plain", "b", "span", "strong")),
            rng.choice(("ul", "ul", "ol", "div", "table")),
        )

    def _tag(self, name: str) -> str:
        return f"<{self._name(name)}>"

    def _name(self, name: str) -> str:
        return name.upper() if self._capitals else name

    def _attribute(self, name: str, value: str) -> str:
        plain = self._unquoted and " " not in value
        return f" {name}={value}" if plain else f' {name}="{value}"'
