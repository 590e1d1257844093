"""Items as they are exported: pages are served, a spider gives items of them, and a mask file says what passes on them.

Elements of the class ``t`` are those whose text passes (see :func:`passing`).
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import scrapy
from parsel import Selector

from scrapy_dedup import Mask

from .conftest import Serve
from .crawling import Crawl, crawl, save_rules
from .server import Server


def place(selector: str, text: str = "{…}", **keys: Any) -> str:
    """The table of a mask file about a place; *keys* are others, such as ``attribute``."""
    given = {"selector": selector, "kind": "transient", **({} if "slot" in keys else {"text": text}), **keys}
    lines = (
        f"{name.rstrip('_')} = " + (f"'{value}'" if isinstance(value, str) else json.dumps(value))
        for name, value in given.items()
        if value != ""
    )
    return "\n".join(["[[path]]", *lines])


def write_mask(site: str, *places: str, kinds: str = "") -> None:
    """Write the mask file of a site; *kinds* are lines of its kinds of pages."""
    path = save_rules(site, 'x = ""').with_suffix(".mask.toml")
    path.with_name(path.name.replace(".mask", "")).unlink()
    head = [f'format = "dedup-mask/2"\nsite = "{site}"', *([f"[page-kinds]\n{kinds}"] if kinds else [])]
    path.write_text("\n\n".join([*head, *places, ""]), encoding="utf-8")


def mask_of(*places: str, kinds: str = "") -> Mask:
    """The mask of shop.test with these places, from its file."""
    write_mask("shop.test", *places, kinds=kinds)
    return Mask.load("dedup-rules/shop.test.mask.toml")


def passing(html: str) -> list[str]:
    """The places of all elements of the class ``t`` of a page: their whole text passes."""
    found = []
    for element in Selector(html).css(".t"):
        names = []
        for each in reversed(element.xpath("ancestor-or-self::*")):
            number = each.attrib.get("id")
            classes = "".join(f".{name}" for name in each.attrib.get("class", "").split())
            names.append(each.root.tag + (f"#{number}" if number else "") + classes)
        found.append(place("/".join(reversed(names))))
    return list(dict.fromkeys(found))


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
        serve, {"p": html}, give, *(places or passing(html)), fields=dict.fromkeys(values, kind), **settings
    )
    assert not done.faults()
    return dict(done.items[0])
