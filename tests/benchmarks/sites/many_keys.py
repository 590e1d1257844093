"""Made-up URLs, pages and observations for the speed benchmark; the same seed gives the same ones."""

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from random import Random
from string import ascii_lowercase
from urllib.parse import urlencode

from scrapy_dedup import Observation

SYLLABLES = [a + b for a in "bcdfglmnprstv" for b in "aeiou"]
PARAMETER_COUNTS = (0, 1, 2, 4, 8)
JUNK_PREFIXES = ("utm", "sid", "ref", "trk", "src", "sess", "cmp", "gcl")


def word(rng: Random) -> str:
    """A pronounceable word of two to four syllables."""
    return "".join(rng.choices(SYLLABLES, k=rng.randint(2, 4)))


VOCABULARY = [word(Random(number)) for number in range(2000)]


def hex_token(rng: Random, length: int = 32) -> str:
    """A session id."""
    return f"{rng.getrandbits(4 * length):0{length}x}"


def fingerprint(*parts: object) -> str:
    """A content fingerprint of what decides a page."""
    return blake2b(repr(parts).encode(), digest_size=16).hexdigest()


def shop_url(rng: Random, site: str, parameters: int) -> str:
    """A URL that no other call gives, with so many parameters in arbitrary order.

    One in ten carries an escape or a plus sign; a session id that varies stands in half of those
    that have parameters.
    """
    path = f"/{word(rng)}/{word(rng)}-{rng.randrange(10**8)}"
    names = [word(rng)[:6] for _ in range(parameters)]
    pairs = [(name, str(rng.randrange(1000)) if rng.random() < 0.5 else word(rng)) for name in names]
    if pairs and rng.random() < 0.5:
        pairs[0] = ("sid", hex_token(rng))
    if pairs and rng.random() < 0.1:
        pairs[-1] = ("q", f"{word(rng)} {word(rng)}/é")
    rng.shuffle(pairs)
    return f"http://www.{site}{path}" + (f"?{urlencode(pairs)}" if pairs else ".html")


def session_observations(rng: Random, site: str, pages: int = 60) -> Iterator[Observation]:
    """Pages of a shop under several session ids each, so that ``sid`` is learned to be noise."""
    for page in range(pages):
        path = f"/{word(rng)}/{word(rng)}-{rng.randrange(10**8)}"
        for _ in range(3):
            url = f"http://{site}{path}?p={page}&sid={hex_token(rng)}"
            yield Observation(url, fingerprint(path, page))


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One kind of page: which query keys it reads, and which it is merely passed."""

    path: str
    relevant: tuple[str, ...]
    noisy: tuple[str, ...]
    """Keys that matter for one of their values only (as ``view=grid`` does)."""
    junk: tuple[str, ...]


def endpoints(rng: Random, keys: int) -> list[Endpoint]:
    """Twelve endpoints over that many query keys: an eighth relevant, an eighth noisy, the rest junk."""
    relevant = [f"{word(rng)[:5]}_{i}" for i in range(keys // 8)]
    noisy = [f"v{word(rng)[:4]}{i}" for i in range(keys // 8)]
    junk = [f"{rng.choice(JUNK_PREFIXES)}_{i}" for i in range(keys - len(relevant) - len(noisy))]
    return [
        Endpoint(
            path=f"/{word(rng)}" + ("/{}" if i % 3 == 0 else ""),
            relevant=tuple(relevant[(3 * i + j) % len(relevant)] for j in range(3)),
            noisy=tuple(noisy[(4 * i + j) % len(noisy)] for j in range(4)),
            junk=tuple(junk[i % 12 :: 12]) + tuple(rng.sample(junk, 8)),
        )
        for i in range(12)
    ]


def large_site(urls: int, keys: int = 150, seed: int = 0) -> Iterator[Observation]:
    """Distinct URLs of one site with that many query keys, a dozen or so on each URL.

    About a third of the URLs are first views of a page; a clock changes the text of 1 in 2,000.
    """
    rng = Random(seed)
    kinds = endpoints(rng, keys)
    cities = [word(rng) for _ in range(300)]
    seen: set[str] = set()
    while len(seen) < urls:
        kind = rng.choice(kinds)
        number = int(rng.paretovariate(0.7)) % (urls // 12)
        identity = (number, rng.randrange(3), rng.choice(cities[:8]))
        pairs = [(key, str(value)) for key, value in zip(kind.relevant, identity, strict=True)]
        noise = [(key, rng.choice(("list", "grid", "a", "b"))) for key in kind.noisy if rng.random() < 0.5]
        grids = [key for key, value in noise if value == "grid"]
        passed = rng.sample(kind.junk, rng.randint(4, 10))
        pairs += noise + [(key, junk_value(rng, key)) for key in passed if key not in kind.relevant]
        rng.shuffle(pairs)
        place = cities[number % len(cities)]
        url = f"http://www.large.example{kind.path.format(place)}?{urlencode(pairs)}"
        if url in seen:
            continue
        seen.add(url)
        clock = rng.random() if rng.random() < 0.0005 else None
        yield Observation(url, fingerprint(kind.path, place, identity, sorted(grids), clock))


def junk_value(rng: Random, key: str) -> str:
    """A value of a key that says nothing: an id, a campaign, a number, by the key's name."""
    kind = key[0]
    if kind == "s":
        return hex_token(rng, 16)
    if kind in "ug":
        return rng.choice(("mail", "ads", "feed", "search", "social"))
    return str(rng.randrange(5000)) if kind == "t" else rng.choice(ascii_lowercase) + str(rng.randrange(40))


TEXT_SHARE = 0.15
"""Visible text / bytes of a page. Pages of about 50 kB in four recorded sites had .03 to .07."""


NEW_TEXTS = 0.15
"""Of the texts of a recorded page, 2 to 15 % were on no page before it (tests.benchmarks.new_texts)."""
TEMPLATE_SECTIONS = 200


def page(
    rng: Random,
    size: int,
    hrefs: tuple[str, ...] = (),
    text_share: float = TEXT_SHARE,
    new_texts: float = NEW_TEXTS,
) -> str:
    """An HTML page of about ``size`` bytes: inline style and script, a list of links, sections of text.

    A share ``new_texts`` of the sections is the page's own, the others are its site's.
    """
    body = []
    if hrefs:
        items = "".join(f'<li class="n"><a class="link" href="{href}">{word(rng)}</a></li>' for href in hrefs)
        body.append(f'<nav id="menu"><ul class="menu">{items}</ul></nav>')
    texts = 0
    while texts < size * text_share:
        source = rng if rng.random() < new_texts else Random(rng.randrange(TEMPLATE_SECTIONS))
        body.append(section(source, 12 if text_share < 0.5 else 60))
        texts += 85 if text_share < 0.5 else 500
    head = f"<title>{word(rng)} {word(rng)}</title>"
    filled = sum(map(len, body)) + len(head) + 100
    while filled < size:
        name = word(rng)
        rule = f".{name}-block .teaser > p.{name}{{margin:0 {filled % 9}px;color:#{filled % 4096:03x};float:left}}\n"
        body.insert(0, f"<style>{rule * min(20, (size - filled) // len(rule) + 1)}</style>")
        filled += len(body[0])
    return f"<!DOCTYPE html><html><head>{head}</head><body>{''.join(body)}</body></html>"


def section(rng: Random, words: int) -> str:
    """A block of five elements as content management systems write them."""
    title, text = rng.choice(VOCABULARY), " ".join(rng.choices(VOCABULARY, k=words))
    return (
        f'<div class="block teaser block-{rng.randrange(100)}" data-id="{rng.randrange(10**6)}">'
        f'<div class="inner clearfix"><h2 class="title" id="t-{rng.randrange(10**6)}">{title}</h2>'
        f'<p class="summary text-muted">{text} <span class="more">{title}</span></p></div></div>\n'
    )


CAMPAIGNS = ("mail", "ads", "feed", "search", "social")
SORTS = ("name", "price", "date")


def ordinary_site(urls: int, seed: int = 0) -> Iterator[tuple[str, str]]:
    """Distinct (URL, fingerprint of its content) of one site; memory does not grow with their number.

    A third or so are first views of a page. Parameters that say nothing: ``sid`` and ``_`` (another value
    each time), ``utm_source``, ``ref``; ``view=full`` is the default. ``sort`` and ``page`` matter in lists.
    """
    rng = Random(seed)
    categories = [word(rng) for _ in range(40)]
    slugs = [f"{word(rng)}-{word(rng)}" for _ in range(500)]
    given = number = 0
    while given < urls:
        number += 1
        kind = rng.random()
        category = categories[number % len(categories)]
        pairs: list[tuple[str, str]] = []
        if kind < 0.4:
            path = "/thread"
            pairs = [("id", str(number)), ("page", str(rng.randint(2, 9)))][: 1 + (rng.random() < 0.3)]
        elif kind < 0.8:
            path = f"/{category}/{slugs[number % len(slugs)]}-{number}.html"
        else:
            path = "/list"
            pairs = [("cat", category), ("sort", rng.choice(SORTS)), ("page", str(number))]
        content = f"{path}?{pairs}"
        for copy in range(min(int(rng.paretovariate(1.0)), 30)):
            if given == urls:
                return
            more = [("utm_source", rng.choice(CAMPAIGNS))] * (rng.random() < 0.3)
            more += [("ref", str(rng.randrange(5000)))] * (rng.random() < 0.3)
            more += [("view", "full")] * (rng.random() < 0.2)
            if copy:
                more.append(("sid", hex_token(rng)) if rng.random() < 0.7 else ("_", str(rng.randrange(10**13))))
            found = pairs + more
            rng.shuffle(found)
            query = "&".join(f"{name}={value}" for name, value in found)
            yield f"http://www.ordinary.example{path}" + (f"?{query}" if query else ""), content
            given += 1
