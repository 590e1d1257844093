"""The URLs of a page: one that is plain and some that are not, as a shop makes them.

What stands between a page and its URL here, and what does not:

===================================  ==========================================================
leads to the same page               is another page
===================================  ==========================================================
``sid=``: new for each link          ``page=2``
``utm_source=&utm_medium=``          ``lang=de``
``page=1``                           ``kB07`` and ``Kb07``
``lang=en``                          ``sort=`` of a category (it decides what page 1 shows)
``sort=`` of a tag's page
www.localhost, the mirror
``/p/kB07``, ``/product/kB07/slug``
``/guide/oak/index.html``            ``/guide/oak/`` and ``/tag/oak/``
===================================  ==========================================================
"""

from random import Random
from urllib.parse import parse_qs, urlencode, urlsplit

from .pages import Page, exists, products

#: How many URLs a page is linked by, at most.
VARIANTS = {"product": 3, "category": 3, "tag": 3, "guide": 3, "home": 2}


def url_of(page: Page, port: int, variant: int = 0) -> str:
    """One of the URLs of a page; variant 0 is the plain one."""
    random = Random(f"{page} {variant}")
    odd = variant > 0
    query: dict[str, str] = {}
    match page.kind:
        case "home":
            path = "/"
        case "product":
            product = products()[page.name]
            slug = "-".join(product.title(page.language).lower().split()[:-1])
            path = f"/p/{page.name}" if odd and random.random() < 0.5 else f"/product/{page.name}/{slug}"
        case "guide":
            path = f"/guide/{page.name}/" + ("index.html" if odd and random.random() < 0.6 else "")
        case "tag":
            path = f"/tag/{page.name}/"
        case _:
            path = f"/category/{page.name}"
    if page.number > 1 or (odd and page.kind in ("category", "tag") and random.random() < 0.6):
        query["page"] = str(page.number)
    if page.sort:
        query["sort"] = page.sort
    if page.language != "en" or (odd and random.random() < 0.4):
        query["lang"] = page.language
    if odd and random.random() < 0.5:
        query["sid"] = f"{random.getrandbits(96):024x}"
    if odd and random.random() < 0.3:
        query["utm_source"] = random.choice(("letter", "partner", "search"))
        query["utm_medium"] = random.choice(("mail", "banner"))
    host = "www.localhost" if odd and random.random() < 0.4 else "localhost"
    return f"http://{host}:{port}{path}" + (f"?{urlencode(query)}" if query else "")


def link(target: Page, source: Page, port: int) -> str:
    """The URL by which one page links to another: always the same, whatever URL the source was asked for under."""
    number = Random(f"{source} {target}").randrange(VARIANTS[target.kind])
    return url_of(target, port, number)


def page_of(target: str) -> Page | None:
    """The page that a path with its query leads to, None if there is none. The host makes no difference."""
    parts = urlsplit(target)
    query = {name: values[-1] for name, values in parse_qs(parts.query).items()}
    language, sort = query.get("lang", "en"), query.get("sort", "")
    number = int(query.get("page", "1")) if query.get("page", "1").isdigit() else 0
    match parts.path.split("/")[1:]:
        case [""]:
            page = Page("home", language=language)
        case ["product", name, _] | ["product" | "p", name]:
            page = Page("product", name, language)
        case ["guide", name, "" | "index.html"]:
            page = Page("guide", name)
        case ["tag", name, ""]:
            page = Page("tag", name, sort=sort)
        case ["category", name]:
            page = Page("category", name, language, number, sort)
        case _:
            return None
    return page if exists(page) else None
