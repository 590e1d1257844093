"""A made-up news site: its pages under their targets, and what a response to each shows at a time."""

from collections.abc import Iterator
from functools import partial
from html import escape
from random import Random

from .contents import Contents, Render
from .markup import Markup
from .passing import Passing
from .pieces import Response, Served
from .voice import Voice
from .world import World


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
