"""Partial items: begun on one page, handed over by ``cb_kwargs`` or ``meta``, and given on the page of a later request.

Such a request is marked with a number, which its redirects and retries keep, and which a queue on disk takes. While it is under
way, compressed, the page on which the spider made it is kept, and those before that on which the same item was
begun; beside them digests of the strings that were handed over, so that it is known of a field which page it comes from.
"""

import zlib
from array import array
from collections import OrderedDict
from collections.abc import Iterator
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import attrs
from itemadapter import ItemAdapter
from xxhash import xxh3_64_intdigest

from ...masks.fields.visible_text import folded
from ..support.request_meta import BEGUN

if TYPE_CHECKING:
    from scrapy import Request
    from scrapy.http import Response

#: Requests under way whose pages are kept, and the bytes of these together, compressed.
MOST_REQUESTS: Final = 10_000
MOST_BYTES: Final = 16_777_216
#: Pages that an item may come from, beside that of its response.
MOST_STEPS: Final = 4
#: Strings that are looked for in what a request hands over, and how deep.
_MOST_STRINGS: Final = 64
_DEPTH: Final = 5
#: What Scrapy and others write into a request's meta, about the request.
_ABOUT_REQUESTS: Final = frozenset(
    "bindaddress cookiejar depth dont_cache dont_merge_cookies dont_obey_robotstxt dont_redirect dont_retry "
    "allow_offsite give_up_log_level handle_httpstatus_all handle_httpstatus_list is_start_request max_retry_times "
    "proxy referrer_policy rule verbatim_url".split()
)
_ABOUT: Final = ("dedup", "download_", "ftp_", "http", "playwright", "redirect_", "retry_", "splash", "zyte_")


class KeptPage:
    """The HTML of a page, compressed."""

    __slots__ = ("_packed", "url", "users")

    def __init__(self, html: str, url: str) -> None:
        self._packed = zlib.compress(html.encode("utf-8", "surrogatepass"), 1)
        #: Under which it is recorded.
        self.url = url
        #: Requests for which it is kept.
        self.users = 0

    @property
    def size(self) -> int:
        """Bytes that it takes."""
        return len(self._packed)

    @property
    def html(self) -> str:
        """The HTML."""
        return zlib.decompress(self._packed).decode("utf-8", "surrogatepass")


class HandOver(NamedTuple):
    """What a request hands over from one page to the next."""

    #: Digests of the strings that it handed over.
    strings: "array[int]"
    #: The page on which the spider made it; None if nothing is known to pass there.
    page: KeptPage | None

    def handed_over(self, string: str) -> bool:
        """Whether a string was among what was handed over."""
        return _digest(string) in self.strings


@attrs.define(eq=False, repr=False)
class PartialItems:
    """The pages on which the partial items under way were begun."""

    _most: int = MOST_REQUESTS
    _most_bytes: int = MOST_BYTES
    _run: str = attrs.field(factory=lambda: token_hex(4), init=False)
    _bytes: int = attrs.field(default=0, init=False)
    _number: int = attrs.field(default=0, init=False)
    #: Mark of a request -> its steps, the last one first.
    _steps: OrderedDict[str, tuple[HandOver, ...]] = attrs.field(factory=OrderedDict, init=False)
    #: Those of responses that have come.
    _come: "WeakKeyDictionary[Response, tuple[HandOver, ...]]" = attrs.field(factory=WeakKeyDictionary, init=False)

    def __len__(self) -> int:
        return len(self._steps)

    @property
    def size(self) -> int:
        """Bytes that the pages take."""
        return self._bytes

    def note(self, request: "Request", response: "Response", page: KeptPage | None) -> None:
        """Note that the spider has made *request*, which hands something over, on *page*, that of *response*."""
        steps = (HandOver(_strings_of(request), page), *self.of(response))[:MOST_STEPS]
        if not any(step.page for step in steps):
            return
        self._number += 1
        mark = request.meta[BEGUN] = f"{self._run} {self._number}"
        self._steps[mark] = steps
        for step in steps:
            if step.page is not None:
                if not step.page.users:
                    self._bytes += step.page.size
                step.page.users += 1
        while self._steps and (len(self._steps) > self._most or self._bytes > self._most_bytes):
            self._forget(next(iter(self._steps)))

    def of(self, response: "Response") -> tuple[HandOver, ...]:
        """Return the steps that have led to a response, the last one first."""
        steps = self._come.get(response)
        if steps is None:
            mark = _mark_of(response.request)
            steps = self._steps.get(mark, ()) if mark else ()
            if steps:
                self._come[response] = steps
        return steps

    def is_forgotten(self, response: "Response") -> bool:
        """Whether something was handed over to a response from a page that is not kept any more."""
        return bool(_mark_of(response.request)) and not self.of(response)

    def done(self, request: "Request | None") -> None:
        """Note that the callback of a request is done, or that it is dropped; the pages of its items go with these."""
        mark = _mark_of(request)
        if mark:
            self._forget(mark)

    def _forget(self, mark: str) -> None:
        for step in self._steps.pop(mark, ()):
            if step.page is not None:
                step.page.users -= 1
                if not step.page.users:
                    self._bytes -= step.page.size


def hands_over(request: "Request") -> bool:
    """Whether a request hands something to its callback that may be, or hold, content of a page."""
    return any(not isinstance(value, bool | int | float | None) for value in _handed_over(request))


def carries_in_meta(request: "Request") -> bool:
    """Whether a request hands something over in its meta that items may be made of; texts of links are none."""
    return any(
        name != "link_text" and not isinstance(value, bool | int | float | None) for name, value in _own_meta(request)
    )


def _handed_over(request: "Request") -> Iterator[Any]:
    yield from request.cb_kwargs.values()
    for _, value in _own_meta(request):
        yield value


def _own_meta(request: "Request") -> Iterator[tuple[Any, Any]]:
    """Yield what of a request's meta is neither Scrapy's nor that of an extension."""
    for name, value in request.meta.items():
        if name not in _ABOUT_REQUESTS and not (isinstance(name, str) and name.startswith(_ABOUT)):
            yield name, value


def _strings_of(request: "Request") -> "array[int]":
    found: dict[str, None] = {}
    for value in _handed_over(request):
        for string in _strings_in(value, _DEPTH):
            if len(found) >= _MOST_STRINGS:
                break
            found[string] = None
    return array("Q", map(_digest, found))


def _strings_in(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        if not value.isspace():
            yield value
    elif depth:
        parts: Any = ()
        if isinstance(value, list | tuple | set | frozenset):
            parts = value
        elif ItemAdapter.is_item(value):
            parts = ItemAdapter(value).values()
        for part in parts:
            yield from _strings_in(part, depth - 1)


def _digest(string: str) -> int:
    """Return the same for a string with other white space, or in another case."""
    return xxh3_64_intdigest(folded("".join(string.split())).encode("utf-8", "surrogatepass"))


def _mark_of(request: "Request | None") -> str:
    mark = request.meta.get(BEGUN) if request is not None else None
    return mark if isinstance(mark, str) else ""
