"""Made-up pages of which masks are learned, and what a store keeps of them."""

from random import Random

from scrapy_dedup.pages.response import fingerprint_body, version_of
from scrapy_dedup.store.rows import ObservationRow

SITE = "a.example"
WORDS = [
    a + b + c
    for a in ("al", "be", "cor", "di", "fen", "gru", "hol")
    for b in ("da", "mi", "ro", "tu")
    for c in ("n", "rk", "st", "x")
]


def text_of(*names: object, words: int = 12) -> str:
    """Words that are always the same for the same names."""
    return " ".join(Random(repr(names)).choices(WORDS, k=words))


def words(*names: object, number: int = 7) -> str:
    """Words that are always the same for the same names."""
    return " ".join(f"word{n}" for n in Random(repr(names)).choices(range(3000), k=number))


def page(heading: str, main: str) -> str:
    """A page of a site with navigation and a footer."""
    return (
        f"<html><head><title>{heading}</title></head><body><nav>Home News About us Contact Terms Imprint</nav>"
        f"<main><h1>{heading}</h1>{main}</main><footer>Copyright by the shop and its owners</footer></body></html>"
    )


def row(url: str, html: str, time: float) -> ObservationRow:
    """What a store keeps of a response."""
    found = fingerprint_body(html.encode(), "text/html; charset=utf-8")
    return ObservationRow("", SITE, url, time, 200, fingerprints=found, version=version_of(html).to_bytes())
