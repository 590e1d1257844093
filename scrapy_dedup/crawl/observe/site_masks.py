"""The masks of a crawl, by site."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...masks.loading import load_masks

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
        self._stripping: dict[str, Mask] = {}
        self._with_links: dict[str, Mask] = {}
        self.use(masks)

    def __len__(self) -> int:
        return len(self._stripping)

    def use(self, masks: Mapping[str, "Mask"]) -> None:
        """Use these masks, site -> mask, from now on, and no others."""
        # A mask that hides nothing costs nothing.
        self._masks = {site: mask for site, mask in masks.items() if mask.version}
        self.sites = frozenset(self._masks)
        self._stripping = {site: mask for site, mask in masks.items() if mask.version or mask.strips}
        self._with_links = {site: with_links(mask) for site, mask in self._stripping.items()}

    def of(self, url: str) -> "Mask | None":
        """Return the mask under which pages of the site of *url* are compared; None without, and where the plug-in is off."""
        return self._find(url, self._masks)

    def stripping(self, url: str) -> "Mask | None":
        """As :meth:`of`: the mask by which pages are stripped, maybe of nothing but what nobody sees."""
        return self._find(url, self._stripping)

    def of_site(self, site: str) -> "Mask | None":
        """Return the mask under which pages of a site are compared."""
        return self._masks.get(site)

    def with_links_of(self, url: str) -> "Mask | None":
        """As :meth:`stripping`: the mask that also hides where links lead whose texts it hides."""
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
    """Return *mask*, and where links lead is hidden, too, if their whole texts are and other links have stood there.

    By itself a mask hides of addresses only what it is sure of, since pages are compared by their texts.
    """
    undecided = {
        path.selector
        for path in mask.paths
        if path.attribute == "href" and (path.kind, path.state) == ("undecided", "")
    }
    # They go where the texts do, on whatever kinds of pages that is.
    links = {
        (path.selector, path.position, path.of): replace(path, attribute="href", state="strip")
        for path in mask.paths
        if path.selector in undecided and path.is_hidden and path.slot is None and not path.attribute and not path.typed
    }
    if not links:
        return mask
    selectors = {selector for selector, _, _ in links}
    rest = [
        path
        for path in mask.paths
        if path.attribute != "href" or path.selector not in selectors or path.state or path.kind != "undecided"
    ]
    return replace(mask, paths=(*rest, *links.values()))
