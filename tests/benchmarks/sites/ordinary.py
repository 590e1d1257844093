"""A site as most are: threads, products and lists with a few parameters, for the benchmark of scale."""

from collections.abc import Iterator
from random import Random

from .many_keys import hex_token, word

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
