"""Parts that are content of their pages, and look like what is transient."""

from .look import BEGIN, DAY, HOUR, MINUTE, Fetch, Look, Part, words, written

__all__ = ["LASTING"]


def edited(look: Look, fetch: Fetch) -> list[str]:
    """A paragraph of which a word is corrected now and then."""
    edits = len(look.steps(fetch, DAY, 0.05))
    rng = look.drawn(fetch.page)
    text = words(rng, 25).split()
    for edit in range(edits):
        text[look.drawn(fetch.page, edit).randrange(len(text))] = words(look.drawn("new", fetch.page, edit), 1)
    return [" ".join(text)]


def price(look: Look, fetch: Fetch) -> list[str]:
    """A price that goes up and down."""
    sign = look.drawn("sign").choice(("$", "€", "", "", "kr "))
    return [look.said(f"{sign}{look.moved(fetch, DAY, look.every, 0.2):.2f}")]


def stock(look: Look, fetch: Fetch) -> list[str]:
    """How many are left; it falls."""
    sold = len(look.steps(fetch, HOUR * 6, look.every))
    return [look.said(str(max(0, look.level(fetch.page) - sold)))]


def figure_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    """Another number each day."""
    return [look.said(str(look.drawn_today(fetch).randint(look.low, look.high)))]


def state(look: Look, fetch: Fetch) -> list[str]:
    """One of a few states, which follow each other."""
    number = look.level(fetch.page) + len(look.steps(fetch, DAY, look.every))
    return [look.said(look.states[number % len(look.states)])]


def state_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    """One of a few states, any one each day."""
    return [look.said(look.drawn_today(fetch).choice(look.states))]


def sentence_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    """Another sentence each day."""
    return [words(look.drawn_today(fetch), 8)]


def one_of_many_of_the_day(look: Look, fetch: Fetch) -> list[str]:
    """One of some texts each day."""
    return [look.drawn_today(fetch).choice(look.pool)]


def badge(look: Look, fetch: Fetch) -> list[str]:
    """A text that is there on some days."""
    return [look.pool[0]] if look.drawn_today(fetch).random() < 0.5 else []


def sizes(look: Look, fetch: Fetch) -> list[str]:
    """Which ones there are today."""
    rng = look.drawn_today(fetch)
    return [text for text in look.pool[:8] if rng.random() < 0.6]


def checksum(look: Look, fetch: Fetch) -> list[str]:
    """A checksum of what is there, which changes."""
    edits = len(look.steps(fetch, DAY, look.every))
    return [look.said(f"{look.drawn(fetch.page, edits).getrandbits(128):032x}")]


def moved_to(look: Look, fetch: Fetch) -> list[str]:
    """A day, or a time, that is put off now and then."""
    moves = len(look.steps(fetch, DAY, look.every))
    at = BEGIN + look.drawn(fetch.page, moves).uniform(1, 60) * DAY
    return [look.said(written(at, look.date if look.shown > 3 else look.clock))]


def rating(look: Look, fetch: Fetch) -> list[str]:
    """From one to five."""
    value = 1 + 4 * (look.moved(fetch, DAY, look.every, 0.1) % 1)
    return [look.said(f"{value:.1f}")]


def quote(look: Look, fetch: Fetch) -> list[str]:
    """What a share costs; it goes up and down within hours."""
    return [look.said(f"{look.moved(fetch, 20 * MINUTE if look.every > 0.5 else HOUR, 0.7, 0.02):.2f}")]


def change(look: Look, fetch: Fetch) -> list[str]:
    """By how much a share has gone up or down."""
    return [look.said(f"{look.drawn(fetch.page, int(fetch.at // HOUR)).uniform(-4, 4):+.2f} %")]


def comments(look: Look, fetch: Fetch) -> list[str]:
    """All comments on the page; there are more and more."""
    return [words(look.drawn(fetch.page, step), 9) for step in look.steps(fetch, DAY, look.every)]


def last_comments(look: Look, fetch: Fetch) -> list[str]:
    """The latest comments on the page."""
    return comments(look, fetch)[-look.shown :]


def views(look: Look, fetch: Fetch) -> list[str]:
    """Of a page: some more each day, and with each request for it."""
    before = look.level(fetch.page) * 10 * (1 + 0.02 * (fetch.at - BEGIN) / DAY)
    return [look.counted(int(before) + fetch.request // 20)]


def number_of_comments(look: Look, fetch: Fetch) -> list[str]:
    """How many comments there are on the page."""
    return [look.said(str(len(look.steps(fetch, DAY, look.every))))]


def bid(look: Look, fetch: Fetch) -> list[str]:
    """The highest bid; it rises."""
    bids = len(look.steps(fetch, HOUR * 4, look.every))
    return [look.counted(look.level(fetch.page) + 5 * bids)]


def town(look: Look, fetch: Fetch) -> list[str]:
    """The weather in the town that the page is about."""
    rng = look.drawn_today(fetch)
    return [look.said(f"{rng.randint(-5, 35)} ° {rng.choice(look.states)}")]


def last_edited(look: Look, fetch: Fetch) -> list[str]:
    """When the page was edited for the last time."""
    steps = look.steps(fetch, DAY, look.every / 2)
    if not steps:
        return []
    at = BEGIN + steps[-1] * DAY + look.drawn(fetch.page, steps[-1]).uniform(0, DAY)
    return [look.said(written(min(at, fetch.at), look.date if look.shown > 3 else look.clock))]


def change_log(look: Look, fetch: Fetch) -> list[str]:
    """When the page was edited, and how, the latest first."""
    steps = look.steps(fetch, DAY, look.every)
    return [
        f"{written(BEGIN + step * DAY, look.date)} {words(look.drawn(fetch.page, step), 4)}" for step in steps[::-1]
    ]


def news(look: Look, fetch: Fetch) -> list[str]:
    """A list that is pushed on from page to page."""
    newest = int((fetch.at - BEGIN) // DAY) * 3 + 400
    first = newest - fetch.number * look.shown
    return [words(look.drawn("news", number), 5) for number in range(first, first - look.shown, -1)]


def next_departure(look: Look, fetch: Fetch) -> list[str]:
    """When the next one leaves from where the page is about."""
    rng = look.drawn(fetch.page)
    every, offset = rng.choice((20, 30, 60, 120)) * MINUTE, rng.randint(0, 59) * MINUTE
    return [look.said(written((fetch.at - offset) // every * every + every + offset, "%H:%M"))]


def score_of_match(look: Look, fetch: Fetch) -> list[str]:
    """How many goals each of two has."""
    goals = look.steps(fetch, HOUR * 8, look.every)
    return [look.said(f"{sum(goal % 2 for goal in goals)}:{sum(goal % 2 == 0 for goal in goals)}")]


LASTING = (
    Part("edited text", False, edited, "article"),
    Part("price", False, price, "article after aside"),
    Part("stock", False, stock, "article after aside"),
    Part("figure of the day", False, figure_of_the_day, "article after aside", False),
    Part("state", False, state, "article after aside"),
    Part("state of the day", False, state_of_the_day, "article after aside", False),
    Part("sentence of the day", False, sentence_of_the_day, "article after aside", False),
    Part("one of many of the day", False, one_of_many_of_the_day, "article after aside", False),
    Part("badge", False, badge, "article after aside", False),
    Part("sizes", False, sizes, "article after aside", False),
    Part("checksum", False, checksum, "article after aside", False),
    Part("moved to", False, moved_to, "article after aside", False),
    Part("rating", False, rating, "article after aside"),
    Part("quote", False, quote, "article after aside"),
    Part("change", False, change, "article after aside", False),
    Part("comments", False, comments, "after"),
    Part("last comments", False, last_comments, "after"),
    Part("number of comments", False, number_of_comments, "article after aside"),
    Part("views", False, views, "article after aside"),
    Part("bid", False, bid, "article after aside"),
    Part("forecast of a town", False, town, "article after aside", False),
    Part("last edited", False, last_edited, "article after aside"),
    Part("change log", False, change_log, "after"),
    Part("news", False, news, "article", False),
    Part("next departure", False, next_departure, "article after aside", False),
    Part("score of a match", False, score_of_match, "article after aside", False),
)
