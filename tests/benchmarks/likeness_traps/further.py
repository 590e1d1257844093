"""Traps of what real sites do, thought of without regard to how pages are told apart."""

import time

from .known import described
from .site import OPENED, Draw, Response, TrapSite, frame

WEEK = 7 * 86_400


def colours(site: TrapSite) -> None:
    """Colours of a product, which are named in the URL only, and differ in price or in stock."""
    site.ordinary()
    for number in range(40):
        title, text = site.words(3), site.words(60)
        price = site.random.randint(5, 60)
        for colour, stock in zip(("red", "green", "blue", "white"), site.random.sample(range(100), 4), strict=True):
            dearer = price + (colour == "white")
            rest = f'<p class="offer">EUR {dearer}.90, <b>{stock}</b> left</p>'
            site.add(f"/shoe/{number}?color={colour}", described(title, text, rest))


def rates(site: TrapSite) -> None:
    """Exchange rates: a table of numbers, and nothing that says of which currency."""
    site.ordinary()
    text = site.words(30)
    for number in range(120):
        rows = "".join(
            f"<tr><td>{days} days ago</td><td>{site.random.random() * 9:.4f}</td></tr>" for days in (1, 2, 3)
        )
        site.add(f"/rates?pair={number}", described("Rates", text, f"<table>{rows}</table>"))


def parts(site: TrapSite) -> None:
    """The foot of every page says "page 2 of 9"; the parts of a gallery have no other text of their own."""

    def footed(title: str, heading: str, body: str, number: int = 1, of: int = 1) -> str:
        return frame(title, heading, body, below=f'<div class="pages">page {number} of {of}</div>')

    site.start(footed("Shop", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(footed)
    for gallery in range(20):
        title, text = site.words(3), site.words(40)
        for number in range(1, 10):
            site.add(f"/gallery/{gallery}/{number}", footed(title, title, f"<p>{text}</p>", number, 9))


def article_numbers(site: TrapSite) -> None:
    """An article number of letters and digits in the footer of each page, which is all that tells variants apart."""

    def numbered(title: str, heading: str, body: str) -> str:
        letters = "".join(site.random.choices("ABCDEFGHKLMNPRSTVWXYZ", k=3))
        number = f"{letters}-{site.random.randrange(10**5):05}/{site.random.randint(1, 99)}"
        return frame(title, heading, body, below=f"<p><small>Article no. {number}, subject to change.</small></p>")

    site.start(numbered("Shop", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(numbered)
    for _ in range(40):
        title, text = site.words(3), site.words(50)
        for _ in range(4):
            site.add(f"/a/{site.slug()}", numbered(title, title, f'<p class="d">{text}</p>'))


def archive(site: TrapSite) -> None:
    """An archive by day: its header holds the day that is shown, where the other pages have the date and the time."""

    def dated(title: str, heading: str, body: str, day: float | None = None) -> Draw:
        def draw(response: Response) -> str:
            shown = response.clock() if day is None else time.strftime("%a, %d %b %Y %H:%M:%S", time.gmtime(day))
            return frame(title, heading, body, above=f'<div class="date">{shown}</div>')

        return draw

    site.start(dated("News", "Today", f"<p>{site.words(40)}</p>"))
    site.ordinary(dated)
    text = "Nothing was published on this day, go on to the one before it or to the one after it"
    for number in range(150):
        day = OPENED - OPENED % 86_400 - (number + 1) * 86_400
        site.add(f"/archive?n={number}", dated("Archive", "Archive", f"<p>{text}</p>", day))


def polls(site: TrapSite) -> None:
    """Rounds of a poll: their results are final but for those of the last round, which come in while it is read."""
    site.ordinary()
    for poll in range(15):
        question = site.words(20)
        for number in range(1, 9):
            yes, no = site.random.randint(50, 900), site.random.randint(50, 900)

            def draw(
                response: Response, question: str = question, yes: int = yes, no: int = no, last: bool = number == 8
            ) -> str:
                more = response.number * 3 if last else 0
                votes = f"<li>Yes: {yes + more} votes</li><li>No: {no + more // 2} votes</li>"
                return described("Poll", question, f"<ul>{votes}</ul>")

            site.add(f"/poll/{poll}?round={number}", draw)


def language_counters(site: TrapSite) -> None:
    """A visitor counter on each page, whose label is all that tells two languages apart."""

    def counted(title: str, heading: str, body: str, label: str = "Visitors so far") -> Draw:
        base = site.random.randint(1_000, 9_000)

        def draw(response: Response) -> str:
            return frame(title, heading, body, below=f'<div class="count">{label}: {base + response.number}</div>')

        return draw

    site.start(counted("Shop", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(counted)
    for number in range(60):
        title, text = site.words(3), site.words(50)
        for language, label in (("en", "Visitors so far"), ("de", "Besucher bisher"), ("fr", "Visiteurs")):
            site.add(f"/{language}/photo/{number}", counted(title, title, f"<p>{text}</p>", label))


def quotes(site: TrapSite) -> None:
    """A quote of the day that is drawn for each response, and pages on which a quote is all there is, in its place."""
    said = [site.words(12) for _ in range(80)]

    def quoted(title: str, heading: str, body: str, number: int | None = None) -> Draw:
        def draw(response: Response) -> str:
            quote = response.random.choice(said) if number is None else said[number]
            return frame(title, heading, body, side=f"<blockquote>{quote}</blockquote>")

        return draw

    site.start(quoted("Quotes", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(quoted)
    for number in range(len(said)):
        site.add(f"/quote/{number}", quoted("Quote", "A quote", "<p>Share it with those whom you like</p>", number))


def latest(site: TrapSite) -> None:
    """The start page shows the latest item numbers, where the pages of items show their own."""
    site.ordinary()

    def draw(response: Response) -> str:
        newest = 80_000 + 7 * response.number
        body = "".join(f'<p class="no">Item {newest - place}</p>' for place in range(3))
        return frame("Shop", "Welcome", f'<p class="d">{intro}</p>{body}')

    intro = site.words(40)
    site.start(draw)
    numbers = iter(site.random.sample(range(10_000, 80_000), 200))
    for _ in range(40):
        title, text = site.words(3), site.words(50)
        for _ in range(5):
            site.add(f"/item/{site.slug()}", described(title, text, f'<p class="no">Item {next(numbers)}</p>'))


def threads(site: TrapSite) -> None:
    """Threads with a view counter and a post count; those of a series have nothing else that differs."""
    site.ordinary()
    for _ in range(30):
        title, text = site.words(3), site.words(50)
        for posts in site.random.sample(range(2, 60), 5):
            base = site.random.randint(100, 9_000)

            def draw(
                response: Response, title: str = title, text: str = text, posts: int = posts, base: int = base
            ) -> str:
                views = base + 2 * response.number if response.number else 0
                return described(title, text, f'<p class="n">Views: {views}</p><p class="n">Posts: {posts}</p>')

            site.add(f"/thread/{site.slug()}", draw)


def clock_or_id(site: TrapSite) -> None:
    """One half of the pages shows its own number where the other half shows the time."""

    def timed(title: str, heading: str, body: str) -> Draw:
        def draw(response: Response) -> str:
            return frame(title, heading, body, above=f'<div class="meta">{response.clock("%H:%M:%S")}</div>')

        return draw

    site.start(timed("Shop", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(timed)
    numbers = iter(site.random.sample(range(10**6), 80))
    for _ in range(20):
        title, text = site.words(3), site.words(50)
        for _ in range(4):
            number = f"{next(numbers):06}"
            shown = f"{number[:2]}:{number[2:4]}:{number[4:]}"
            body = f"<p>{text}</p>"
            site.add(f"/file/{site.slug()}", frame(title, title, body, above=f'<div class="meta">{shown}</div>'))


def commits(site: TrapSite) -> None:
    """A request token at the foot of the pages, and objects whose hash stands in the same place and is all they have."""

    def signed(title: str, heading: str, body: str, own: str = "") -> Draw:
        def draw(response: Response) -> str:
            token = own or f"{response.random.getrandbits(64):016x}"
            return frame(title, heading, body, below=f"<code>{token}</code>")

        return draw

    site.start(signed("Code", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(signed)
    for _ in range(25):
        title, text = site.words(3), site.words(40)
        for _ in range(5):
            own = f"{site.random.getrandbits(64):016x}"
            site.add(f"/commit/{site.slug()}", signed(title, title, f"<p>{text}</p>", own))


def weather(site: TrapSite) -> None:
    """When a forecast was made and what it says, in one text."""
    text = site.words(40)

    def forecast(degrees: int, place: str) -> Draw:
        def draw(response: Response) -> str:
            said = f"Updated {response.clock('%H:%M:%S')}, {degrees} degrees"
            return frame("Weather", "Weather", f'<p class="d">{place}</p><p class="w">{said}</p>')

        return draw

    site.ordinary()
    site.start(forecast(14, text))
    for _ in range(25):
        text = site.words(40)
        for degrees in site.random.sample(range(-20, 40), 5):
            site.add(f"/weather/{site.slug()}", forecast(degrees, text))


def auctions(site: TrapSite) -> None:
    """Lots of one series, told apart by the bid, above the seconds that are left, which stand in the same element."""
    site.ordinary()
    for _ in range(30):
        title, text = site.words(3), site.words(50)
        for bid in site.random.sample(range(10, 900), 4):
            ends = site.random.randint(5_000, WEEK)

            def draw(response: Response, title: str = title, text: str = text, bid: int = bid, ends: int = ends) -> str:
                left = ends - response.number if response.number else 0
                return described(title, text, f"<dl><dd>EUR {bid}</dd><dd>{left} s left</dd></dl>")

            site.add(f"/lot/{site.slug()}", draw)


FURTHER = (
    *(colours, rates, parts, article_numbers, archive, polls, language_counters, quotes, latest, threads),
    *(clock_or_id, commits, weather, auctions),
)
