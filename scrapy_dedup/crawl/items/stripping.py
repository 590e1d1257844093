"""Stripped responses for spiders, whose selectors see stable content only."""

from typing import TYPE_CHECKING, TypeVar
from weakref import WeakKeyDictionary, ref

from scrapy.http import HtmlResponse

from .transient_content import url_of

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

    from ...masks.model import Mask
    from .transient_content import TransientContent

R = TypeVar("R", bound="Response")

#: By request, as a response that a spider has changed still has its request.
_crawls: "WeakKeyDictionary[Request, ref[TransientContent]]" = WeakKeyDictionary()


def remember_crawl(request: "Request", transient: "TransientContent") -> None:
    """Let :func:`strip_transient` find the masks for responses to *request*."""
    _crawls[request] = ref(transient)


def strip_transient(response: R, mask: "Mask | None" = None) -> R:
    """Return a response like *response*, of its class and with its URL and meta, without transient content.

    The mask is that of the response's site in the crawl that it belongs to, or *mask*. Where there is none, and for a response that is not HTML, *response* itself is returned, and so it is
    where nothing on the page is transient. Should the crawl's mask fail, *response* is
    returned, and the log says so once: it raises nothing.

    Source: transient-content, FIG. 4A and 4B.

    .. code-block:: python

        def parse(self, response):
            stable = scrapy_dedup.strip_transient(response)
            yield {"text": stable.css("main ::text").getall()}
    """
    if not isinstance(response, HtmlResponse):
        return response
    if mask is not None:
        return _replaced(response, mask.strip(response.text, url=url_of(response)))
    request = response.request
    crawl = _crawls.get(request) if request is not None else None
    transient = crawl() if crawl is not None else None
    if transient is None:
        return response
    try:
        found = transient.mask_of(response)
        if found is None:
            return response
        return _replaced(response, found.strip(response.text, url=url_of(response)))
    except Exception:  # noqa: BLE001 (whatever it is, the spider goes on)
        transient.faults.report("strip", "Transient content could not be stripped from a response")
        return response


def _replaced(response: R, text: str) -> R:
    assert isinstance(response, HtmlResponse)
    if text == response.text:
        return response
    encoding = response.encoding
    try:
        body = text.encode(encoding)
    except (LookupError, UnicodeEncodeError):  # what could not be decoded was replaced
        encoding = "utf-8"
        body = text.encode(encoding, "replace")
    return response.replace(body=body, encoding=encoding)
