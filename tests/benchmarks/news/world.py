"""The lasting content of one made-up news site: what it says at a time, and how that changes now and then.

Everything follows from the seed and the time. What happens to a thing (a comment, a sale, a correction) happens at times
drawn once from a rate per day, so a crawl sees whatever has happened since the last one.
"""

import time
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from random import Random
from typing import Final

from ..sites.many_keys import word
from .languages import LANGUAGES

WORDS: Final = 700
"""Of a site, beside the function words of its language."""


class Voice:
    """The words and forms of the site of a seed."""

    def __init__(self, seed: int) -> None:
        rng = Random(f"voice of {seed}")
        self.language = rng.choice(LANGUAGES)
        self.labels = {name: rng.choice(wordings) for name, wordings in self.language.labels.items()}
        self.words = sorted({word(rng) for _ in range(WORDS)})
        self._thousands, self._point = self.language.numbers
        if rng.random() < 0.3:
            self._thousands = ""
        self._date = rng.choice(self.language.dates)
        self._price = rng.choice(self.language.price)
        self._seconds = rng.random() < 0.5
        # A weekday before the day's date tells it from the dates of publication, as on most sites.
        self._today = rng.choice(("{weekday}, {date}", "{weekday} {date}", "{weekday} – {date}"))
        self._weather = rng.choice(("{} °C, {}", "{}° {}", "{} °C ({})"))

    def number(self, value: int) -> str:
        """A whole number."""
        return f"{value:,}".replace(",", self._thousands)

    def decimal(self, value: float, places: int = 2, *, sign: bool = False) -> str:
        """A number with decimals."""
        whole, _, rest = f"{abs(value):.{places}f}".partition(".")
        before = "-" if value < 0 else "+" if sign else ""
        return f"{before}{self.number(int(whole))}{self._point}{rest}"

    def price(self, value: float) -> str:
        """A number of the site's currency."""
        return self._price.format(self.decimal(value))

    def date(self, at: float) -> str:
        """The day of a time (seconds since 1970)."""
        day = time.gmtime(at)
        return self._date.format(d=day.tm_mday, m=day.tm_mon, name=self.language.months[day.tm_mon - 1], y=day.tm_year)

    def today(self, at: float) -> str:
        """The day with its weekday."""
        return self._today.format(weekday=self.weekday(at), date=self.date(at))

    def weekday(self, at: float) -> str:
        """The name of the day of the week."""
        return self.language.weekdays[time.gmtime(at).tm_wday]

    def clock(self, at: float) -> str:
        """The time of day, on some sites with seconds."""
        return time.strftime("%H:%M:%S" if self._seconds else "%H:%M", time.gmtime(at))

    def weather(self, rng: Random) -> str:
        """A temperature and a sky."""
        return self._weather.format(self.decimal(rng.uniform(-4, 31), 1), rng.choice(self.language.skies))

    def name(self, rng: Random) -> str:
        """Somebody."""
        return f"{rng.choice(self.words).title()} {rng.choice(self.words).title()}"

    def phrase(self, rng: Random, least: int = 3, most: int = 7) -> str:
        """Some words that make no sentence: a title, say."""
        words = rng.sample(self.words, rng.randint(least, most))
        if len(words) > 4:
            words.insert(2, rng.choice(self.language.small))
        return " ".join(words).capitalize()

    def sentence(self, rng: Random) -> str:
        """A sentence of 8 to 18 words."""
        count = rng.randint(8, 18)
        words = [rng.choice(self.words if rng.random() < 0.65 else self.language.small) for _ in range(count)]
        return " ".join(words).capitalize() + rng.choice("....?!")

    def paragraph(self, rng: Random) -> str:
        """Two to five sentences."""
        return " ".join(self.sentence(rng) for _ in range(rng.randint(2, 5)))

    def slug(self, text: str) -> str:
        """A text as a part of a URL."""
        return "-".join(each for each in text.lower().split() if each.isascii() and each.isalnum())


DAY: Final = 86_400.0
DAYS: Final = 60
"""After the first one: the last on which something happens."""
NEWS, GOODS, SHARES, TOWNS = 36, 20, 20, 6
FRESH: Final = 2
"""News that appear on each day, beside those that were there."""


@dataclass(frozen=True, slots=True)
class Article:
    """One of the news."""

    number: int
    title: str
    target: str
    author: str
    published: float


@dataclass(frozen=True, slots=True)
class Thing:
    """A product, a share or a town: what has a page of its own."""

    number: int
    title: str
    target: str


class World:
    """What the site of a seed says."""

    def __init__(self, seed: int, voice: Voice) -> None:
        self._seed = seed
        self.voice = voice
        rng = Random(f"world of {seed}")
        #: Midnight before the first crawl: some day of the years 2024 to 2027.
        self.start = float((19_723 + rng.randrange(1200)) * 86_400)
        self.paths = dict(zip(("news", "shop", "markets", "towns"), rng.sample(voice.words, 4), strict=True))
        self._form = rng.choice(("/{path}/{number}-{slug}", "/{path}/{slug}", "/{path}/{slug}-{number}.html"))
        self._news = [self._article(number) for number in range(NEWS + FRESH * DAYS)]
        self.goods = [self._thing("shop", number) for number in range(GOODS)]
        self.shares = [self._thing("markets", number) for number in range(SHARES)]
        self.towns = [self._thing("towns", number) for number in range(TOWNS)]
        self.static = [self._thing("about", number) for number in range(3)]
        self._times = lru_cache(maxsize=None)(self._drawn)
        self._drift = lru_cache(maxsize=None)(self._drifted)

    def rng(self, *names: object) -> Random:
        """Random numbers of something: the same ones whenever it is asked."""
        return Random(f"{self._seed} {names}")

    def news(self, now: float) -> list[Article]:
        """The news that are published, latest first."""
        return sorted((each for each in self._news if each.published <= now), key=lambda each: -each.published)

    # -- what happens

    def happened(self, now: float, rate: float, *names: object) -> list[float]:
        """The times at which something has happened to a thing, at a rate per day, since the first day."""
        times = self._times(rate, names)
        return list(times[: bisect_right(times, now)])

    def comments(self, now: float, article: Article) -> list[tuple[str, str, float]]:
        """(who, what, when), oldest first."""
        rng = self.rng("comments of", article.number)
        rate = rng.choice((0.0, 0.15, 0.3, 0.8))
        first = [article.published + rng.uniform(0.1, 20) * 3600 for _ in range(rng.randrange(5))]
        times = sorted(first) + self.happened(now, rate, "comment", article.number)
        each = self.rng("comment texts of", article.number)
        said = [(self.voice.name(each), self.voice.paragraph(each), at) for at in times]
        return [comment for comment in said if article.published <= comment[2] <= now]

    def edits(self, now: float, article: Article) -> list[float]:
        """When the article was corrected."""
        times = self.happened(now, 0.06, "edit", article.number)
        return [at for at in times if at > article.published]

    def paragraphs(self, now: float, article: Article) -> list[str]:
        """The body of an article; each correction writes one of its paragraphs anew."""
        rng = self.rng("body of", article.number)
        body = [self.voice.paragraph(rng) for _ in range(rng.randint(4, 8))]
        for number, _ in enumerate(self.edits(now, article)):
            again = self.rng("correction of", article.number, number)
            body[again.randrange(len(body))] = self.voice.paragraph(again)
        return body

    def price(self, now: float, thing: Thing) -> float:
        """What a product costs: some are repriced every other week."""
        rng = self.rng("price of", thing.number)
        base = round(rng.choice((9, 40, 120, 900)) * rng.uniform(1, 2.5), 2)
        changes = len(self.happened(now, 0.1, "price", thing.number))
        return round(base * (1 - 0.04 * changes), 2) if changes else base

    def stock(self, now: float, thing: Thing) -> int:
        """How many are left; at four they are ordered again."""
        rng = self.rng("stock of", thing.number)
        first = rng.randint(8, 60)
        sold = sum(
            self.rng("sold", thing.number, at).randint(1, 3) for at in self.happened(now, 1.5, "sale", thing.number)
        )
        return 4 + (first - sold) % 60

    def rating(self, now: float, thing: Thing) -> tuple[float, int]:
        """The average of its reviews, and their number."""
        rng = self.rng("rating of", thing.number)
        count = rng.randint(5, 400) + len(self.happened(now, 0.4, "review", thing.number))
        return round(3 + (rng.random() * 17 + count * 0.05) % 2, 1), count

    def quote(self, now: float, thing: Thing) -> float:
        """The price of a share, another one every two minutes."""
        rng = self.rng("quote of", thing.number)
        base = rng.choice((4, 30, 250, 4000)) * rng.uniform(1, 2)
        drift = self._drift(thing.number, int((now - self.start) // 3600))
        return round(base * (1 + drift + self.rng("minutes", thing.number, now // 120).gauss(0, 0.003)), 2)

    def closing(self, day: int, thing: Thing) -> float:
        """The closing price of a day, which is counted from the first one."""
        if day >= 0:
            return self.quote(self.start + (day + 0.75) * DAY, thing)
        return round(self.quote(self.start, thing) * (1 + self.rng("closing", thing.number, day).gauss(0, 0.02)), 2)

    def day(self, now: float) -> int:
        """The number of the day, 0 for the first one."""
        return int((now - self.start) // DAY)

    # -- what is there

    def _drawn(self, rate: float, names: tuple[object, ...]) -> Sequence[float]:
        rng = self.rng("times of", *names)
        times: list[float] = []
        at = self.start
        while rate and (at := at + rng.expovariate(rate) * DAY) < self.start + DAYS * DAY:
            times.append(at)
        return times

    def _drifted(self, number: int, hour: int) -> float:
        rng = self.rng("hours", number)
        return sum(rng.gauss(0, 0.004) for _ in range(hour + 1))

    def _article(self, number: int) -> Article:
        rng = self.rng("article", number)
        if number < NEWS:
            published = self.start - rng.uniform(0.02, 30) * DAY
        else:
            published = self.start + ((number - NEWS) / FRESH + rng.uniform(0, 1 / FRESH)) * DAY
        title = self.voice.phrase(rng, 4, 8)
        return Article(number, title, self._target("news", number, title), self.voice.name(rng), published)

    def _thing(self, kind: str, number: int) -> Thing:
        title = self.voice.phrase(self.rng(kind, number), 2, 3)
        return Thing(number, title, self._target(kind, number, title))

    def _target(self, kind: str, number: int, title: str) -> str:
        path = self.paths.get(kind, "")
        slug = self.voice.slug(title)
        return self._form.format(path=path, number=number + 1, slug=slug) if path else f"/{slug}"


def stamp(at: float) -> str:
    """A time as machines write it."""
    return time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(at))
