"""The passing parts of one made-up news site: which it has, on which pages they stand, and how often each changes."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from html import escape
from random import Random
from typing import Final, NamedTuple

from ..sites.many_keys import word
from .scores import Response
from .world import World, stamp

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


EVERYWHERE: Final = ("front", "list", "news", "shop", "markets", "town", "static")
ADS, TEASERS = 14, 24
"""That there are of each."""

CLOCK, DATE, WEATHER = "clock", "date", "weather"
VISITORS, ONLINE, GENERATED = "visitor counter", "readers online", "time to render"
MOST_READ, RELATED, ARCHIVE = "most read", "related articles", "rotating teasers"
AD, AD_LINK, INLINE_AD = "sidebar advertisement", "its link number", "advertisement in the article"
HELP, COOKIES, VIEWERS = "help box", "cookie notice", "viewers of a product"
CSRF_FIELD, CSRF_META, NONCE, STATE = "csrf field", "csrf meta tag", "script nonce", "script state"
COMMENT, DATA, BUSTER, PIXEL = "comment with the render time", "data attribute", "image cache-buster", "tracking pixel"

PAGES: Final[dict[str, Sequence[str]]] = {
    **dict.fromkeys((CLOCK, DATE, WEATHER, VISITORS, ONLINE, GENERATED, MOST_READ, ARCHIVE, AD, AD_LINK), EVERYWHERE),
    **dict.fromkeys((HELP, COOKIES, CSRF_META, NONCE, STATE, COMMENT, DATA, PIXEL, CSRF_FIELD), EVERYWHERE),
    RELATED: ("news",),
    INLINE_AD: ("news",),
    VIEWERS: ("shop",),
    BUSTER: ("front", "news", "shop"),
}
"""part -> the kinds of pages that show it, on a site that has it; a help box stands on some of these only."""
ALWAYS: Final = frozenset((CLOCK, DATE, WEATHER, MOST_READ, VISITORS, ONLINE, AD, AD_LINK, INLINE_AD, RELATED, ARCHIVE))
COMES_AND_GOES: Final = frozenset((HELP, COOKIES))


@dataclass(frozen=True, slots=True)
class Habits:
    """How the parts of a site behave. online, viewers: least and most; shown: share of responses with each box."""

    parts: frozenset[str]
    help_on: frozenset[str]
    online: tuple[int, int]
    viewers: tuple[int, int]
    shown: dict[str, float]
    teasers_daily: bool
    ad_moves: bool
    """Whether the advertisement in an article stands after another paragraph each time."""
    token: Callable[[Random], str]
    first_visitor: int
    in_line: bool
    """Whether date, time and weather stand in one line."""


def habits_of(seed: int) -> Habits:
    """The habits of the site of a seed."""
    rng = Random(f"habits of {seed}")
    parts = [part for part in PAGES if part in ALWAYS or rng.random() < 0.85]
    lengths = rng.choice((16, 32, 40))
    forms: tuple[Callable[[Random], str], ...] = (
        lambda drawn: f"{drawn.getrandbits(4 * lengths):0{lengths}x}",
        lambda drawn: "".join(drawn.choices("abcdefghijkmnopqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", k=lengths)),
    )
    return Habits(
        parts=frozenset(parts),
        help_on=frozenset(rng.sample(EVERYWHERE, rng.randint(3, 7))),
        online=rng.choice(((80, 400), (120, 260), (900, 4000))),
        viewers=rng.choice(((2, 30), (11, 60))),
        shown={HELP: rng.uniform(0.2, 0.7), COOKIES: rng.uniform(0.3, 0.8)},
        teasers_daily=rng.random() < 0.4,
        ad_moves=rng.random() < 0.4,
        token=rng.choice(forms),
        first_visitor=rng.randint(10_000, 3_000_000),
        in_line=rng.random() < 0.3,
    )


class Passing:
    """Renders the passing parts of the site of a seed."""

    def __init__(self, seed: int, world: World, markup: Markup) -> None:
        self.habits = habits_of(seed)
        self._world, self._markup, self._voice = world, markup, world.voice
        self._labels = world.voice.labels
        rng = world.rng("advertisements")
        self._ads = [f"{self._voice.phrase(rng, 4, 6)}!" for _ in range(ADS)]
        self._teasers = [self._voice.phrase(rng, 5, 8) for _ in range(TEASERS)]
        self._host = f"http://ads.{rng.choice(self._voice.words)}.example"

    def on(self, response: Response, part: str) -> bool:
        """Whether this response shows a part."""
        if part not in self.habits.parts or response.kind not in PAGES[part]:
            return False
        if part == HELP and response.kind not in self.habits.help_on:
            return False
        return part not in COMES_AND_GOES or response.rng.random() < self.habits.shown[part]

    def labelled(self, response: Response, part: str, label: str, value: str) -> str:
        """A value with its label. What is looked for is the value, with the label where it is short."""
        wording = self._labels[label]
        response.passes(part, value if len(value) > 2 else wording.format(value))
        return self._markup.line(label, wording, escape(value))

    def moment(self, response: Response) -> list[str]:
        """Date, time and weather."""
        hour = self._world.rng("weather", response.now // 3600)
        rows = (
            (DATE, "today", self._voice.today(response.now)),
            (CLOCK, "clock", self._voice.clock(response.now)),
            (WEATHER, "weather", self._voice.weather(hour)),
        )
        shown = [
            (label, self.labelled(response, part, label, value))
            for part, label, value in rows
            if self.on(response, part)
        ]
        if self.habits.in_line:
            return [self._markup.box("moment", " | ".join(html for _, html in shown))]
        return [self._markup.box(label, html) for label, html in shown]

    def counters(self, response: Response) -> list[str]:
        """How many were and are here, and how long it took."""
        rng, number = response.rng, self._voice.number
        rows = (
            (VISITORS, "visitors", number(self.habits.first_visitor + 3 * response.number + rng.randint(0, 2))),
            (ONLINE, "online", number(rng.randint(*self.habits.online))),
            (GENERATED, "generated", f"0.{rng.randint(100, 9999):04}"),
        )
        return [
            self._markup.box(label, self.labelled(response, part, label, value))
            for part, label, value in rows
            if self.on(response, part)
        ]

    def side(self, response: Response) -> list[str]:
        """The boxes beside the content, each with the role that orders them."""
        boxes = [self._most_read(response), self._advertisement(response), self._archive(response)]
        return [box for box in boxes if box]

    def notices(self, response: Response) -> list[str]:
        """The boxes that come and go."""
        parts = ((HELP, "help"), (COOKIES, "cookies"))
        return [
            self._markup.box(f"notice {label}", self._markup.paragraph(response.passes(part, self._labels[label])))
            for part, label in parts
            if self.on(response, part)
        ]

    def related(self, response: Response) -> str:
        """Other news, drawn at random; "" where there are none."""
        if not self.on(response, RELATED):
            return ""
        others = [each for each in self._world.news(response.now) if each.target != response.target]
        links = [self._link(response, RELATED, each.target, each.title) for each in response.rng.sample(others, 3)]
        return self._markup.box(
            "related", self._markup.title(self._labels["related"]), self._markup.items("related", links)
        )

    def inline_ad(self, response: Response) -> str:
        """An advertisement between paragraphs; "" where there is none."""
        if not self.on(response, INLINE_AD):
            return ""
        text = response.passes(INLINE_AD, response.rng.choice(self._ads))
        label = self._labels["advertisement"]
        return self._markup.box("inline", f"{escape(label)}: ", self._markup.paragraph(text))

    def viewers(self, response: Response) -> str:
        """How many look at a product; "" where nobody says so."""
        if not self.on(response, VIEWERS):
            return ""
        value = str(response.rng.randint(*self.habits.viewers))
        return self._markup.box("viewers", self.labelled(response, VIEWERS, "viewers", value))

    # -- what is not to be seen

    def head(self, response: Response) -> str:
        """Meta tag and scripts."""
        token = self.habits.token
        parts = []
        if self.on(response, CSRF_META):
            parts.append(f'<meta name="csrf-token" content="{response.passes(CSRF_META, token(response.rng))}">')
        nonce = ""
        if self.on(response, NONCE):
            nonce = f' nonce="{response.passes(NONCE, token(response.rng))}"'
        state = "{}"
        if self.on(response, STATE):
            request = response.passes(STATE, token(response.rng))
            state = json.dumps({"page": response.kind, "request": request, "at": int(response.now)})
        parts.append(f"<script{nonce}>window.{self._markup.named('state')} = {state};</script>")
        return "\n".join(parts)

    def data(self, response: Response) -> str:
        """The attribute of the body, "" where there is none."""
        if not self.on(response, DATA):
            return ""
        name = self._markup.named("request")
        return f' data-{name}="{response.passes(DATA, self.habits.token(response.rng))}"'

    def search(self, response: Response) -> str:
        """The form on each page."""
        hidden = ""
        if self.on(response, CSRF_FIELD):
            value = response.passes(CSRF_FIELD, self.habits.token(response.rng))
            hidden = f'<input type="hidden" name="{self._markup.named("token")}" value="{value}">'
        label = escape(self._labels["search"])
        return f'<form action="/{self._markup.named("search")}">{hidden}<input name="q"><button>{label}</button></form>'

    def end(self, response: Response) -> str:
        """Pixel and comment at the end of the page."""
        parts = []
        if self.on(response, PIXEL):
            number = response.passes(PIXEL, str(response.rng.randint(10**9, 10**10)))
            parts.append(f'<img src="{self._host}/p.gif?r={number}" width="1" height="1" alt="">')
        if self.on(response, COMMENT):
            text = response.passes(COMMENT, f"{stamp(response.now)} {response.rng.randint(1000, 99_999)}")
            parts.append(f"<!-- {self._markup.named('cache')}: {text} -->")
        return "\n".join(parts)

    def image(self, response: Response, name: str, alt: str) -> str:
        """An image of the content; *alt* is HTML."""
        version = ""
        if self.on(response, BUSTER):
            version = f"?v={response.passes(BUSTER, f'{response.rng.getrandbits(40):010x}')}"
        return f'<img src="/{self._markup.named("images")}/{name}.jpg{version}" alt="{alt}">'

    # -- boxes

    def _most_read(self, response: Response) -> str:
        if not self.on(response, MOST_READ):
            return ""
        news = self._world.news(response.now)
        # A place of the list is taken by another one every ten hours or so.
        titles: dict[str, str] = {}
        for place in range(5):
            turn = int(response.now // 3600 + 2 * place) // 10
            each = self._world.rng("most read", place, turn).choice(news)
            titles.setdefault(each.target, each.title)
        links = [self._link(response, MOST_READ, *each) for each in titles.items() if each[0] != response.target]
        return self._aside("most read", self._markup.items("most read", links))

    def _advertisement(self, response: Response) -> str:
        if not self.on(response, AD):
            return ""
        number = response.rng.randrange(ADS)
        text = response.passes(AD, self._ads[number])
        link = response.passes(AD_LINK, str(response.rng.randint(10**6, 10**8)))
        return self._aside("advertisement", f'<a href="{self._host}/go/{number}?c={link}">{text}</a>')

    def _archive(self, response: Response) -> str:
        if not self.on(response, ARCHIVE):
            return ""
        daily = self.habits.teasers_daily
        rng = self._world.rng("teasers", self._world.day(response.now)) if daily else response.rng
        texts = [response.passes(ARCHIVE, text) for text in rng.sample(self._teasers, 3)]
        return self._aside("archive", self._markup.items("archive", texts))

    def _aside(self, label: str, html: str) -> str:
        return self._markup.box(f"side {label}", self._markup.title(self._labels[label]), html)

    def _link(self, response: Response, part: str, target: str, title: str) -> str:
        return f'<a href="{response.passes(part, target)}">{response.passes(part, title)}</a>'
