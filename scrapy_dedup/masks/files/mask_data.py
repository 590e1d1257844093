"""What a mask file says of a site."""

from dataclasses import dataclass
from typing import Literal

from ..path import Template, TransientPath

__all__ = ["MaskData", "Mode"]

Mode = Literal["default", "seed"]


@dataclass(frozen=True, slots=True)
class MaskData:
    """The data of a mask, as its file has them; a :class:`scrapy_dedup.Mask` of them applies them to pages.

    The fields are those of that mask; ``paths`` are sorted.
    """

    site: str = ""
    paths: tuple[TransientPath, ...] = ()
    mode: Mode = "default"
    templates: frozenset[Template] = frozenset()
    layouts: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        object.__setattr__(self, "paths", tuple(sorted(self.paths, key=lambda path: path.key)))
