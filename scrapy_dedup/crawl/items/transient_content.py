"""Transient content in a crawl: of fields, by the pages that their items came from, and of links."""

from typing import TYPE_CHECKING, Any, Final
from weakref import WeakKeyDictionary

import attrs
from scrapy.http import HtmlResponse
from scrapy.utils.response import get_base_url

from ...masks.fields import TransientPage
from ...urls.joining import joined
from ..support.request_meta import SWITCH, TRANSIENT_LINK
from .handed_over import strings_handed_over
from .item_sources import ItemSources

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response
    from scrapy.statscollectors import StatsCollector

    from ...masks.model import Mask
    from ..identity.identities import Identities
    from ..observe.site_masks import SiteMasks
    from ..settings.dedup_settings import DedupSettings
    from ..support.faults import Faults

#: Bytes of the longest page that is looked through for its links, which is done in the event loop.
LONGEST: Final = 100_000


@attrs.define(eq=False, repr=False)
class TransientContent:
    """The masks of a crawl at work."""

    settings: "DedupSettings"
    _stats: "StatsCollector"
    _identities: "Identities"
    masks: "SiteMasks"
    faults: "Faults"
    sources: ItemSources = attrs.field(factory=ItemSources, init=False)
    #: Whether links are to be marked.
    marks_links: bool = attrs.field(init=False)
    #: Whether a pipeline asks which response an item came from.
    has_pipeline: bool = attrs.field(default=False, init=False)
    _handed_over: "WeakKeyDictionary[Request, frozenset[str] | None]" = attrs.field(
        factory=WeakKeyDictionary, init=False
    )
    _pages: "WeakKeyDictionary[Response, TransientPage | None]" = attrs.field(factory=WeakKeyDictionary, init=False)
    _links: "WeakKeyDictionary[Response, frozenset[str]]" = attrs.field(factory=WeakKeyDictionary, init=False)

    def __attrs_post_init__(self) -> None:
        self.marks_links = self.settings.transient_links or self.settings.transient_priority > 0

    def note_response(self, request: "Request") -> None:
        """Remember for the pipeline what *request* hands over to its callback, which may put it into its items, and more into that."""
        if self.has_pipeline and self.masks and (strings := strings_handed_over(request)) != frozenset():
            self._handed_over[request] = strings

    def handed_over(self, response: "Response") -> frozenset[str] | None:
        """Return the strings that were handed over to the callback of a response; None where nobody could look into what was."""
        request = response.request
        return self._handed_over.get(request, frozenset()) if request is not None else frozenset()

    def note_item(self, item: Any, response: "Response") -> None:
        """Remember for the pipeline that *item* came from *response*."""
        if self.has_pipeline and item is not None:
            self.sources.note(item, response)

    def mask_of(self, response: "Response", *, links: bool = False) -> "Mask | None":
        """Return the mask that concerns a response; None if there is none or the response is to be left alone.

        With *links* it also hides where links lead whose texts it hides.
        """
        if not self.masks or not isinstance(response, HtmlResponse):
            return None
        request = response.request
        if request is not None and request.meta.get(SWITCH) is False:
            return None
        url = url_of(response)
        return self.masks.with_links_of(url) if links else self.masks.of(url)

    def page(self, response: "Response") -> TransientPage | None:
        """Return the page with its transient places; None if no mask concerns it, or it is too long."""
        try:
            return self._pages[response]
        except KeyError:
            pass
        page = None
        mask = self.mask_of(response, links=True)
        if mask is not None and len(response.body) <= self.settings.max_body:
            assert isinstance(response, HtmlResponse)
            page = TransientPage(mask.stripping, response.text, url_of(response), shown=self.settings.strip == "mark")
        self._pages[response] = page
        return page

    def mark_link(self, request: "Request", response: "Response") -> None:
        """Mark *request*, and lower its priority, if *response* links to it in transient places only."""
        if not self.masks or len(response.body) > LONGEST or request.method != "GET" or request.body:
            return
        links = self._links.get(response)
        if links is None:
            links = self._links[response] = self._links_of(response)
        if links and self._key(request.url) in links:
            request.meta[TRANSIENT_LINK] = True
            request.priority -= self.settings.transient_priority
            self._stats.inc_value("dedup/transient/links")

    def _links_of(self, response: "Response") -> frozenset[str]:
        """Return the keys of the pages to which links in transient places of a page lead, and no others."""
        page = self.page(response)
        if page is None or not page.cuts:
            return frozenset()
        base = get_base_url(response)  # type: ignore[arg-type]
        inside: set[str] = set()
        outside: set[str] = set()
        for address, is_hidden in page.links():
            (inside if is_hidden else outside).add(joined(base, address))
        # Most links stand outside, and what leads to one of these is not looked up.
        keys = {self._key(url) for url in inside - outside if url[:4].lower() == "http"}
        return frozenset(keys - {self._key(url) for url in outside if keys and url[:4].lower() == "http"})

    def _key(self, url: str) -> str:
        return self._identities.of_url(url).key


def url_of(response: "Response") -> str:
    """Return the URL under which a page is recorded."""
    return response.url if response.request is None else response.request.url
