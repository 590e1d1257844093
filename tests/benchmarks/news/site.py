"""A made-up news site: its pages under their targets, and what a response to each shows at a time."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from html import escape
from random import Random

from .passing import Markup, Passing
from .scores import Response, Served
from .world import DAY, Article, Thing, Voice, World

NEWEST = 12
"""News on the front page."""


@dataclass(frozen=True, slots=True)
class Contents:
    """Renders main contents as a list of blocks."""

    world: World
    markup: Markup
    passing: Passing

    def line(self, response: Response, part: str, label: str, value: str) -> str:
        """A lasting value with its label, in a block of its own; both are looked for together."""
        return self.markup.box(label, self.phrase(response, part, label, value))

    def phrase(self, response: Response, part: str, label: str, value: str) -> str:
        """As :meth:`line`, without the block."""
        wording = self.world.voice.labels[label]
        response.lasts(part, wording.format(value))
        return self.markup.line(label, wording, escape(value))

    def heading(self, response: Response, title: str) -> str:
        """The title of the page."""
        return f"<h1{self.markup.attributes('page title')}>{response.lasts('title', title)}</h1>"

    def link(self, response: Response, part: str, thing: Article | Thing) -> str:
        """A link of a list."""
        return f'<a href="{response.lasts(part + " (address)", thing.target)}">{response.lasts(part, thing.title)}</a>'

    def shuffled(self, role: str, blocks: list[str]) -> list[str]:
        """Blocks in the order that the site has for them."""
        order = [(self.world.rng("order", role, place).random(), block) for place, block in enumerate(blocks)]
        return [block for _, block in sorted(order)]

    # -- kinds of pages

    def front(self, response: Response) -> list[str]:
        """The newest news, some with a picture, and the first sentence of each."""
        rows = []
        for number, each in enumerate(self.world.news(response.now)[:NEWEST]):
            words = self.world.paragraphs(response.now, each)[0]
            image = self.passing.image(response, str(each.number), "") if number == 0 else ""
            teaser = response.lasts("teaser", words)
            rows.append(image + self.link(response, "headline", each) + self.markup.box("teaser", teaser))
        return [self.markup.items("headlines", rows)]

    def news_list(self, response: Response) -> list[str]:
        """All news with their dates."""
        voice = self.world.voice
        rows = [
            [self.link(response, "headline", each), response.lasts("date of publication", voice.date(each.published))]
            for each in self.world.news(response.now)
        ]
        return [self.markup.title(voice.labels["news"]), self.markup.table("archive", rows)]

    def shop_list(self, response: Response) -> list[str]:
        """All products with price and stock."""
        voice, now = self.world.voice, response.now
        rows = [
            self.link(response, "entry", each)
            + " "
            + self.phrase(response, "price", "price", voice.price(self.world.price(now, each)))
            + " "
            + self.phrase(response, "stock", "stock", voice.number(self.world.stock(now, each)))
            for each in self.world.goods
        ]
        return [self.markup.title(voice.labels["shop"]), self.markup.items("goods", rows)]

    def markets_list(self, response: Response) -> list[str]:
        """All shares with their prices."""
        voice = self.world.voice
        rows = [
            [
                self.link(response, "entry", each),
                response.lasts("quote", voice.decimal(self.world.quote(response.now, each))),
            ]
            for each in self.world.shares
        ]
        return [self.markup.title(voice.labels["markets"]), self.markup.table("shares", rows)]

    def towns_list(self, response: Response) -> list[str]:
        """All towns."""
        return [self.markup.items("towns", [self.link(response, "entry", each) for each in self.world.towns])]

    def news(self, response: Response, article: Article) -> list[str]:
        """An article with its dates, corrections, a table sometimes, and comments."""
        world, voice, now = self.world, self.world.voice, response.now
        published = voice.date(article.published)
        above = [
            self.line(response, "author", "author", article.author),
            self.line(response, "date of publication", "published", published),
        ]
        edits = world.edits(now, article)
        if edits:
            at = f"{voice.date(edits[-1])}, {voice.clock(edits[-1])}"
            above.append(self.line(response, "last edited", "edited", at))
        body = [self.markup.paragraph(response.lasts("paragraph", text)) for text in world.paragraphs(now, article)]
        advertisement = self.passing.inline_ad(response)
        if advertisement:
            drawn = response.rng.randint(1, len(body) - 1)
            body.insert(drawn if self.passing.habits.ad_moves else 2, advertisement)
        if world.rng("table", article.number).random() < 0.3:
            body.append(self._table(response, "table of an article", world.rng("cells", article.number)))
        blocks = [*above, self._image(response, f"n{article.number}")]
        blocks.append(self.markup.box("body", *body))
        if edits:
            # The form of the label is a sentence: one text.
            notes = [voice.labels["change"].format(f"{voice.date(at)}, {voice.clock(at)}") for at in edits]
            lines = [response.lasts("change log", note) for note in notes]
            blocks += [
                self.markup.box(
                    "changes", self.markup.title(voice.labels["changes"]), self.markup.items("changes", lines)
                )
            ]
        below = [self._comments(response, article), self.passing.related(response)]
        return [self.heading(response, article.title), *blocks, *self.shuffled("below", below)]

    def product(self, response: Response, thing: Thing) -> list[str]:
        """A product with price, stock, reviews and measures."""
        world, voice, now = self.world, self.world.voice, response.now
        average, reviews = world.rating(now, thing)
        rng = world.rng("description of", thing.number)
        blocks = [
            self.line(response, "price", "price", voice.price(world.price(now, thing))),
            self.line(response, "stock", "stock", voice.number(world.stock(now, thing))),
            self.line(response, "rating", "rating", voice.decimal(average, 1)),
            self.line(response, "number of reviews", "reviews", voice.number(reviews)),
            self.markup.box("description", self.markup.paragraph(response.lasts("paragraph", voice.paragraph(rng)))),
            self.passing.viewers(response),
            self._image(response, f"p{thing.number}"),
            self.markup.title(voice.labels["sizes"]) + self._table(response, "measures", rng),
        ]
        return [self.heading(response, thing.title), *self.shuffled("product", blocks)]

    def share(self, response: Response, thing: Thing) -> list[str]:
        """A share with its price, its change, its volume, and the last closing prices."""
        world, voice, now = self.world, self.world.voice, response.now
        quote, today = world.quote(now, thing), world.day(now)
        change = 100 * (quote / world.closing(today - 1, thing) - 1)
        sold = world.rng("volume", thing.number, now // 120).randint(10_000, 900_000)
        rows = [
            [
                response.lasts("day of a closing price", voice.date(world.start + day * DAY)),
                response.lasts("closing price", voice.decimal(world.closing(day, thing))),
            ]
            for day in range(today - 5, today)
        ]
        about = voice.paragraph(world.rng("share", thing.number))
        blocks = [
            self.line(response, "quote", "quote", voice.decimal(quote)),
            self.line(response, "change %", "percent", voice.decimal(change, sign=True)),
            self.line(response, "volume", "volume", voice.number(sold)),
            self.markup.table("history", rows),
            self.markup.paragraph(response.lasts("paragraph", about)),
        ]
        return [self.heading(response, thing.title), *self.shuffled("share", blocks)]

    def town(self, response: Response, thing: Thing) -> list[str]:
        """A town with its forecast and the opening hours of its hall."""
        world, voice = self.world, self.world.voice
        today = world.day(response.now)
        rows = []
        for day in range(today, today + 4):
            sky = voice.weather(world.rng("sky", thing.number, day))
            rows.append([escape(voice.weekday(world.start + day * DAY)), response.lasts("forecast", sky)])
        about = voice.paragraph(world.rng("town", thing.number))
        blocks = [
            self.markup.title(voice.labels["forecast"]) + self.markup.table("forecast", rows),
            self._hours(response, thing.number),
            self.markup.paragraph(response.lasts("paragraph", about)),
        ]
        return [self.heading(response, thing.title), *self.shuffled("town", blocks)]

    def static(self, response: Response, thing: Thing) -> list[str]:
        """A page that stays as it is."""
        rng = self.world.rng("static", thing.number)
        body = [self.markup.paragraph(response.lasts("paragraph", self.world.voice.paragraph(rng))) for _ in range(4)]
        return [self.heading(response, thing.title), *body, self._hours(response, -1 - thing.number)]

    # -- parts

    def _image(self, response: Response, name: str) -> str:
        alt = self.world.voice.phrase(self.world.rng("image", name))
        return self.passing.image(response, name, response.lasts("alternative text", alt))

    def _comments(self, response: Response, article: Article) -> str:
        voice, comments = self.world.voice, self.world.comments(response.now, article)
        if not comments:
            return ""
        rows = []
        for who, what, at in comments:
            when = f"{voice.date(at)} {voice.clock(at)}"
            name = escape(who)
            said = self.markup.paragraph(response.lasts("comment", what))
            rows.append(f"<b>{name}</b> <i>{response.lasts('date of a comment', when)}</i> {said}")
        count = self.phrase(response, "number of comments", "comments", voice.number(len(comments)))
        return self.markup.box("comments", f"<h3>{count}</h3>", self.markup.items("comments", rows))

    def _hours(self, response: Response, number: int) -> str:
        voice, rng = self.world.voice, self.world.rng("hours", number)
        rows = []
        for weekday in voice.language.weekdays[:5]:
            hours = f"{rng.randint(7, 10)}:{rng.choice(('00', '15', '30'))} – {rng.randint(12, 19)}:{rng.choice(('00', '45'))}"
            rows.append([escape(weekday), response.lasts("opening hours", hours)])
        return self.markup.title(voice.labels["hours"]) + self.markup.table("hours", rows)

    def _table(self, response: Response, part: str, rng: Random) -> str:
        voice = self.world.voice
        rows = [
            [escape(voice.phrase(rng, 1, 2)), response.lasts(part, voice.decimal(rng.uniform(1, 5000), 1))]
            for _ in range(rng.randint(3, 6))
        ]
        return self.markup.table(part, rows)


Render = Callable[[Response], list[str]]


class NewsSite:
    """The site of a seed: about a hundred pages, of which a few are new each day."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.voice = Voice(seed)
        self.markup = Markup(seed)
        self.world = World(seed, self.voice)
        self.passing = Passing(seed, self.world, self.markup)
        self._contents = Contents(self.world, self.markup, self.passing)
        rng = Random(f"layout of {seed}")
        #: The element with this value of data-main holds the main content.
        self.main = self.markup.named("main")
        self._order = rng.sample(("navigation", "moment", "notices"), 3)
        self._side_first = rng.random() < 0.4
        self._side_order = rng.sample(range(3), 3)
        self._counters_below = rng.random() < 0.6
        self._script_below = rng.random() < 0.4
        self._in_table = rng.random() < 0.2
        self._name = self.voice.phrase(rng, 2, 2).title()
        self._lists = {f"/{path}/": kind for kind, path in self.world.paths.items()}

    def targets(self, now: float) -> list[str]:
        """The targets of all pages at a time, the front page first."""
        return list(self._pages(now))

    def respond(self, target: str, now: float, number: int) -> Served | None:
        """The response of that number, of all of the site; None where there is no such page."""
        found = self._pages(now).get(target)
        if found is None:
            return None
        kind, render = found
        response = Response(number, now, target, kind, Random(f"{self.seed} response {number}"))
        return response.served(self._html(response, render))

    def _pages(self, now: float) -> dict[str, tuple[str, Render]]:
        contents, world = self._contents, self.world
        pages: dict[str, tuple[str, Render]] = {"/": ("front", contents.front)}
        lists = {
            "news": contents.news_list,
            "shop": contents.shop_list,
            "markets": contents.markets_list,
            "towns": contents.towns_list,
        }
        pages |= {target: ("list", lists[kind]) for target, kind in self._lists.items()}
        pages |= {each.target: ("news", partial(contents.news, article=each)) for each in world.news(now)}
        pages |= {each.target: ("shop", partial(contents.product, thing=each)) for each in world.goods}
        pages |= {each.target: ("markets", partial(contents.share, thing=each)) for each in world.shares}
        pages |= {each.target: ("town", partial(contents.town, thing=each)) for each in world.towns}
        pages |= {each.target: ("static", partial(contents.static, thing=each)) for each in world.static}
        return pages

    def _html(self, response: Response, render: Render) -> str:
        passing, markup = self.passing, self.markup
        main = markup.box("content", *render(response), tag="div", attributes=f'data-main="{self.main}"')
        side = passing.side(response)
        side = markup.box("side", *[side[place] for place in self._side_order if place < len(side)])
        above = {
            "navigation": self._navigation,
            "moment": lambda: "\n".join(passing.moment(response)),
            "notices": lambda: "\n".join(passing.notices(response)),
        }
        header = markup.box("header", f"<p>{escape(self._name)}</p>", *[above[name]() for name in self._order])
        counters = markup.box("counters", *passing.counters(response))
        middle = [side, main] if self._side_first else [main, side]
        if self._in_table:
            cells = "".join(f"<td valign=top>{each}</td>" for each in middle)
            middle = [f"<table width=100%><tr>{cells}</tr></table>"]
        footer = markup.box("footer", f"<p>© {escape(self._name)}</p>", passing.search(response))
        scripts = passing.head(response)
        title = next((piece.text for piece in response.pieces if piece.part == "title"), self._name)
        about = response.lasts("description", self.voice.sentence(self.world.rng("description", response.target)))
        meta = f'<meta name="description" content="{about}">'
        head = f"<title>{escape(title)}</title>{meta}" + ("" if self._script_below else scripts)
        body = [header, "" if self._counters_below else counters, *middle, counters if self._counters_below else ""]
        body += [footer, scripts if self._script_below else "", passing.end(response)]
        inner = "\n".join(filter(None, body))
        lang = self.voice.language.code
        return (
            f'<!doctype html><html lang="{lang}"><head><meta charset="utf-8">{head}</head>\n'
            f"<body{passing.data(response)}>{inner}</body></html>"
        )

    def _navigation(self) -> str:
        return self.markup.box("navigation", self.markup.items("navigation", self._links()))

    def _links(self) -> Iterator[str]:
        labels = self.voice.labels
        yield f'<a href="/">{escape(labels["home"])}</a>'
        for target, kind in self._lists.items():
            yield f'<a href="{target}">{escape(labels[kind])}</a>'
        for label, thing in zip(("about", "contact", "terms"), self.world.static, strict=True):
            yield f'<a href="{thing.target}">{escape(labels[label])}</a>'
