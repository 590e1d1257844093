"""What ``scrapy dedup page`` shows: the texts of a page, which of them are transient, and what stood there before."""

import re
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from rich.text import Text
from scrapy import Request, Spider
from scrapy.crawler import CrawlerProcess
from scrapy.http import HtmlResponse, Response
from scrapy.spidermiddlewares.httperror import HttpError

from ...crawl.observe.site_masks import with_links
from ...crawl.own_requests.probe_spider import OFF
from ...learning.phrases import counted, moment
from ...masks.fields.text_cuts import marked
from ...masks.page_report import Act, marked_text, places_on, texts_at
from ...masks.slots import shown_slot
from ...store.page_queries import versions_of_page
from ..console import print_json, print_long, with_marks
from ..observation_sources import open_store
from ..problems import Nothing

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from ...content.versions import Version
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...masks.model import Mask

_MOST_TEXTS: Final = 3
_LONGEST: Final = 200
_doctype = re.compile("\ufeff?\\s*<!doctype[^>]*>", re.IGNORECASE).match
_HEAD: Final = (
    '<meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
    '<style>[data-dedup="transient"] { background: #fcc; outline: 1px solid #c00; text-decoration: line-through }</style>'
)
_HEADINGS: Final[dict[Act, str]] = {
    "left out": "Pages are compared without these, which may be what the page is about, and stay in items:",
    "undecided": "Undecided, and left as they are: they were another text at times, and that they pass is not proven:",
    "growing": "Growing, and left as they are:",
    "kept": "Kept, as the mask file says:",
    "elsewhere": "Left as they are here, and transient on pages of other kinds or among other words:",
}
_STRIPPED: Final = {
    "remove": "Taken out of items:",
    "mark": "Marked in items:",
    "off": "Left in items (DEDUP_STRIP is off):",
    "": "Left in items (DEDUP_CONTENT_FIELDS names no field to take them out of):",
}
"""The heading of what is transient, by DEDUP_STRIP, "" where no field is named."""


Stored = tuple[float, "Version"]
"""Seconds since 1970, and what the page was then."""


@dataclass(frozen=True, slots=True)
class ShownPage:
    """The page that is shown: what it is of, where it comes from, and its versions in the store, the latest first."""

    version: "Version"
    url: str | None
    source: Literal["web", "file", "store"]
    #: Seconds since 1970, of a page from the store.
    time: float | None = None
    before: Sequence[Stored] = ()


def fetched(url: str, settings: "Settings") -> str:
    """Return the HTML at *url*, by the project's downloader. Raises Nothing where there is none.

    Nothing is recorded, filtered or exported, and no job is touched.
    """
    pages: list[str] = []
    problems: list[str] = []

    class PageSpider(Spider):
        name = "dedup-page"

        async def start(self) -> AsyncIterator[Any]:
            yield Request(url, errback=self.failed, dont_filter=True)

        def parse(self, response: Response, **_: Any) -> None:
            if isinstance(response, HtmlResponse):
                pages.append(response.text)
            else:
                problems.append("it is no HTML")

        def failed(self, failure: "Failure") -> None:
            if isinstance(failure.value, HttpError):
                problems.append(f"the site answered {failure.value.response.status}")
            else:
                problems.append(failure.getErrorMessage() or repr(failure.value))

    own = settings.copy()
    own.setdict({**OFF, "DEDUP_ENABLED": False, "LOG_LEVEL": "CRITICAL"}, priority="cmdline")
    process = CrawlerProcess(own)
    process.crawl(PageSpider)
    process.start()
    if not pages:
        raise Nothing(f"{url} cannot be had: {problems[0] if problems else 'there was no answer'}")
    return pages[0]


def _places(mask: "Mask", page: ShownPage) -> list[dict[str, Any]]:
    """Return the places of a mask that a page has, as JSON has them: what stands there now, and what stood there before, in the
    latest version of the page that shows another text there, or else in the example of the mask."""
    found = []
    for place in places_on(mask, page.version, url=page.url, acting=with_links(mask)):
        path = place.path
        versions = ((at, texts_at(path, version)) for at, version in page.before)
        time, before = next(((at, texts) for at, texts in versions if texts and texts != place.texts), (None, None))
        example = path.examples[0] if before is None and path.examples else None
        found.append(
            {
                "type": "place",
                "act": place.act,
                "selector": path.selector,
                "attribute": path.attribute,
                "position": f"{path.position} of {path.of or 'any'}" if path.position else None,
                "css": path.css,
                "xpath": path.xpath,
                "kind": path.kind,
                "state": path.state or None,
                "text": shown_slot(path.slot, path.attribute),
                "now": list(place.texts),
                "marked": place.marked,
                "before": list(before) if before is not None else None,
                "before_from": "store" if before is not None else "mask" if example is not None else None,
                "before_time": moment(time) if time is not None else None,
                "example": list(example) if example is not None else None,
                "changed": path.changes,
                "compared": path.opportunities,
                "pages": path.pages,
                "confidence": path.confidence,
            }
        )
    return found


def stored_versions(settings: "DedupSettings", site: str, url: str, *, needed: bool) -> list[Stored]:
    """Return the versions of a page in the store, the latest first. Raises Nothing where they are *needed* and there are none."""
    try:
        with open_store(settings) as store:
            found = versions_of_page(store, settings.scope, site, url)
    except Nothing:
        if needed:
            raise
        return []
    if needed and not found:
        raise Nothing(
            f"the store has no version of {url}: it keeps those of some pages of each kind; without --from-store it is fetched"
        )
    return found


def print_page(page: ShownPage, mask: "Mask", *, strip: str, json: bool) -> None:
    """Print the visible texts of a page, the transient words between ⟦ and ⟧, and the places by what is done about them; or a line
    of JSON of the page, and one of each place.

    *strip* is DEDUP_STRIP, "" where no field of items is named.
    """
    texts, words, hidden = _texts(page, mask)
    places = _places(mask, page)
    # Whether it is known what passes on such pages, or on some of their places.
    known = mask.applies_to(page.url) or any(place["act"] in ("stripped", "left out") for place in places)
    time = moment(page.time) if page.time is not None else None
    if json:
        about = {"type": "page", "url": page.url, "site": mask.site, "from": page.source, "time": time, "known": known}
        for record in ({**about, "words": words, "transient_words": hidden}, *places):
            print_json(record)
        return
    if time is not None:
        print_long(Text(f"{page.url} as it was at {time}, from the store:\n"))
    for text in texts:
        print_long(with_marks(text))
    if not known:
        print("\nNothing is known of pages of this kind: none was seen in two versions.")
    print(f"\n{hidden} of {words} words are transient.")
    for act, heading in {"stripped": _STRIPPED[strip], **_HEADINGS}.items():
        some = [place for place in places if place["act"] == act]
        if some:
            print(f"\n{heading}")
        for place in some:
            for line in _lines(place):
                print_long(line)


def _texts(page: ShownPage, mask: "Mask") -> tuple[list[str], int, int]:
    """Return the visible texts of a page with the transient words marked, the number of words, and that of the transient ones."""
    stripped = mask.hidden_of(page.version, url=page.url)
    texts: list[str] = []
    words = hidden = 0
    for index, (_, attribute, text) in enumerate(page.version.blocks):
        if not attribute:
            texts.append(marked_text(text, stripped.get(index)))
            number = len(text.split())
            words += number
            if index in stripped:
                hidden += sum(end - start for start, end in stripped[index] or [(0, number)])
    return texts, words, hidden


def _lines(place: dict[str, Any]) -> Iterator[Text]:
    """Yield what is shown of a place, line by line."""
    # What is no attribute of the page, such as a script's contents, has no selector of its own.
    name = f" {place['attribute']}" if place["attribute"].startswith("#") else ""
    yield Text(f"  {place['css']}{name}" + (f" ({place['position']})" if place["position"] else ""))
    now, before = place["now"], place["before"]
    rows = {"now": _some(place["marked"], new={at for at, text in enumerate(now) if text not in (before or ())})}
    if before is not None:
        new = {at for at, text in enumerate(before) if text not in now}
        rows["before"] = [*_some(before, new=new), f"({place['before_time']})"]
    elif place["example"] is not None:
        rows["example"] = [" → ".join(text or "(nothing)" for text in place["example"]), "(from the mask file)"]
    else:
        rows["before"] = ["(not known)"]
    if place["compared"]:
        times = f"{place['changed']} of {counted(place['compared'], 'time')} on {counted(place['pages'], 'page')}"
        # It is 0 where it was not proven, whatever the page is left without.
        rows["changed"] = [times + (f", confidence {place['confidence']:.2f}" if place["confidence"] else "")]
    for name, texts in rows.items():
        for number, text in enumerate(texts):
            yield Text(f"    {'' if number else name:<9}").append_text(with_marks(text))


def _some(texts: "Sequence[str]", *, new: set[int]) -> list[str]:
    """Return some texts, the *new* ones first where there are more than are shown."""
    order = sorted(range(len(texts)), key=lambda at: at not in new) if len(texts) > _MOST_TEXTS else range(len(texts))
    shown = [texts[at] if len(texts[at]) <= _LONGEST else texts[at][: _LONGEST - 1] + "…" for at in order]
    more = len(shown) - _MOST_TEXTS
    return [*shown[:_MOST_TEXTS], f"and {more} more"] if more > 0 else shown


def marked_page(html: str, mask: "Mask", url: str | None) -> str:
    """Return the page with its transient parts marked, and a style that shows them; opened, it runs nothing and asks nobody."""
    page = marked(html, mask.spans(html, url=url), "html")
    doctype = _doctype(page)
    start = doctype.end() if doctype is not None else 0
    return page[:start] + _HEAD + page[start:]
