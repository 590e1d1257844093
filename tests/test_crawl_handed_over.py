"""What a request hands over to its callback comes from another page: it stays as it is, and no lasting value is lost."""

from typing import Any

from .conftest import Serve
from .crawling import Links, crawl, in_reactor, save_mask
from .server import Asked

CHAIRS, TABLES = "7 chairs were seen", "9 tables were seen"


class Loader:
    """An object into which nobody looks."""

    def __init__(self, text: str) -> None:
        self.text = text


class Hands(Links):
    """Begins items on one page, and ends them on another one, where the text that they begin with passes."""

    def parse(self, response: Any) -> Any:
        text = response.css("h1::text").get()
        for number, begun in enumerate(({"text": text}, Loader(text), {"n": 1})):
            yield response.follow(f"/end/{number}", self.end, meta={"begun": begun})

    def end(self, response: Any) -> Any:
        begun = response.meta["begun"]
        item = begun if isinstance(begun, dict) else {"text": begun.text}
        item["own"] = response.css("p.seen::text").getall()[1]
        yield {"text": "", **item}


def site(asked: Asked) -> str:
    if asked.path == "/":
        return f"<html><body><h1>{CHAIRS}</h1></body></html>"
    seen = f"<p class=seen>{CHAIRS}</p><p class=seen>{TABLES}</p>"
    return f"<html><body>{seen}<p>The page {asked.path} of a site with some words more</p></body></html>"


@in_reactor
async def test_what_was_handed_over_stays(serve: Serve) -> None:
    server = serve(site)
    save_mask(server.site, {"body > p.seen::text": "{…}"})
    done = await crawl(Hands, server.url("/"), DEDUP_CONTENT_FIELDS={"text": "text", "own": "text"})
    assert sorted((item["text"], item["own"]) for item in done.items) == [("", ""), (CHAIRS, ""), (CHAIRS, TABLES)]
    assert not done.faults()
