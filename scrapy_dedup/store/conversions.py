"""From rows to the values of columns, and from the rows of the database to observations."""

from collections.abc import Callable
from typing import Any

from ..observation import Observation
from ..pages.sketch import Sketch
from ..pages.versions import Version
from ..urls.userinfo import without_userinfo
from .rows import DiscardRow, ObservationRow, SightingRow
from .schema import signed_hash


def observation_values(row: ObservationRow, sketch: int | None, version: int | None) -> tuple[Any, ...]:
    """Return the values of an observation, whose sketch and version have these ids, in the order of the columns."""
    url = clean_url(row.url)
    prints = row.fingerprints
    return (
        row.scope,
        row.site,
        url,
        signed_hash(url),
        row.time,
        row.status,
        row.redirect and clean_url(row.redirect),
        row.canonical and clean_url(row.canonical),
        dict(row.headers) if row.headers else None,
        row.length,
        prints and prints.text,
        prints and prints.bag,
        prints and prints.words,
        sketch,
        row.from_cache,
        clean(row.spider),
        version,
        row.ends,
        row.password,
        row.crawl,
        prints and prints.unseen,
    )


def discard_values(row: DiscardRow) -> tuple[Any, ...]:
    """Return the values of a discard in the order of the columns."""
    url = clean_url(row.url)
    return (
        row.scope,
        clean(row.spider),
        row.site,
        url,
        signed_hash(url),
        clean(row.rule),
        clean_url(row.key),
        clean_url(row.taken_for),
        row.time,
        row.callback and clean(row.callback),
        dict(row.meta) if row.meta else None,
        row.state.value,
        row.job,
    )


def sighting_values(row: SightingRow) -> tuple[Any, ...]:
    """Return the values of a sighting in the order of the columns."""
    page, link = clean_url(row.page), clean_url(row.link)
    return (
        row.scope,
        row.site,
        page,
        link,
        clean(row.key),
        clean(row.token),
        clean(row.lead),
        clean(row.prefix),
        signed_hash(page, link, clean(row.key), row.prefix),
        row.time,
    )


def clean(text: str) -> str:
    """Return *text* with escapes in the place of what no database takes (lone surrogates, and the character 0)."""
    text = text.replace("\0", "\\x00")
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def clean_url(url: str) -> str:
    """Return *url* as it is stored: clean, and without user name and password."""
    return clean(without_userinfo(url))


def learned_mark(site: str, scope: str = "") -> str:
    """Return the name under which is noted how far a site has been learned; without a scope, how all those names of it begin."""
    return f"learned/{site}/{scope}"


Unpack = Callable[[bytes | None], Version | None]
"""As :func:`version_in`; it may remember what it has unpacked before."""


def observation_of(row: Any, unpack: Unpack | None = None) -> Observation:
    """Return the observation in a row with its columns, the ``data`` of its sketch, and its ``version``."""
    return Observation(
        row.url,
        row.text or "",
        canonical=row.canonical,
        redirect=row.redirect,
        status=row.status,
        time=row.time,
        length=row.length,
        bag=row.bag,
        headers=row.headers,
        sketch=_sketch(row.data),
        words=row.words,
        version=(unpack or version_in)(row.version),
        ends=row.ends,
        password=row.password,
        crawl=row.crawl,
        unseen=row.unseen,
    )


def _sketch(data: bytes | None) -> Sketch | None:
    try:
        return None if data is None else Sketch.from_bytes(data)
    except ValueError:  # damaged, or of a later version: the fingerprints are there all the same
        return None


def version_in(data: bytes | None) -> Version | None:
    """Return the version of a page that is packed as *data*; None where there is none, or it cannot be read."""
    try:
        return None if data is None else Version.from_bytes(data)
    except ValueError:  # as above
        return None
