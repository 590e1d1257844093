"""What a mask strips of what nobody sees of a page: attributes, scripts and comments. Pages are never compared by it."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet

from ..content.tokens import Block
from ..content.unseen import unseen_blocks
from ..urls.templates import template_of
from .plan import PageKind, Plan, Ranges, Row
from .spans import Span, by_place, unseen_spans

__all__ = ["UnseenPlan"]


class UnseenPlan:
    """A plan for what nobody sees; *templates* are the URL templates of which it strips something, None for all."""

    def __init__(self, plan: Plan, templates: AbstractSet[tuple[object, ...]] | None) -> None:
        self._plan = plan
        self._templates = templates

    def __bool__(self) -> bool:
        """Whether it strips anything."""
        return bool(self._plan)

    def acts_on(self, url: str | None) -> bool:
        """Whether it may strip something of the page at *url*; of that of an unknown URL it may."""
        return bool(self) and (url is None or self._templates is None or template_of(url) in self._templates)

    def hidden(self, rows: Iterable[Row], page: PageKind) -> Mapping[int, Ranges]:
        """Return what is stripped of each row, by its index."""
        return self._plan.hidden(rows, page)

    def spans(self, html: str, page: PageKind, other: str | None = None) -> Sequence[Span]:
        """Return the offsets of what is stripped of a *page*, where there is an *other* version of what differs from that."""
        found = unseen_blocks(html)
        rows = _rows_of(found)
        hidden = self._plan.hidden(rows, page)
        if other is not None and hidden:
            before, now = by_place(_rows_of(unseen_blocks(other))), by_place(rows)
            hidden = {at: each for at, each in hidden.items() if now[rows[at][:2]] != before.get(rows[at][:2])}
        return unseen_spans(html, [(found[at], ranges) for at, ranges in hidden.items()])


def _rows_of(found: Iterable[Block]) -> list[Row]:
    return [(block.selector, block.attribute, block.text) for block in found]
