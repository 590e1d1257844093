"""Where the commands get its observations from: the store, or a file."""

from collections.abc import Iterator
from contextlib import contextmanager
from time import time
from typing import TYPE_CHECKING

from ..observation import Observation, read_jsonl
from ..store.database import database_path
from ..store.store import Store
from ..urls import site_of_url
from .problems import Mistake, Nothing

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..learning.alternation import StoredEvidence

_DAY = 86_400
_CRAWL_FIRST = (
    "nothing is recorded in {}: run a crawl first (scrapy crawl NAME), with ADDONS = {{'scrapy_dedup.Addon': 600}} in "
    "settings.py; DEDUP_STORE says where it records"
)


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
        yield StoredEvidence(store, settings.scope, sorted(sites), since)


def observations_in_file(settings: "DedupSettings", names: list[str], file: str) -> Iterator[Observation]:
    """Yield the observations of a file, of the named sites or of all. Raises Nothing."""
    wanted = {site_named(name, settings) for name in names}
    found = False
    for row in read_jsonl(file):
        if not wanted or site_of_url(row.url, groups=settings.site_groups) in wanted:
            found = True
            yield row
    if not found:
        raise Nothing(f"there is no observation in {file}" + (f" of {', '.join(sorted(wanted))}" if wanted else ""))


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
