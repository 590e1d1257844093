"""Mask files that a test finds in its directory."""

from pathlib import Path
from typing import TYPE_CHECKING

from scrapy_dedup.masks.files.mask_files import path_of_mask
from scrapy_dedup.masks.model import Mask

if TYPE_CHECKING:
    from os import PathLike


def save_mask(directory: "str | PathLike[str]", mask: Mask) -> Path:
    """Write *mask* into the file of its site in *directory*, and return its path."""
    return mask.save(path_of_mask(directory, mask.site))
