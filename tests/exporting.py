"""Items as they are exported: pages are served, a spider gives items of them, and a mask file says what passes on them."""

from collections.abc import Callable, Mapping
from typing import Any

import scrapy

from scrapy_dedup.files.toml_text import toml
from scrapy_dedup.masks.files import load_mask, path_of_mask
from scrapy_dedup.masks.model import Mask
from scrapy_dedup.masks.selectors import said_of

from .conftest import Serve
from .crawling import Crawl, crawl
from .server import Server

#: Of elements of the class ``t`` the whole text passes.
PASSING = '[[place]]\ncss = ".t::text, .t ::text"'


def place(selector: str, changes: str = "{…}", *, attribute: str = "", **keys: Any) -> str:
    """The table of a mask file about a place that was learned; *keys* are others, such as ``act``."""
    css, value = said_of(selector, attribute)
    given = {"css": css, **({"value": value} if value else {}), "changes": changes, "seen": "9 of 9 changes, 9 pages"}
    return "\n".join(["[[place]]", *(f"{name} = {toml(value)}" for name, value in {**given, **keys}.items())])


def write_mask(site: str, *places: str) -> None:
    """Write the mask file of a site."""
    path = path_of_mask("dedup-rules", site)
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n\n".join([f'format = "dedup-mask/3"\nsite = "{site}"', *places, ""]), encoding="utf-8")


def mask_of(*places: str) -> Mask:
    """The mask of shop.test with these places, from its file."""
    write_mask("shop.test", *places)
    return load_mask("dedup-rules/shop.test.mask.toml")


async def export(
    serve: Serve,
    pages: Mapping[str, Any],
    give: Callable[[Any], Any],
    *places: str,
    fields: Mapping[str, str],
    **settings: Any,
) -> tuple[Crawl, Server]:
    """Crawl *pages*, which have names, with *give* as the callback."""
    server = serve({f"/{name}": html for name, html in pages.items()})
    write_mask(server.site, *places)

    class Gives(scrapy.Spider):
        name = "gives"
        start_urls = [server.url(f"/{name}") for name in pages]

        def parse(self, response: Any) -> Any:
            yield from give(response)

    return await crawl(Gives, DEDUP_CONTENT_FIELDS=fields, **settings), server


async def stripped(
    serve: Serve, html: str, values: Mapping[str, Any], *places: str, kind: str = "text", **settings: Any
) -> dict[str, Any]:
    """What is left of the fields of an item of a page; values may be functions of the response."""

    def give(response: Any) -> Any:
        yield {name: value(response) if callable(value) else value for name, value in values.items()}

    done, _ = await export(
        serve, {"p": html}, give, *(places or [PASSING]), fields=dict.fromkeys(values, kind), **settings
    )
    assert not done.faults()
    return dict(done.items[0])
