"""The places of a page beside what stood there before: the versions of it in the store, or else the example in the mask."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from ...crawl.observe.site_masks import with_links
from ...learning.phrases import moment
from ...masks.page_report import PlaceOnPage, places_on, texts_at
from ...masks.slots import shown_slot
from ...store.page_queries import versions_of_page
from ..inputs.observation_sources import open_store
from ..terminal.problems import Nothing

if TYPE_CHECKING:
    from ...content.versions import Version
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...masks.model import Mask

__all__ = ["ShownPage", "TaughtPlace", "stored_versions", "taught_places"]

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


@dataclass(frozen=True, slots=True)
class TaughtPlace:
    """A place of a page, and what stood there before: in a version of the page, or in the example of the mask."""

    place: PlaceOnPage
    before: tuple[str, ...] | None = None
    #: Seconds since 1970, of the version in the store.
    time: float | None = None
    #: (before, after) in the mask, where the store has no other text of this page.
    example: tuple[str, str] | None = None

    def to_json(self) -> dict[str, Any]:
        """Return what a line of JSON says of it."""
        path = self.place.path
        source = "store" if self.before is not None else "mask" if self.example is not None else None
        return {
            "type": "place",
            "act": self.place.act,
            "selector": path.selector,
            "attribute": path.attribute,
            "position": f"{path.position} of {path.of or 'any'}" if path.position else None,
            "css": path.css,
            "xpath": path.xpath,
            "kind": path.kind,
            "state": path.state or None,
            "text": shown_slot(path.slot, path.attribute),
            "now": list(self.place.texts),
            "marked": self.place.marked,
            "before": list(self.before) if self.before is not None else None,
            "before_from": source,
            "before_time": moment(self.time) if self.time is not None else None,
            "example": list(self.example) if self.example is not None else None,
            "changed": path.changes,
            "compared": path.opportunities,
            "pages": path.pages,
            "confidence": path.confidence,
        }


def taught_places(mask: "Mask", page: ShownPage) -> list[TaughtPlace]:
    """Return the places of a mask that a page has, each with the latest version of it that shows another text there."""
    found = []
    for place in places_on(mask, page.version, url=page.url, acting=with_links(mask)):
        versions = ((at, texts_at(place.path, version)) for at, version in page.before)
        other = next(((at, texts) for at, texts in versions if texts and texts != place.texts), None)
        if other is not None:
            found.append(TaughtPlace(place, other[1], other[0]))
        else:
            found.append(TaughtPlace(place, example=place.path.examples[0] if place.path.examples else None))
    return found


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
