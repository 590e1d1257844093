"""Random small sites on which one parameter is noise in one section and the page in another.

Sections have few pages each. A parameter means something else in each of them; what it means is the
truth by which lost pages are counted.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random

from scrapy_dedup import Observation, RuleBook, learn_rules

NAMES = ("x", "view", "lang", "s", "ref", "k")
WORDS = ("a", "b", "full", "list", "en", "de", "1", "2", "3", "4", "10")
MEANINGS = ("noise", "noise", "noise", "page", "default", "one value", "parts", "absent", "absent")
DOMAIN = "small.example"


@dataclass(frozen=True, slots=True)
class Parameter:
    """A parameter in one section: its values (none: a new one each time), and what it means there."""

    name: str
    values: tuple[str, ...]
    meaning: str

    def of_page(self, value: str | None) -> str | None:
        """What a value adds to the identity of a page."""
        if self.meaning == "noise":
            return None
        if self.meaning == "default":
            return self.values[0] if value is None else value
        if self.meaning == "one value":
            return str(value == self.values[-1])
        if self.meaning == "parts":
            return "" if value is None else str(self.values.index(value) % 2)
        return value


@dataclass(frozen=True, slots=True)
class Section:
    """Pages of one path: how their URLs are formed, their parameters, whether two hosts show the same."""

    name: str
    form: str
    pages: int
    most: int
    parameters: tuple[Parameter, ...]
    joined: bool
    """Whether the first two parameters count together only."""
    mirrored: bool

    def url(self, number: int, rng: Random) -> tuple[str, str]:
        """One of the URLs of an item, and the page that it is."""
        host = rng.choice(("www", "m"))
        query = []
        said: list[str | None] = [None if self.mirrored else host]
        taken = []
        for parameter in self.parameters:
            there = rng.random() < 0.7 and parameter.meaning != "absent"
            value = None
            if there:
                value = rng.choice(parameter.values) if parameter.values else f"{rng.getrandbits(64):016x}"
                query.append((parameter.name, value))
            taken.append(parameter.values.index(value) % 2 if value in parameter.values else 0)
            if not (self.joined and parameter in self.parameters[:2]):
                said.append(parameter.of_page(value))
        if self.joined:
            said.append(str(sum(taken[:2]) % 2))
        path = f"/{self.name}/{number}"
        if self.form == "query":
            path = f"/{self.name}"
            query.insert(0, ("id", str(number)))
        elif self.form == "deep":
            path = f"/shop/{self.name}/{number}"
        text = "&".join(f"{name}={value}" for name, value in query)
        page = "|".join([self.name, str(number), *(str(part) for part in said)])
        return f"http://{host}.{DOMAIN}{path}{'?' if text else ''}{text}", page


def small_site(seed: int) -> list[Section]:
    """A site of two to five sections."""
    rng = Random(seed)
    names = rng.sample(NAMES, rng.randint(2, 4))
    values = {name: tuple(rng.sample(WORDS, rng.randint(2, 5))) if rng.random() < 0.8 else () for name in names}
    form = rng.choice(("path", "query", "deep", "mixed"))
    found = []
    for number in range(rng.randint(2, 5)):
        parameters = []
        for name in names:
            meaning = rng.choice(MEANINGS)
            if not values[name] and meaning != "absent":
                meaning = "noise"
            parameters.append(Parameter(name, values[name], meaning))
        joined = rng.random() < 0.1 and all(p.values and p.meaning != "absent" for p in parameters[:2])
        mine = rng.choice(("path", "query", "deep")) if form == "mixed" else form
        pages = rng.choice((5, 10, 20, 40, 100))
        mirrored = rng.random() < 0.8
        found.append(Section(f"s{number}", mine, pages, rng.choice((2, 4, 8)), tuple(parameters), joined, mirrored))
    return found


def crawl(seed: int) -> list[tuple[str, str]]:
    """URLs of a small site and the page of each, each URL once, in no order."""
    rng = Random(seed + 1_000_000)
    found: dict[str, str] = {}
    for section in small_site(seed):
        for number in range(section.pages):
            for _ in range(rng.randint(1, section.most)):
                url, page = section.url(17 * number + 3, rng)
                found[url] = page
    rows = list(found.items())
    rng.shuffle(rows)
    return rows


def spoiled(rows: Sequence[tuple[str, str]], seed: int, noise: float) -> list[Observation]:
    """What is seen of some URLs: of the *noise* an error, a body that is cut short, or another version."""
    rng = Random(seed + 2_000_000)
    found = []
    for url, page in rows:
        if rng.random() < noise:
            page = rng.choice(("error", f"{page} {url}", f"{page} B"))
        found.append(Observation(url, page))
    return found


def parted(seed: int, share: float = 0.5) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Return the URLs and pages of a share of the items of a small site, and those of all others."""
    rng = Random(seed + 3_000_000)
    rows = crawl(seed)
    items = sorted({page.rsplit("|")[0] + page.split("|")[1] for _, page in rows})
    chosen = set(rng.sample(items, round(share * len(items))))
    train = [row for row in rows if row[1].split("|")[0] + row[1].split("|")[1] in chosen]
    test = [row for row in rows if row[1].split("|")[0] + row[1].split("|")[1] not in chosen]
    return train, test


def learned(seed: int, noise: float = 0.0, share: float = 0.5) -> tuple[RuleBook, list[tuple[str, str]]]:
    """Return the rules learned from a share of the items of a small site, and the URLs and pages of all others."""
    train, test = parted(seed, share)
    return learn_rules(spoiled(train, seed, noise)), test


def lost_pages(book: RuleBook, rows: Sequence[tuple[str, str]]) -> dict[str, tuple[str, str]]:
    """The pages that no first URL of a key leads to: page -> (a URL of it, the URL that was taken for it)."""
    first: dict[str, tuple[str, str]] = {}
    for url, page in rows:
        first.setdefault(book.canonical_key(url), (url, page))
    shown = {page for _, page in first.values()}
    return {page: (url, first[book.canonical_key(url)][0]) for url, page in rows if page not in shown}
