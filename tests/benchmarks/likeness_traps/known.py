"""Traps that were known when pages were first told apart in spite of what varies on them."""

from .site import Draw, Response, TrapSite, frame


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
    for _ in range(40):
        title, text = site.words(3), site.words(60)
        for number in site.random.sample(range(10**6), 5):
            rest = f'<p class="sku">Article no. {number:06}</p>'
            site.add(f"/product/{site.slug()}", described(title, text, rest))


def sizes_frame(site: TrapSite) -> None:
    """The same, with a number on every page of the site, in its frame."""

    def numbered(title: str, heading: str, body: str) -> str:
        number = site.random.randrange(10**6)
        return frame(title, heading, body, below=f'<div class="docid">Document {number:06}</div>')

    site.start(numbered("Shop", "Welcome", f"<p>{site.words(40)}</p>"))
    site.ordinary(numbered)
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

    def draw(response: Response) -> str:
        body = f'<p class="intro">Welcome to all of you</p>{product_list(response.random.sample(names, 3))}'
        return frame("Shop", "Welcome", body)

    site.start(draw)


def _with_related(name: str, text: str, names: list[str]) -> Draw:
    def draw(response: Response) -> str:
        return described(name, text, f'<p class="buy">buy now</p>{product_list(response.random.sample(names, 3))}')

    return draw


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
    for _ in range(40):
        title, text = site.words(3), site.words(60)
        for figure in site.random.sample(range(0, 1000, 20), 5):
            site.add(f"/product/{site.slug()}", _in_stock(title, text, figure, 0.3))


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
    for group in range(40):
        title, text = site.words(3), site.words(60)
        for number in range(5):
            rest = f'<p class="no">Record {52_000 + group * 5 + number}</p>'
            site.add(f"/rec/{site.slug()}", described(title, text, rest))
    site.ordered = True


def hashes(site: TrapSite) -> None:
    """Objects with a hash of their own, under URLs that tell nothing."""
    site.ordinary()
    for _ in range(40):
        title, text = site.words(3), site.words(60)
        for _ in range(5):
            rest = f'<p class="id">{site.random.getrandbits(64):016x}</p>'
            site.add(f"/obj/{site.slug()}", described(title, text, rest))


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
