"""The masks of a crawl, by site."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...masks.files import load_masks

if TYPE_CHECKING:
    from ...masks.model import Mask
    from ..support.faults import Faults


class SiteMasks:
    """The masks in use; those of other sites are None."""

    def __init__(self, masks: Mapping[str, "Mask"], site_and_mode: Callable[[str], tuple[str, Any]]) -> None:
        self._site_and_mode = site_and_mode
        self._masks: dict[str, Mask] = {}
        #: The sites that have a mask under which pages are compared.
        self.sites: frozenset[str] = frozenset()
        self._with_links: dict[str, Mask] = {}
        self.use(masks)

    def __len__(self) -> int:
        return len(self._masks)

    def use(self, masks: Mapping[str, "Mask"]) -> None:
        """Use these masks, site -> mask, from now on, and no others."""
        # A mask that hides nothing costs nothing.
        self._masks = {site: mask for site, mask in masks.items() if mask.version}
        self.sites = frozenset(self._masks)
        self._with_links = {site: with_links(mask) for site, mask in self._masks.items()}

    def of(self, url: str) -> "Mask | None":
        """Return the mask under which pages of the site of *url* are compared and stripped; None without, and where the plug-in is off."""
        return self._find(url, self._masks)

    def of_site(self, site: str) -> "Mask | None":
        """Return the mask under which pages of a site are compared."""
        return self._masks.get(site)

    def with_links_of(self, url: str) -> "Mask | None":
        """As :meth:`of`: the mask that also hides where links lead whose texts it hides."""
        return self._find(url, self._with_links)

    def _find(self, url: str, masks: "Mapping[str, Mask]") -> "Mask | None":
        if not masks:
            return None
        site, mode = self._site_and_mode(url)
        return None if mode is None else masks.get(site)


def read_masks(directories: Iterable[Path], faults: "Faults") -> "dict[str, Mask]":
    """Return the masks of all sites; none where they cannot be read. Raises RuleFileError."""
    try:
        return load_masks(directories)
    except OSError:
        faults.report("masks", "The masks cannot be read, so that none is used")
        return {}


def with_links(mask: "Mask") -> "Mask":
    """Return *mask* so that it hides, too, where links lead of which it hides all that they say."""
    links = [
        replace(place, selector=f"{place.css.removesuffix('::text')}::attr(href)", attribute="href")
        for place in mask.places
        if place.slot is None and not place.typed and place.act == "strip" and is_link(place.css)
    ]
    known = {place.key for place in mask.places}
    return replace(mask, places=(*mask.places, *(link for link in links if link.key not in known)))


def is_link(css: str) -> bool:
    """Return whether CSS is of the texts of links.

    >>> is_link("body > div.ad > a.buy::text"), is_link("body > p::text"), is_link("a::attr(href)")
    (True, False, False)
    """
    return re.search(r"(?:^|[\s>])a(?:[#.\[:][^\s>]*)?::text$", css) is not None
