"""The masks of a crawl, by site."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ..content.mask import Mask

__all__ = ["Masks"]


class Masks:
    """The masks that are used; those of other sites are None."""

    def __init__(self, masks: Mapping[str, "Mask"], site_and_mode: Callable[[str], tuple[str, Any]]) -> None:
        self._site_and_mode = site_and_mode
        self._masks: dict[str, Mask] = {}
        self.use(masks)

    def __len__(self) -> int:
        return len(self._masks)

    @property
    def sites(self) -> frozenset[str]:
        """The sites that have a mask."""
        return frozenset(self._masks)

    def use(self, masks: Mapping[str, "Mask"]) -> None:
        """Use these masks, site -> mask, from now on, and no others."""
        # A mask that hides nothing costs nothing.
        self._masks = {site: mask for site, mask in masks.items() if mask.version}

    def of(self, url: str) -> "Mask | None":
        """Return the mask of the site of *url*; None without one, and where the plug-in is off."""
        if not self._masks:
            return None
        site, mode = self._site_and_mode(url)
        return None if mode is None else self._masks.get(site)
