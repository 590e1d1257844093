"""The reach of a mask: on which pages of its site it acts, and what was seen to change on pages such as these."""

from collections.abc import Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from xxhash import xxh3_64_hexdigest

from ...urls.templates import template_of
from ..css_xpath import SUBTREE_SUFFIX
from ..path import Template, TransientPath
from .plan import PageKind, Row

if TYPE_CHECKING:
    from ...content.versions import Version

__all__ = ["Reach"]


class Reach:
    """The pages on which the paths *acting* act.

    *templates* and *layouts* are those of the mask: kinds of pages of which some were seen in two versions.
    """

    def __init__(
        self, acting: Sequence[TransientPath], templates: AbstractSet[Template], layouts: AbstractSet[str]
    ) -> None:
        self._acts = bool(acting)
        self._templates = templates
        self._layouts = layouts
        self._selectors = frozenset([path.selector for path in acting if not path.selector.endswith(SUBTREE_SUFFIX)])
        #: Whether something acts on URL templates of any name, and those on which something does.
        self._is_everywhere = any(path.everywhere for path in acting)
        self._reached = templates | {template for path in acting for template in path.templates}
        #: Those where it is not known whether something is to act.
        self._untested = frozenset(template for path in acting for template in path.untested)

    def applies_to(self, url: str | None) -> bool:
        """Return whether something may act on the page at *url*; on that of an unknown URL it may."""
        if not self._acts:
            return False
        return url is None or not self._templates or self._is_everywhere or template_of(url) in self._reached

    def layout(self, rows: Iterable[Row]) -> str:
        """Return a digest of the places of a page, without those where something may act: 16 hexadecimal digits."""
        found = sorted({row[0] for row in rows if not row[1]} - self._selectors)
        return xxh3_64_hexdigest("\n".join(found).encode("utf-8", "surrogatepass"))

    def is_verified(self, version: "Version", url: str | None) -> bool:
        """Return whether it was seen what changes on pages of the URL template of a page, or with the same places, and nothing is untested."""
        page = self.kind(version.blocks, url)
        return page.is_known and page.template not in self._untested

    def kind(self, rows: Sequence[Row], url: str | None, *, carried: bool = False) -> PageKind:
        """Return what plans must know of a page; what was learned elsewhere is true of it, too, where it is *carried*."""
        if url is None:
            return PageKind()
        template = template_of(url)
        if not self._templates or template in self._templates:
            return PageKind(template, is_carried=carried)
        verified = carried or (bool(self._layouts) and self.layout(rows) in self._layouts)
        return PageKind(template, is_seen=False, is_verified=verified, is_carried=carried)
