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
from ...masks.apply import ranges_of
from ...masks.cutting import marked
from ...masks.slots import Ranges, joined, pieces, slot_text
from ...store.page_queries import versions_of_page
from ..console import print_json, print_long, with_marks
from ..observation_sources import open_store
from ..problems import Nothing

if TYPE_CHECKING:
    from scrapy.settings import Settings
    from twisted.python.failure import Failure

    from ...crawl.settings.dedup_settings import DedupSettings
    from ...masks.model import Mask
    from ...pages.versions import Version

_MOST_TEXTS: Final = 3
_LONGEST: Final = 200

Done = Literal["stripped", "left out", "kept", "elsewhere"]
"""What is done with a place: it is taken out of items, only left out where pages are compared, nothing since the user says so, or
nothing on this page, but on others."""

_doctype = re.compile("\ufeff?\\s*<!doctype[^>]*>", re.IGNORECASE).match
_HEAD: Final = (
    '<meta charset="utf-8">'
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; img-src data:\">"
    '<style>[data-dedup="transient"] { background: #fcc; outline: 1px solid #c00; text-decoration: line-through }</style>'
)
_HEADINGS: Final[dict[Done, str]] = {
    "left out": "Pages are compared without these, which may be what the page is about, and stay in items:",
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
    before = []
    for time, version in page.before:
        rows = [*version.rows()]
        standing = mask.comparing.standing(rows)
        before.append((time, {place.key: [rows[at][2] for at in indices] for place, indices in standing}))
    rows = [*page.version.rows()]
    plan = with_links(mask).comparing
    hidden = plan.hidden(rows, page.url)
    found = []
    for place, indices in plan.standing(rows):
        own = [rows[at] for at in indices]
        texts = [text for _, _, text in own]
        done: Done = "kept" if place.state == "keep" else "elsewhere"
        if done != "kept" and not hidden.keys().isdisjoint(indices):
            done = "stripped" if place.state or place.act == "strip" else "left out"
        is_hidden = done in ("stripped", "left out")
        other = next(((at, then[place.key]) for at, then in before if then.get(place.key, texts) != texts), None)
        found.append(
            {
                "type": "place",
                "act": done,
                "css": place.css,
                "value": place.key[1] or None,
                "position": place.position or None,
                "state": place.state or None,
                "changes": slot_text(place.slot, place.attribute),
                "now": texts,
                "marked": [
                    marked_text(row[2], ranges_of(place, row, comparing=False) if is_hidden else None, row[1])
                    for row in own
                ],
                "before": other[1] if other is not None else None,
                "before_time": moment(other[0]) if other is not None else None,
                "example": list(place.example) if other is None and place.example else None,
                "changed": place.changes,
                "compared": place.opportunities,
                "pages": place.pages,
            }
        )
    return found


def marked_text(text: str, ranges: Ranges | None, attribute: str = "") -> str:
    """Return a text with ⟦ and ⟧ around ranges of its pieces.

    >>> marked_text("12 users online", [(0, 1)]), marked_text("/cart?sid=5", [(5, 6)], "href"), marked_text("all", ())
    ('⟦12⟧ users online', '/cart?sid=⟦5⟧', '⟦all⟧')
    """
    if ranges is None:
        return text
    words = pieces(text, attribute)
    for start, end in reversed(ranges or [(0, len(words))]):
        words[start:end] = [f"⟦{joined(words[start:end], attribute)}⟧"]
    return joined(words, attribute)


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
    known = mask.comparing.applies_to(page.url) or any(place["act"] in ("stripped", "left out") for place in places)
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
    stripped = mask.stripping.hidden(page.version.rows(), page.url)
    texts: list[str] = []
    words = hidden = 0
    for index, (_, attribute, text) in enumerate(page.version.seen):
        if not attribute:
            texts.append(marked_text(text, stripped.get(index)))
            number = len(text.split())
            words += number
            if index in stripped:
                hidden += sum(end - start for start, end in stripped[index] or [(0, number)])
    return texts, words, hidden


def _lines(place: dict[str, Any]) -> Iterator[Text]:
    """Yield what is shown of a place, line by line."""
    # What is inside a value, or is a comment, has no selector of its own.
    more = [str(place[key]) for key in ("value", "position") if place[key]]
    yield Text(f"  {place['css']}" + (f" ({', '.join(more)})" if more else ""))
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
        rows["changed"] = [
            f"{place['changed']} of {counted(place['compared'], 'time')} on {counted(place['pages'], 'page')}"
        ]
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
