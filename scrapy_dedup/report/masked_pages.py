"""Masks drawn over stored pages: their texts in order, with the transient parts marked, and their transient attributes."""

from typing import TYPE_CHECKING, Final, Literal

from ..masks.page_report import places_on
from ..store.page_queries import versions_of_page
from ..urls.templates import template_of
from .data import AttributeRow, MaskedPage, MaskedText
from .differences import pieces_of, pieces_of_marked, shortened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..content.versions import Version
    from ..masks.model import Mask
    from ..store.store import Store
    from .seen_pages import SeenPages

#: Pages of a site that are shown, each of another URL template, and texts of each.
_PAGES: Final = 3
_TEXTS: Final = 300
_LOOKED_AT: Final = 12
_ATTRIBUTES: Final = 100


def masked_pages(store: "Store", scope: str, pages: "SeenPages", mask: "Mask | None") -> tuple[MaskedPage, ...]:
    """Return pages of a site with something transient on them, those first of which most is. Raises StoreError."""
    if mask is None or not mask.paths:
        return ()
    found = [_masked(pages.site, *page, mask) for page in _latest(store, scope, pages)]
    marked = {page.url: sum(bool(text.act) for text in page.texts) for page in found}
    telling = [page for page in found if marked[page.url] or page.attributes]
    return tuple(sorted(telling, key=lambda page: -marked[page.url])[:_PAGES])


def _latest(store: "Store", scope: str, pages: "SeenPages") -> "Iterator[tuple[str, float, Version]]":
    """Yield (URL, time, version) of the latest page of some URL templates of which it is kept."""
    met = set()
    for url in pages.urls:
        if url.version is not None and (template := template_of(url.url)) not in met:
            met.add(template)
            versions = versions_of_page(store, scope, pages.site, url.url)
            if versions:
                yield url.url, *versions[0]
            if len(met) >= _LOOKED_AT:
                return


def _masked(site: str, url: str, at: float, version: "Version", mask: "Mask") -> MaskedPage:
    stripped, compared = mask.hidden_of(version, url=url), mask.hidden_of(version, url=url, compared=True)
    texts, words, transient = [], 0, 0
    for index, (_, attribute, text) in enumerate(version.blocks):
        if attribute:
            continue
        number = len(text.split())
        words += number
        if index in stripped:
            transient += sum(end - start for start, end in stripped[index] or [(0, number)])
            texts.append(MaskedText("stripped", shortened(pieces_of(text, stripped[index]))))
        else:
            act: Literal["", "left-out"] = "left-out" if index in compared else ""
            texts.append(MaskedText(act, shortened(pieces_of(text, compared.get(index)))))
    attributes = [
        AttributeRow(place.path.css, place.path.attribute, shortened(pieces_of_marked(text), 200), place.act)
        for place in places_on(mask, version, url=url)
        if place.path.attribute
        for text in place.marked[:3]
    ]
    shown = tuple(texts[:_TEXTS])
    return MaskedPage(site, url, at, shown, len(texts) - len(shown), tuple(attributes[:_ATTRIBUTES]), words, transient)
