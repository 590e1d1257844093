"""What a request hands over to its callback: items that are made of it come, in part, from another page."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from itemadapter import ItemAdapter

if TYPE_CHECKING:
    from scrapy import Request

#: What Scrapy and others write into a request's meta, about the request.
_ABOUT_REQUESTS: Final = frozenset(
    "bindaddress cookiejar depth dont_cache dont_merge_cookies dont_obey_robotstxt dont_redirect dont_retry "
    "allow_offsite give_up_log_level handle_httpstatus_all handle_httpstatus_list is_start_request link_text max_retry_times "
    "proxy referrer_policy rule verbatim_url".split()
)
_ABOUT: Final = ("dedup", "download_", "ftp_", "http", "playwright", "redirect_", "retry_", "splash", "zyte_")
#: Values of types of these modules hold no strings, unless they are containers.
_PLAIN: Final = ("builtins", "datetime", "decimal")
_DEPTH: Final = 5


def carries_in_meta(request: "Request") -> bool:
    """Whether a request hands something over in its meta that items may be made of; texts of links are none."""
    return any(not isinstance(value, bool | int | float | None) for value in _own_meta(request))


def strings_handed_over(request: "Request") -> frozenset[str] | None:
    """Return the strings that a request hands over, as :func:`squeezed` makes them; None where nobody can look into a value."""
    found = set()
    for value in (*request.cb_kwargs.values(), *_own_meta(request)):
        for string in _strings_in(value, _DEPTH):
            if string is None:
                return None
            found.add(squeezed(string))
    return frozenset(found)


def squeezed(string: str) -> str:
    """Return the same for a string with other white space, or in another case."""
    return "".join(string.split()).casefold()


def _own_meta(request: "Request") -> Iterator[Any]:
    """Yield what of a request's meta is neither Scrapy's nor that of an extension."""
    for name, value in request.meta.items():
        if name not in _ABOUT_REQUESTS and not (isinstance(name, str) and name.startswith(_ABOUT)):
            yield value


def _strings_in(value: Any, depth: int) -> Iterator[str | None]:
    is_item = ItemAdapter.is_item(value)
    if isinstance(value, str):
        yield value
    elif is_item or isinstance(value, list | tuple | set | frozenset):
        if not depth:
            yield None
            return
        for part in ItemAdapter(value).values() if is_item else value:
            yield from _strings_in(part, depth - 1)
    elif type(value).__module__ not in _PLAIN:
        yield None
