"""The masks of one site from several directories, as one: a reviewed one and a learned one, say."""

from collections.abc import Sequence
from dataclasses import replace

from ...urls.templates import in_order
from ..path import Template, TransientPath
from .mask_data import MaskData

__all__ = ["merged_masks"]

_WEIGHT = {"keep": 0, "strip": 1, "": 2}
"""By the state of a path: what the user said counts before what was learned, and of that what takes nothing away."""


def merged_masks(masks: Sequence[MaskData]) -> MaskData:
    """Return one mask of a site from *masks*, one or more, path by path: what they say of different paths adds up.

    Of two of the same path the one that the user keeps counts, else the one that the user strips, else the first. Each
    path stays true of the kinds of pages of its own mask; what is carried over from them acts on no others that only another
    mask knows. Masks of another mode than the first one's are left aside: their paths mean something else.
    """
    masks = [mask for mask in masks if mask.mode == masks[0].mode]
    if len(masks) == 1:
        return masks[0]
    templates: frozenset[Template] = frozenset().union(*[mask.templates for mask in masks])
    if not all(mask.templates for mask in masks):
        templates = frozenset()  # one is for all kinds
    found: dict[tuple[str, str, int, int], TransientPath] = {}
    for mask in masks:
        kinds = () if mask.templates == templates else in_order(mask.templates)
        for path in mask.paths:
            known = found.get(path.key)
            if known is None or _WEIGHT[path.state] < _WEIGHT[known.state]:
                found[path.key] = _of_its_mask(path, mask, templates, kinds)
    layouts = frozenset[str]().union(*[mask.layouts for mask in masks])
    return replace(masks[0], paths=tuple(found.values()), templates=templates, layouts=layouts)


def _of_its_mask(
    path: TransientPath, mask: MaskData, templates: frozenset[Template], kinds: tuple[Template, ...]
) -> TransientPath:
    """Return a path of *mask* so that it acts as it did there when the mask knows other *templates*; empty stands for all."""
    if not path.everywhere:
        return path if path.templates else replace(path, templates=kinds)
    if path.typed or mask.templates == templates:
        return path
    if templates:
        return replace(path, excepted=in_order({*path.excepted, *(templates - mask.templates)}))
    # Of all pages something would have been seen to change: what has been is told by the templates of its mask alone.
    known = mask.templates.difference(path.excepted, path.untested)
    return replace(
        path,
        everywhere=False,
        excepted=(),
        untested=(),
        templates=in_order(known),
        kind=path.kind if known else "undecided",
    )
