"""What is written into ``Request.meta``: by the plug-in, and by Scrapy's redirects.

Spiders hand on a response's meta to the requests for its links. So a request is told
apart, where it comes out of the spider, from the one whose meta it has.
"""

from collections.abc import Sequence
from secrets import token_hex
from typing import Final

from scrapy import Request
from xxhash import xxh3_64_hexdigest

#: False leaves a request alone.
SWITCH: Final = "dedup"
#: The canonical key of a response's own URL.
KEY: Final = "dedup_key"
#: What the dupe filter has compared, in which run, and as what: by that the gate, and whoever follows its response, know it.
CHECKED: Final = "dedup_checked"
#: A digest of the URL of a request that the spider starts with.
START: Final = "dedup_start"
#: How many of ``redirect_urls`` are those of another request, whose meta was copied.
COPIED: Final = "dedup_copied"
#: A discard that is fetched all the same, to see whether its rule is right: its run and a digest of its URL.
SAMPLE: Final = "dedup_sample"
#: What a spot check is to show, for the worker of a fleet that fetches it.
SAMPLE_OF: Final = "dedup_sample_of"
#: Set if the page on which the spider found the link has it in a transient place only.
TRANSIENT_LINK: Final = "dedup_transient_link"
#: A digest of the URL of a request that is fetched late, since it may be a duplicate.
POSTPONED: Final = "dedup_postponed"
#: Set while a postponed request goes back into the queue, for the dupe filter, which takes it out.
PUT_BACK: Final = "dedup_put_back"
#: Set while a duplicate goes back to the dupe filter, which drops it as Scrapy drops any other.
DUPLICATE: Final = "dedup_duplicate"
#: Set while a filtered request is scheduled after all, likewise: whether this crawl has filtered it, and whether the
#: wrapped filter has let it pass before.
RESCHEDULED: Final = "dedup_rescheduled"
#: Those that are about one request only.
OWN: Final = (
    CHECKED, COPIED, DUPLICATE, KEY, POSTPONED, PUT_BACK, RESCHEDULED, SAMPLE, SAMPLE_OF, START, TRANSIENT_LINK,
)  # fmt: skip
_SENT: Final = " sent"
#: What may stand in a meta that was copied from a response's.
_COPIES: Final = frozenset({CHECKED, TRANSIENT_LINK, SAMPLE, SAMPLE_OF, START, COPIED, POSTPONED, "redirect_urls"})


def mark_new(request: Request, *, start: bool = False) -> None:
    """Mark what comes out of the spider as a request of its own, *start* if the spider starts with it."""
    meta = request.meta
    if _COPIES.isdisjoint(meta):  # as nearly always, and pages have hundreds of links
        if start:
            meta[START] = digest(request.url)
        return
    meta.pop(CHECKED, None)
    meta.pop(TRANSIENT_LINK, None)
    meta.pop(SAMPLE, None)
    meta.pop(SAMPLE_OF, None)
    meta.pop(POSTPONED, None)
    if start:
        meta[START] = digest(request.url)
    else:
        meta.pop(START, None)
    copied = meta.get("redirect_urls")
    if copied:
        meta[COPIED] = len(copied)
    else:
        meta.pop(COPIED, None)


def as_duplicate(request: Request) -> Request:
    """Return *request* as one that the dupe filter drops: without a callback, an errback or a count of exceptions."""
    duplicate = request.replace(dont_filter=False)
    for name in (CHECKED, SAMPLE, SAMPLE_OF):
        duplicate.meta.pop(name, None)
    duplicate.meta[DUPLICATE] = True
    return duplicate


def note_sent(request: Request) -> None:
    """Mark *request* as one that has come through the gate, if the dupe filter has compared it."""
    mark = request.meta.get(CHECKED)
    if isinstance(mark, str):
        request.meta[CHECKED] = mark + _SENT


def is_sent(mark: object) -> bool:
    """Whether the one that a mark was made for has come through the gate: this request is a copy of it."""
    return isinstance(mark, str) and mark.endswith(_SENT)


def is_checked(request: Request) -> bool:
    """Whether the dupe filter has compared *request*, or one whose redirects have led to it."""
    return _compared_as(request) is not None


def compared_context(request: Request) -> str | None:
    """Return the context under which the dupe filter has compared *request*, whatever was put into it since; None if it has not."""
    compared = _compared_as(request)
    return None if compared is None else compared[2]


def _compared_as(request: Request) -> tuple[str, str, str] | None:
    """Return the digest of the URL, the slot and the context under which the dupe filter has compared *request*, if it has."""
    mark = request.meta.get(CHECKED)
    parts = mark.removesuffix(_SENT).split(" ") if isinstance(mark, str) else ()
    if len(parts) != 4 or not is_digest_of(parts[1], request):
        return None
    return parts[1], parts[2], parts[3]


def redirects_to(request: Request) -> Sequence[str]:
    """Return the URLs whose redirects have led to *request*, the first one first."""
    meta = request.meta
    urls: Sequence[str] = meta.get("redirect_urls") or ()
    return urls[meta.get(COPIED, 0) :] if urls else urls


def is_start(request: Request) -> bool:
    """Whether the spider starts with *request*, or with one whose redirects have led to it."""
    mark = request.meta.get(START)
    return mark is not None and is_digest_of(mark, request)


def is_digest_of(mark: str, request: Request) -> bool:
    """Whether *mark* is the digest of the URL of *request*, or of one whose redirects have led to it."""
    return digest(request.url) == mark or any(digest(url) == mark for url in redirects_to(request))


def digest(url: str) -> str:
    """Return a short text for *url*."""
    return xxh3_64_hexdigest(url.encode("utf-8", "surrogatepass"))


class RunMarks:
    """Marks of compared requests, by which the gate knows those of this run of the job and of the rules in use."""

    def __init__(self) -> None:
        self._run = token_hex(4)

    def mark(self, request: Request, slot: int, context: str) -> None:
        """Mark *request* as compared under a slot and a context."""
        request.meta[CHECKED] = f"{self._run} {digest(request.url)} {slot} {context}"

    def slot_of(self, request: Request) -> int | None:
        """Return the slot under which *request* was compared by the rules in use; None if it was not."""
        if not self.is_fresh(request.meta.get(CHECKED)):
            return None
        compared = _compared_as(request)
        return int(compared[1]) if compared is not None and compared[0] == digest(request.url) else None

    def renew(self) -> None:
        """Let all marks be stale, as there are other rules now."""
        self._run = token_hex(4)

    def is_fresh(self, mark: object) -> bool:
        """Whether *mark* was made in this run, under the rules in use."""
        return isinstance(mark, str) and mark.startswith(self._run)
