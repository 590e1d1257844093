"""Traps that were known when pages were first told apart in spite of what varies on them."""

import time
from itertools import count

from .site import OPENED, Draw, Response, TrapSite, frame


def described(title: str, text: str, rest: str = "") -> str:
    """A page with a description, and what stands below it."""
    return frame(title, title, f'<p class="d">{text}</p>{rest}')


def product_list(names: list[str]) -> str:
    """Products, in the element that lists have on this site."""
    return f'<ul class="prods">{"".join(f"<li><h3>{name}</h3></li>" for name in names)}</ul>'


def sizes(site: TrapSite) -> None:
    """Sizes of a product, with a price and a stock figure each."""
    site.ordinary()
    for number in range(40):
        title, text = site.words(3), site.words(60)
        for size in ("XS", "S", "M", "L", "XL"):
            figures = site.random.randint(0, 99), site.random.randint(5, 60)
            rest = (
                f'<p class="size">Size: {size}</p><p class="stock">In stock: {figures[0]}</p>'
                f'<p class="price">EUR {figures[1]}.99</p>'
            )
            site.add(f"/product/{number}?size={size}", described(title, text, rest))


def sizes_unique(site: TrapSite) -> None:
    """Variants that differ in an article number only, under URLs that tell nothing."""
    site.ordinary()
    site.series(
        *("product", 40, 60),
        lambda title, text: (
            described(title, text, f'<p class="sku">Article no. {number:06}</p>')
            for number in site.random.sample(range(10**6), 5)
        ),
    )


def sizes_frame(site: TrapSite) -> None:
    """The same, with a number on every page of the site, in its frame."""

    def numbered(title: str, heading: str, body: str) -> str:
        number = site.random.randrange(10**6)
        return frame(title, heading, body, below=f'<div class="docid">Document {number:06}</div>')

    site.framed(numbered)
    for _ in range(40):
        title, text = site.words(3), site.words(60)
        for _ in range(5):
            site.add(f"/product/{site.slug()}", numbered(title, title, f'<p class="d">{text}</p>'))


def titles(site: TrapSite) -> None:
    """Variants with one description and titles of their own."""
    site.ordinary()
    for _ in range(40):
        text = site.words(60)
        for _ in range(5):
            site.add(f"/product/{site.slug()}", described(site.words(3), text))


def photos(site: TrapSite) -> None:
    """Photos that have a number and no text."""
    site.ordinary()
    for number in range(200):
        body = "<p><a>previous</a> <a>next</a></p>"
        site.add(f"/photo/{number}", frame(f"Photo {number}", f"Photo {number}", body))


def lists(site: TrapSite) -> None:
    """Pages of a list; beyond the fourth they are empty but for "page 5 of 9"."""
    site.ordinary()
    for category in range(8):
        title, intro = site.words(2), site.words(40)
        for number in range(1, 10):
            items = "".join(f'<li class="i"><a>{site.words(3)}</a></li>' for _ in range(10 if number < 5 else 0))
            body = f'<p class="intro">{intro}</p><ul>{items}</ul><p class="pager">page {number} of 9</p>'
            site.add(f"/list/{category}?page={number}", frame(title, title, body))


def _lists_of(site: TrapSite, names: list[str]) -> None:
    for category in range(10):
        title, intro = site.words(2), site.words(30)
        for number in range(1, 4):
            at = category * 9 + number * 3 - 3
            body = f'<p class="intro">{intro}</p>{product_list(names[at : at + 3])}'
            site.add(f"/cat/{category}?page={number}", frame(title, title, body))


def featured(site: TrapSite) -> None:
    """The start page draws products, where list pages have their list."""
    site.ordinary()
    names = [site.words(3) for _ in range(90)]
    _lists_of(site, names)
    intro = '<p class="intro">Welcome to all of you</p>'
    site.start(lambda response: frame("Shop", "Welcome", intro + product_list(response.random.sample(names, 3))))


def _with_related(name: str, text: str, names: list[str]) -> Draw:
    return lambda response: described(
        name, text, f'<p class="buy">buy now</p>{product_list(response.random.sample(names, 3))}'
    )


def related(site: TrapSite) -> None:
    """Product pages draw three products, where list pages have their list."""
    site.ordinary()
    names = [site.words(3) for _ in range(90)]
    _lists_of(site, names)
    for name in names:
        site.add(f"/product/{name.replace(' ', '-')}", _with_related(name, site.words(50), names))


def related2(site: TrapSite) -> None:
    """The same without ordinary pages, and lists that have no text of their own but the list."""
    names = [site.words(3) for _ in range(90)]
    site.start(frame("Shop", "Welcome", f'{product_list(names[:3])}<div class="a"><b>x</b><i>y</i><u>z</u></div>'))
    form = '<form class="f"><label>Sort</label><select><option>by name</option></select><em>all</em></form>'
    for category in range(10):
        title = site.words(2)
        for number in range(1, 4):
            at = category * 9 + number * 3 - 3
            body = f'{form}<div class="w"><b>List</b></div>{product_list(names[at : at + 3])}'
            site.add(f"/cat/{category}?page={number}", frame(title, title, body))
    for name in names:
        site.add(f"/product/{name.replace(' ', '-')}", _with_related(name, site.words(50), names))


def _in_stock(title: str, text: str, figure: int, share: float) -> Draw:
    def draw(response: Response) -> str:
        changed = response.before and response.random.random() < share
        return described(
            title,
            text,
            f'<p class="stock">In stock: {figure + (response.random.randint(1, 9) if changed else 0)}</p>',
        )

    return draw


def updates(site: TrapSite) -> None:
    """Variants that differ in a stock figure, which is another one on three of ten later responses."""
    site.ordinary()
    site.start(_in_stock(site.words(3), site.words(40), 5, 1.0))
    site.series(
        *("product", 40, 60),
        lambda title, text: (
            _in_stock(title, text, figure, 0.3) for figure in site.random.sample(range(0, 1000, 20), 5)
        ),
    )


def lang(site: TrapSite) -> None:
    """Two languages of a page, of which hardly anything is translated."""
    site.ordinary()
    for number in range(60):
        title, text = site.words(3), site.words(60)
        for language, words in (("en", "buy now"), ("de", "jetzt kaufen")):
            rest = f'<p class="buy">{words}</p>'
            site.add(f"/{language}/x/{number}", described(title, text, rest))


def login(site: TrapSite) -> None:
    """A log-in form that names the page it stands in front of."""
    site.ordinary()
    text = "You need an account here to go on, ask the administrator of this site for one if you have none yet"
    for number in range(100):
        place = f"/private/{site.slug()}-{number}"
        body = f'<p class="e">Please log in to see {place}.</p><form>User Password</form><p>{text}</p>'
        site.add(f"/login?next={place}", frame("Log in", "Log in", body))


def stations(site: TrapSite) -> None:
    """Stations that differ in a figure, some of which are equal."""
    site.ordinary()
    text = site.words(50)
    for number in range(200):
        rest = f'<p class="v">Temperature {site.random.random() * 30:.1f}</p>'
        site.add(f"/station/{number}", described("Station", text, rest))


def serials(site: TrapSite) -> None:
    """Records with a serial number, crawled in its order, under URLs that tell nothing."""
    site.ordinary()
    numbers = count(52_000)
    site.series(
        *("rec", 40, 60),
        lambda title, text: (described(title, text, f'<p class="no">Record {next(numbers)}</p>') for _ in range(5)),
    )
    site.ordered = True


def hashes(site: TrapSite) -> None:
    """Objects with a hash of their own, under URLs that tell nothing."""
    site.ordinary()
    site.series(
        *("obj", 40, 60),
        lambda title, text: (
            described(title, text, f'<p class="id">{site.random.getrandbits(64):016x}</p>') for _ in range(5)
        ),
    )


def short(site: TrapSite) -> None:
    """Pages with three words of their own."""
    site.ordinary()
    for number in range(100):
        site.add(f"/s/{number}", frame("Info", "Info", f"<p>{site.words(3)}</p>"))


def plainbody(site: TrapSite) -> None:
    """Pages that are nothing but bare paragraphs, some of which are another page's but for one paragraph."""
    nav = '<a href="/">Home</a> <a href="/index/1">Index</a>'

    def bare(paragraphs: list[str]) -> str:
        text = "".join(f"<p>{each}</p>" for each in paragraphs)
        return f"<!doctype html><html><head><title>T</title></head><body>{nav}{text}</body></html>"

    site.start(bare([site.words(20) for _ in range(3)]))
    for number in range(150):
        site.add(f"/p/{number}", bare([site.words(20) for _ in range(site.random.randint(2, 6))]))
    for number in range(30):
        paragraphs = [site.words(20) for _ in range(4)]
        for version in range(3):
            changed = list(paragraphs)
            changed[site.random.choice((0, 1, 3))] = site.words(5)
            site.add(f"/q/{number}-{version}", bare(changed))


KNOWN = (
    *(sizes, sizes_unique, sizes_frame, titles, photos, lists, featured, related, related2, updates, lang, login),
    *(stations, serials, hashes, short, plainbody),
)


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

    site.framed(footed)
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

    site.framed(numbered)
    for _ in range(40):
        title, text = site.words(3), site.words(50)
        for _ in range(4):
            site.add(f"/a/{site.slug()}", numbered(title, title, f'<p class="d">{text}</p>'))


def archive(site: TrapSite) -> None:
    """An archive by day: its header holds the day that is shown, where the other pages have the date and the time."""

    def dated(title: str, heading: str, body: str, day: float | None = None) -> Draw:
        shown = None if day is None else time.strftime("%a, %d %b %Y %H:%M:%S", time.gmtime(day))
        return lambda response: frame(
            title, heading, body, above=f'<div class="date">{shown or response.clock()}</div>'
        )

    site.framed(dated, "News", "Today")
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

        return lambda response: frame(
            title, heading, body, below=f'<div class="count">{label}: {base + response.number}</div>'
        )

    site.framed(counted)
    for number in range(60):
        title, text = site.words(3), site.words(50)
        for language, label in (("en", "Visitors so far"), ("de", "Besucher bisher"), ("fr", "Visiteurs")):
            site.add(f"/{language}/photo/{number}", counted(title, title, f"<p>{text}</p>", label))


def quotes(site: TrapSite) -> None:
    """A quote of the day that is drawn for each response, and pages on which a quote is all there is, in its place."""
    said = [site.words(12) for _ in range(80)]

    def quoted(title: str, heading: str, body: str, number: int | None = None) -> Draw:
        drawn = said if number is None else said[number : number + 1]
        return lambda response: frame(
            title, heading, body, side=f"<blockquote>{response.random.choice(drawn)}</blockquote>"
        )

    site.framed(quoted, "Quotes")
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

    def thread(title: str, text: str, posts: int) -> Draw:
        base, rest = site.random.randint(100, 9_000), f'<p class="n">Posts: {posts}</p>'
        return lambda response: described(
            title, text, f'<p class="n">Views: {response.number and base + 2 * response.number}</p>{rest}'
        )

    site.series(
        *("thread", 30, 50),
        lambda title, text: (thread(title, text, posts) for posts in site.random.sample(range(2, 60), 5)),
    )


def clock_or_id(site: TrapSite) -> None:
    """One half of the pages shows its own number where the other half shows the time."""

    def timed(title: str, heading: str, body: str) -> Draw:
        return lambda response: frame(
            title, heading, body, above=f'<div class="meta">{response.clock("%H:%M:%S")}</div>'
        )

    site.framed(timed)
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
        return lambda response: frame(
            title, heading, body, below=f"<code>{own or f'{response.random.getrandbits(64):016x}'}</code>"
        )

    site.framed(signed, "Code")
    site.series(
        *("commit", 25, 40),
        lambda title, text: (
            signed(title, title, f"<p>{text}</p>", f"{site.random.getrandbits(64):016x}") for _ in range(5)
        ),
    )


def weather(site: TrapSite) -> None:
    """When a forecast was made and what it says, in one text."""
    text = site.words(40)

    def forecast(degrees: int, place: str) -> Draw:
        return lambda response: frame(
            "Weather",
            "Weather",
            f'<p class="d">{place}</p><p class="w">Updated {response.clock("%H:%M:%S")}, {degrees} degrees</p>',
        )

    site.ordinary()
    site.start(forecast(14, text))
    for _ in range(25):
        text = site.words(40)
        for degrees in site.random.sample(range(-20, 40), 5):
            site.add(f"/weather/{site.slug()}", forecast(degrees, text))


def auctions(site: TrapSite) -> None:
    """Lots of one series, told apart by the bid, above the seconds that are left, which stand in the same element."""
    site.ordinary()

    def lot(title: str, text: str, bid: int) -> Draw:
        ends = site.random.randint(5_000, WEEK)
        return lambda response: described(
            title,
            text,
            f"<dl><dd>EUR {bid}</dd><dd>{response.number and ends - response.number} s left</dd></dl>",
        )

    site.series(
        *("lot", 30, 50), lambda title, text: (lot(title, text, bid) for bid in site.random.sample(range(10, 900), 4))
    )


FURTHER = (
    *(colours, rates, parts, article_numbers, archive, polls, language_counters, quotes, latest, threads),
    *(clock_or_id, commits, weather, auctions),
)
