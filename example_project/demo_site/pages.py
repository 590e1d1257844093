"""The pages of the shop: what there is, which page links to which, and what each says.

Everything follows from the numbers below and a fixed seed: two runs serve the same shop.
"""

from dataclasses import dataclass, field, replace
from functools import cache
from random import Random

CATEGORIES = ("lamps", "chairs", "tables", "shelves", "rugs", "clocks")
TAGS = tuple(
    "oak pine steel brass glass cotton wool linen red blue green white black round square folding outdoor "
    "kitchen office nursery garden vintage modern sale".split()
)
#: How to care for what has a tag: a guide has the name of its tag and is another page.
GUIDES = TAGS
PER_PAGE = 8
PRODUCTS = 84

_ADJECTIVES = "quiet sturdy narrow bright gentle heavy slender plain warm tall northern patient".split()
_NOUNS = {
    "lamps": ("lamp", "lantern", "sconce"),
    "chairs": ("chair", "stool", "bench"),
    "tables": ("table", "desk", "counter"),
    "shelves": ("shelf", "rack", "bookcase"),
    "rugs": ("rug", "runner", "mat"),
    "clocks": ("clock", "timer", "dial"),
}
_GERMAN = dict(
    zip(
        (noun for nouns in _NOUNS.values() for noun in nouns),
        "Lampe Laterne Wandleuchte Stuhl Hocker Bank Tisch Schreibtisch Tresen Regal Gestell Bücherschrank "
        "Teppich Läufer Matte Uhr Zeitmesser Zifferblatt".split(),
        strict=True,
    )
)
_SENTENCES = {
    "en": (
        "The {noun} was drawn for rooms of {number} square metres and more.",
        "It weighs {number} kilograms without its box.",
        "Two people put it together in {number} minutes.",
        "The surface is finished with {number} thin coats of oil.",
        "We have made this {noun} in our workshop since 19{number}.",
        "Spare parts are kept in stock for {number} years.",
        "It stands {number} centimetres from the wall.",
        "A box holds {number} screws and one key.",
    ),
    "de": (
        "Entworfen wurde das Stück ({noun}) für Räume ab {number} Quadratmetern.",
        "Ohne Karton wiegt es {number} Kilogramm.",
        "Zu zweit ist der Aufbau in {number} Minuten getan.",
        "Die Oberfläche trägt {number} dünne Schichten Öl.",
        "Unsere Werkstatt baut das Stück ({noun}) seit 19{number}.",
        "Ersatzteile halten wir {number} Jahre lang vorrätig.",
        "Der Abstand zur Wand beträgt {number} Zentimeter.",
        "Im Karton liegen {number} Schrauben und ein Schlüssel.",
    ),
}


@dataclass(frozen=True, slots=True)
class Page:
    """What a page is, whatever the URL it is asked for under."""

    kind: str
    name: str = ""
    language: str = "en"
    number: int = 1
    sort: str = ""


@dataclass(frozen=True, slots=True)
class Product:
    id: str
    category: str
    noun: str
    adjective: str
    price: int
    added: int
    tags: tuple[str, ...] = field(default=())

    def title(self, language: str) -> str:
        if language == "de":
            return f"{_GERMAN[self.noun]} {self.id}"
        return f"{self.adjective.capitalize()} {self.noun} {self.id}"

    def description(self, language: str) -> str:
        random = Random(f"{self.id} {language}")
        noun = _GERMAN[self.noun] if language == "de" else self.noun
        sentences = random.sample(_SENTENCES[language], 6)
        return " ".join(each.format(noun=noun, number=random.randint(11, 99)) for each in sentences)


@cache
def products() -> dict[str, Product]:
    """All products by id. Ids come in pairs that differ in nothing but case: kB07 is not Kb07."""
    random = Random("products")
    found = {}
    for index in range(PRODUCTS):
        identifier = f"{'Kb' if index % 2 else 'kB'}{index // 2:02}"
        category = CATEGORIES[index % len(CATEGORIES)]
        found[identifier] = Product(
            identifier,
            category,
            random.choice(_NOUNS[category]),
            random.choice(_ADJECTIVES),
            random.randint(10, 400),
            random.randint(0, 10_000),
            tuple(random.sample(TAGS, 3)),
        )
    return found


def listed(page: Page) -> list[Product]:
    """The products that a category's page or a tag's page shows, in its order.

    A category is cut into pages, so its order decides what stands on which page. A tag's page shows
    everything, so its order decides nothing but the order.
    """
    if page.kind == "tag":
        chosen = [product for product in products().values() if page.name in product.tags]
    else:
        chosen = [product for product in products().values() if product.category == page.name]
    chosen.sort(key=lambda product: product.price if page.sort == "price" else product.added)
    if page.sort == "name":
        chosen.sort(key=lambda product: product.title(page.language))
    if page.kind == "tag":
        return chosen
    return chosen[(page.number - 1) * PER_PAGE : page.number * PER_PAGE]


def exists(page: Page) -> bool:
    if page.language not in _SENTENCES:
        return False
    match page.kind:
        case "home":
            return True
        case "product":
            return page.name in products()
        case "category":
            return page.name in CATEGORIES and page.sort in ("", "price") and bool(listed(page)) and page.number > 0
        case "tag":
            return page.name in TAGS and page.language == "en"
        case "guide":
            return page.name in GUIDES and page.language == "en"
    return False


def links(page: Page) -> list[Page]:
    """The pages that a page links to, those in its menu first."""
    language = page.language
    menu = [Page("category", name, language) for name in CATEGORIES]
    match page.kind:
        case "home":
            found = [Page("tag", name) for name in TAGS] + [Page("guide", name) for name in GUIDES]
            found.append(Page("home", language="de" if language == "en" else "en"))
        case "product":
            product, everything = products()[page.name], list(products())
            random = Random(f"related {page.name}")
            found = [Page("product", each, language) for each in random.sample(everything, 3)]
            found.append(Page("product", page.name, "de" if language == "en" else "en"))
            found += [Page("tag", name) for name in product.tags]
        case "guide":
            random = Random(f"related {page.name}")
            found = [Page("guide", each) for each in random.sample(GUIDES, 5)]
            found += [Page("product", each) for each in random.sample(list(products()), 2)]
        case _:
            found = [Page("product", product.id, language) for product in listed(page)]
            if page.kind == "category":
                turned = [replace(page, number=page.number + step) for step in (-1, 1)]
                other = replace(page, sort="" if page.sort else "price", number=1)
                found += [each for each in (*turned, other) if exists(each)]
            else:
                found += [replace(page, sort=sort) for sort in ("price", "name")]
    return menu + found


def guide_text(name: str) -> str:
    random = Random(f"guide {name}")
    words = [*_ADJECTIVES, *_NOUNS["chairs"], *_NOUNS["lamps"], *TAGS]
    return " ".join(f"{name} {random.choice(words)} {random.randint(1, 999)}." for _ in range(25))
