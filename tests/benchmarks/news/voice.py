"""How one made-up site writes: its language and wordings, its words, and the forms of its numbers, dates and times."""

import time
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
