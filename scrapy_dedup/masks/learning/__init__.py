"""Which parts of the pages of a site are transient: learned from versions of the same pages.

Our method; ``mode="seed"`` is that of the transient-content document, as it stands there.
"""

from .learn import learn_mask, mask_of

__all__ = ["learn_mask", "mask_of"]
