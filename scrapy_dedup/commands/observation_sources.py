"""Where the commands get their observations from: the store, or files that others have written."""

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING, NamedTuple

from ..store.database import database_path
from ..store.store import Store
from ..urls import site_of_url
from .problems import Mistake, Nothing

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..learning.alternation import StoredEvidence
    from ..learning.imported import ImportedEvidence
    from ..sources.reading import Reading

_DAY = 86_400
_CRAWL_FIRST = (
    "nothing is recorded in {}: run a crawl first (scrapy crawl NAME), with ADDONS = {{'scrapy_dedup.Addon': 600}} in "
    "settings.py; DEDUP_STORE says where it records"
)


class Sources(NamedTuple):
    """What to learn from instead of the store."""

    names: Sequence[str]

    def __str__(self) -> str:
        names = ["standard input" if name == "-" else name for name in self.names]
        return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


@contextmanager
def open_store(settings: "DedupSettings", *, readonly: bool = True) -> Iterator[Store]:
    """Open the store, which a crawl has to have made. Raises Nothing if none has."""
    path = database_path(settings.store)
    if path is not None and not path.exists():
        raise Nothing(_CRAWL_FIRST.format(path))
    with Store.open(settings.store, readonly=readonly) as store:
        yield store


@contextmanager
def evidence_in_store(settings: "DedupSettings", names: list[str]) -> "Iterator[StoredEvidence]":
    """Open what is recorded in the settings' scope, of the named sites or of all. Raises Nothing and Mistake."""
    from ..learning.alternation import StoredEvidence

    with open_store(settings) as store:
        known = {count.site for count in store.sites(settings.scope)}
        if not known:
            raise Nothing(_why_nothing(store, settings.scope))
        sites = {known_site(name, known, settings) for name in names} or known
        since = time() - settings.evidence_days * _DAY if settings.evidence_days else None
        with store.claimed(settings.scope, sites) as free:
            if not free:
                raise Nothing(f"another process learns {', '.join(sorted(sites))} now: try again when it has ended")
            yield StoredEvidence(store, settings.scope, sorted(free), since)


@contextmanager
def evidence_in_sources(settings: "DedupSettings", names: list[str], sources: Sources) -> "Iterator[ImportedEvidence]":
    """Read *sources*, of the named sites or of all, and say what could not be read. Raises Nothing, Mistake."""
    from ..crawl.observe.kept_texts import pack_of
    from ..learning.imported import ImportedEvidence
    from ..sources.pages import PageReader
    from ..sources.reading import Reading
    from ..sources.records import SourceError
    from .console import progress

    wanted = {site_named(name, settings) for name in names}
    pages = PageReader(settings.max_body, pack_of(settings), scrapys_encoding)
    with ImportedEvidence(settings.site_groups) as evidence:
        with progress(f"reading {sources}") as show:
            reading = Reading(sources.names, pages, lambda _, done, total: show(f"reading {sources}", done, total))
            try:
                added = evidence.add_all(reading.observations(), wanted)
            except SourceError as error:
                raise Mistake(str(error)) from None
        for line in reading.complaints():
            print(line, file=sys.stderr)
        if not added:
            of_them = f" of {', '.join(sorted(wanted))}" if wanted and reading.records else ""
            raise Nothing(f"there is no observation in {sources}{of_them}{_why_left_out(reading)}")
        yield evidence


def scrapys_encoding(content_type: str, body: bytes) -> str:
    """Return the encoding of a page, as the Scrapy that is installed finds it out."""
    from scrapy.http import HtmlResponse

    headers = {"Content-Type": content_type} if content_type else {}
    return HtmlResponse("", body=body, headers=headers).encoding


def _why_left_out(reading: "Reading") -> str:
    reasons = ", ".join(f"{why} {number:,}" for why, number in reading.left_out.most_common(3))
    return f"; left out were: {reasons}" if reasons else ""


def known_site(name: str, known: set[str], settings: "DedupSettings") -> str:
    """Return the recorded site that *name* means. Raises Mistake."""
    site = name if name in known else site_named(name, settings)
    if site not in known:
        there = ", ".join(sorted(known)) or "none"
        raise Mistake(f"nothing is recorded of {site}; the recorded sites are: {there}")
    return site


def site_named(name: str, settings: "DedupSettings") -> str:
    """Return the site that a user means by a site, a host or a URL."""
    return site_of_url(name if "://" in name else f"http://{name}", groups=settings.site_groups)


def _why_nothing(store: Store, scope: str) -> str:
    scopes = sorted({repr(count.scope) for count in store.sites()})
    if not scopes:
        return _CRAWL_FIRST.format(store.place)
    return (
        f"nothing is recorded in the scope {scope!r} of {store.place}, but in {', '.join(scopes)}: "
        "name a spider of that scope (--spider NAME) or set it (-s DEDUP_SCOPE=...)"
    )
