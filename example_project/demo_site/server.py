"""Serve the shop on loopback and count what is asked for."""

import threading
from collections import Counter
from dataclasses import replace
from html import escape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from .pages import Page, guide_text, links, listed, products
from .passing import Moment, Passing, mark, passing_of, unmarked
from .urls import link, page_of

if TYPE_CHECKING:
    from typing_extensions import Self

_WORDS = {
    "en": ("The little house of furniture", "Sorted by newest, price, name", "Related", "Tags", "euros"),
    "de": ("Das kleine Haus der Möbel", "Sortiert nach Neuheit, Preis, Name", "Verwandtes", "Merkmale", "Euro"),
}


def html_of(page: Page, port: int, moment: Moment, *, passing: bool = False) -> str:
    """The page as HTML. A token stands in a hidden field, so that the bodies of two copies of a page differ.

    With *passing*, so do their texts.
    """
    return unmarked(_marked_html(page, port, moment, passing_of(page, port, moment) if passing else Passing()))[0]


def passing_spans(page: Page, port: int, moment: Moment) -> list[tuple[int, int]]:
    """The truth: where in the page's HTML, as it is with *passing*, those texts and values stand that pass."""
    return unmarked(_marked_html(page, port, moment, passing_of(page, port, moment)))[1]


def _marked_html(page: Page, port: int, moment: Moment, passing: Passing) -> str:
    shop, sorting, related, tags, euros = _WORDS[page.language]
    title, body = shop, f"<p>{shop}</p>{passing.inside}"
    if page.kind == "product":
        product = products()[page.name]
        title = product.title(page.language)
        body = (
            f'<article class="product"><h1>{title}</h1><p class="price">{product.price} {euros}</p>'
            f'<p class="description">{product.description(page.language)}</p>{passing.inside}</article><p>{related}, {tags}</p>'
        )
    elif page.kind == "guide":
        title = f"How to care for {page.name}"
        body = f"<h1>{title}</h1><p>{guide_text(page.name)}</p>{passing.inside}"
    elif page.kind != "home":
        title = f"{page.name.capitalize()} {page.number}"
        rows = (f"<li>{each.title(page.language)}, {each.price} {euros}</li>" for each in listed(page))
        body = f"<h1>{title}</h1><p>{sorting}</p><ul>{''.join(rows)}</ul>{passing.inside}"
    anchors = (f'<a href="{escape(link(target, page, port))}">{escape(target.name)}</a>' for target in links(page))
    return (
        f'<!doctype html><html lang="{page.language}"><head><meta charset="utf-8"><title>{title} | {shop}</title></head>'
        f'<body>{passing.above}{body}<form><input type="hidden" name="token" value="{mark(moment.token)}"></form>'
        f"<nav>{' '.join(anchors)}</nav>{passing.below}</body></html>"
    )


def identity(page: Page) -> Page:
    """The page less what its content does not depend on: the order of a tag's page."""
    return replace(page, sort="") if page.kind == "tag" else page


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes: the second one would wait 40 ms for the client's delayed acknowledgement.
    disable_nagle_algorithm = True
    timeout = 10
    server: "Shop"

    def do_GET(self) -> None:
        if urlsplit(self.path).path == "/robots.txt":
            # The link to the basket is another one on each page.
            self._send(200, "User-agent: *\nDisallow: /basket\nAllow: /\n", "text/plain")
            return
        page = page_of(self.path)
        moment = self.server.count(None if page is None else identity(page))
        if page is None:
            self._send(404, "<p>There is no such page.</p>")
        else:
            self._send(200, html_of(page, self.server.port, moment, passing=self.server.passing))

    def _send(self, status: int, text: str, content_type: str = "text/html; charset=utf-8") -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        """Say nothing."""


class Shop(ThreadingHTTPServer):
    """The shop on a port of its own choice (0) or a given one; ``pages`` counts the downloads of each page.

    With *passing*, its pages show what passes. ``time`` is the shop's, in seconds since it opened; it stands still
    until somebody sets it, but for a second with each request.
    """

    daemon_threads = True
    #: More connections at once than a crawl opens: those that find no room wait for minutes.
    request_queue_size = 256

    def __init__(self, port: int = 0, *, passing: bool = False) -> None:
        super().__init__(("127.0.0.1", port), _Handler)
        self.port: int = self.server_address[1]
        self.url = f"http://localhost:{self.port}/"
        self.pages: Counter[Page | None] = Counter()
        self.passing = passing
        self.time = 0.0
        self._requests = 0
        self._lock = threading.Lock()

    def count(self, page: Page | None) -> Moment:
        """Count a download and return its moment."""
        with self._lock:
            self.pages[page] += 1
            self._requests += 1
            return Moment(self._requests, self.time)

    def __enter__(self) -> "Self":
        threading.Thread(target=self.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
        return self

    def __exit__(self, *args: object) -> None:
        self.shutdown()
        self.server_close()
