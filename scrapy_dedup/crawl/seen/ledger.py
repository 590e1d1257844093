"""The ledger: each filtered URL with the rule that filtered it and the page it was taken for.

A row holds what is needed to make the request again, in JSON. What JSON cannot hold is
left out and named in a warning once; so are secrets: cookies, proxies, and the headers
that carry credentials.
"""

import json
import logging
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

import attrs
from scrapy import Request

from ...store.rows import DiscardRow, DiscardState
from ..identity.callbacks import DEFAULT, CallbackNames
from ..identity.identities import UrlIdentity
from ..support.request_meta import OWN

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_store import CrawlStore

logger = logging.getLogger(__name__)

#: Discarded requests that are kept in memory, since JSON cannot hold them.
MOST_WHOLE: Final = 20_000
#: What a row's ``meta`` holds of a request besides its meta, under this name.
REST: Final = "dedup_request"

_QUEUED: Final = "queued"

# Of one response or one attempt, or about the way to the site: not a part of the request.
_PASSING: Final = frozenset(
    {
        *OWN,
        "_auth_proxy",
        "_dont_cache",
        "_scheme_proxy",
        "cache_timestamp",
        "download_latency",
        "download_slot",
        "is_start_request",
        "proxy",
        "redirect_reasons",
        "redirect_times",
        "redirect_ttl",
        "redirect_urls",
        "retry_times",
    }
)
_SECRET_HEADERS: Final = frozenset({"authorization", "cookie", "proxy-authorization"})


def passing(name: str) -> bool:
    """Whether what ``Request.meta`` has under *name* is about one response or one attempt only."""
    return name in _PASSING


def had_passed(row: DiscardRow) -> bool:
    """Whether the wrapped filter had let a filtered request of this job pass: it was queued when the gate, or a kill, came."""
    return row.state is DiscardState.LOST or bool((row.meta or {}).get(REST, {}).get(_QUEUED))


@attrs.define(eq=False, repr=False)
class Ledger:
    """Writes discards, and makes requests of them again."""

    _settings: "DedupSettings"
    _names: CallbackNames
    _store: "CrawlStore"
    written: int = attrs.field(default=0, init=False)
    dropped: int = attrs.field(default=0, init=False)
    #: Requests that were filtered in this run.
    discards: int = attrs.field(default=0, init=False)
    #: The name of the spider, once a request of it was filtered: it is made after the components.
    _spider: str = attrs.field(default="", init=False)
    _warned: set[str] = attrs.field(factory=set, init=False)
    #: What JSON cannot hold, by URL and callback: in this run it is made again as it was.
    _whole: dict[tuple[str, str | None], Request] = attrs.field(factory=dict, init=False)

    def discard(
        self, request: Request, identity: UrlIdentity, *, rule: str, taken_for: str, job: str, queued: bool = False
    ) -> DiscardRow | None:
        """Write that *request* was filtered, *queued* if by the gate; return the row, None if it is not in the ledger."""
        limit = self._settings.store_max_rows
        if limit is not None and self.discards >= limit:
            self.dropped += 1
            self._warn("", "The ledger of filtered requests is full (DEDUP_STORE_MAX_ROWS): nothing more is filtered")
            return None
        callback = identity.callback
        if callback != DEFAULT and not self._names.has(callback):  # the request could not be made again
            return None
        meta, whole = self._what_json_holds(request)
        if not whole and len(self._whole) >= MOST_WHOLE:
            self.dropped += 1
            self._warn(
                "whole",
                f"{MOST_WHOLE} filtered requests that cannot be kept in the ledger as they are wait in memory: no more "
                "of this kind are filtered",
            )
            return None
        if not self._spider:
            self._spider = self._names.spider.name
        if queued:
            meta.setdefault(REST, {})[_QUEUED] = True
        row = DiscardRow(
            scope=self._settings.scope,
            spider=self._spider,
            site=identity.site,
            url=request.url,
            rule=rule,
            key=identity.key,
            taken_for=taken_for,
            time=time.time(),
            callback=callback,
            meta=meta,
            job=job,
        )
        if not self._put(row):
            return None
        if not whole:
            self._whole[row.url, row.callback] = request
        self.discards += 1
        return row

    def scheduled(self, row: DiscardRow, state: DiscardState) -> None:
        """Write that a discard was scheduled after all."""
        self._put(row._replace(state=state, id=None))

    def _put(self, row: DiscardRow) -> bool:
        writer = self._store.writer
        if writer is not None and writer.add(row):
            self.written += 1
            return True
        self.dropped += 1
        return False

    def request(self, row: DiscardRow) -> Request | None:
        """Return the request that was filtered; None if its callback is not known any more."""
        if not self._names.has(row.callback):
            return None
        whole = self._whole.get((row.url, row.callback))
        if whole is not None:
            return whole.replace(meta={name: value for name, value in whole.meta.items() if not passing(name)})
        meta = dict(row.meta or {})
        rest = meta.pop(REST, None) or {}
        return Request(
            row.url,
            callback=self._names.method(row.callback),
            errback=self._names.method(rest.get("errback")),
            headers=rest.get("headers"),
            priority=rest.get("priority", 0),
            dont_filter=rest.get("dont_filter", False),
            flags=rest.get("flags"),
            cb_kwargs=rest.get("cb_kwargs"),
            meta=meta,
        )

    def _what_json_holds(self, request: Request) -> tuple[dict[str, Any], bool]:
        """Return what a row keeps of *request*, and whether that is all of it."""
        lost: list[str] = []
        kept = _json_safe(request.meta, "meta", lost)
        rest: dict[str, Any] = {}
        if request.cb_kwargs:
            rest["cb_kwargs"] = _json_safe(request.cb_kwargs, "cb_kwargs", lost)
        headers = {
            name.decode("latin-1"): [value.decode("latin-1") for value in values]
            for name, values in request.headers.items()
            if name.decode("latin-1").lower() not in _SECRET_HEADERS
        }
        lost += [f"headers[{name.decode('latin-1')!r}]" for name in request.headers if _is_secret(name)]
        if request.cookies:
            lost.append("cookies")
        if request.errback is not None:
            name = self._names.errback_name(request)
            if name is None:
                lost.append("errback")
            else:
                rest["errback"] = name
        for attribute in ("priority", "dont_filter", "flags"):
            if getattr(request, attribute):
                rest[attribute] = getattr(request, attribute)
        if headers:
            rest["headers"] = headers
        if rest:
            kept[REST] = rest
        for what in lost:
            self._warn(
                what,
                f"{what} of filtered requests cannot be kept in the ledger: should {request} be fetched after all "
                "in a later run, it will lack that (told once)",
            )
        return kept, not lost

    def _warn(self, what: str, message: str) -> None:
        if what not in self._warned:
            self._warned.add(what)
            logger.warning(message)


def _is_secret(name: bytes) -> bool:
    return name.decode("latin-1").lower() in _SECRET_HEADERS


def _json_safe(values: Mapping[Any, Any], where: str, lost: list[str]) -> dict[str, Any]:
    """Return the part of *values* that JSON gives back as it is; name the others in *lost*."""
    kept = {}
    for name, value in values.items():
        if where == "meta" and name in _PASSING:
            continue
        try:
            same = isinstance(name, str) and json.loads(json.dumps(value, allow_nan=False)) == value
        except (TypeError, ValueError, RecursionError):
            same = False
        if same:
            kept[name] = value
        else:
            lost.append(f"{where}[{name!r}]")
    return kept
