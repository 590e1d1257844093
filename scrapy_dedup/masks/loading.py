"""The masks of sites, as their files in one or several directories have them."""

from typing import TYPE_CHECKING

from .files.mask_files import masks_in
from .model import Mask

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike

__all__ = ["load_masks"]


def load_masks(directories: "Iterable[str | PathLike[str]]") -> dict[str, Mask]:
    """Return the masks of all mask files in *directories*, by site; of several of a site see :func:`.merged_masks`.

    Raises RuleFileError for a faulty file, OSError for a directory that cannot be read.
    """
    return {site: Mask.of(found) for site, found in masks_in(directories).items()}
