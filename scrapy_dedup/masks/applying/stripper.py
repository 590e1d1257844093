"""Stripping: transient texts, addresses, attributes, scripts and comments taken out of pages."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ...content.tokenizer.tokens import Block, Blocks, blocks
from ...content.tokenizer.unseen import SOURCE, unseen_blocks
from ...content.versions import by_place
from ..css_xpath import SUBTREE_SUFFIX
from ..published.changes import changes_between
from ..published.marked_spans import markup_spans
from ..published.transient_paths import TransientPaths
from ..ranges import Range, merged
from .plan import Plan, Ranges, Reach, Row
from .spans import lasting_texts, spans_of, unseen_spans

if TYPE_CHECKING:
    from ...content.versions import Version


class Stripper:
    """Strips the texts of the paths that *shown* has, and the values of *unseen* ones, but for *kept* places (selector, attribute)."""

    def __init__(self, shown: Reach, unseen: Reach, kept: Sequence[tuple[str, str]]) -> None:
        self._paths = [path for path in shown.acting if path.is_hidden]
        self._kept = kept
        self._shown_reach, self._unseen_reach = shown, unseen
        self._plan = Plan(self._paths, kept)
        self._unseen = Plan(unseen.acting, kept)

    def __bool__(self) -> bool:
        """Return whether anything is stripped, of any page."""
        return bool(self._plan or self._unseen)

    def spans(self, html: str, url: str | None, other: str | None, *, markup: bool) -> list[Range]:
        """Return the offsets of what is stripped of *html*; see :meth:`scrapy_dedup.Mask.spans`."""
        shows = bool(self._plan) and self._shown_reach.applies_to(url)
        hides = markup and self._unseen_reach.applies_to(url)
        found = blocks(html) if shows or hides else Blocks()
        spans: list[Range] = []
        if shows:
            plan = self._plan_for(html, other)
            for index, ranges in self._stripped(plan, found, url, other).items():
                block = found[index]
                if markup or block.attribute != SOURCE:
                    spans += spans_of(html, block, ranges)
            if plan.roots:
                spans += markup_spans(html, plan.roots.paths, plan.kept_roots.paths, plan.lasting_in(found))
        if hides:
            values = unseen_blocks(html)
            hidden = self._unseen.hidden(_rows_of(values), self._shown_reach.kind(list(found.rows()), url))
            if other is not None and hidden:
                hidden = _changed(hidden, _rows_of(values), _rows_of(unseen_blocks(other)))
            spans += unseen_spans(html, [(values[at], ranges) for at, ranges in hidden.items()])
        return merged([(start, end) for start, end in spans if start < end])

    def _plan_for(self, html: str, other: str | None) -> Plan:
        """Return the plan for *html*: with an *other* version, only those of the document's paths whose content has changed.

        That is the second way in which the document applies paths (on FIG. 2): "by comparing fingerprints of the tokens".
        """
        if other is None or not self._plan.roots:
            return self._plan
        confirmed = TransientPaths(self._plan.roots.paths).changed(changes_between(html, other)).paths
        names = [path.selector.removesuffix(SUBTREE_SUFFIX) for path in self._paths]
        acting = [
            path for path, name in zip(self._paths, names, strict=True) if path.selector == name or name in confirmed
        ]
        return Plan(acting, self._kept)

    def _stripped(self, plan: Plan, found: Blocks, url: str | None, other: str | None) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each block of a page, by its index."""
        rows = list(found.rows())
        hidden = plan.hidden(rows, self._shown_reach.kind(rows, url))
        if other is None:
            return hidden
        below = {index: ranges for index, ranges in hidden.items() if plan.is_below(*rows[index][:2])}
        return _changed(hidden, rows, blocks(other).rows()) | below

    def text(self, html: str, url: str | None, other: str | None) -> str:
        """Return the visible text of *html* that is left, its white space collapsed."""
        found = blocks(html)
        hidden: Mapping[int, Ranges] = {}
        if self._plan and self._shown_reach.applies_to(url):
            hidden = self._stripped(self._plan_for(html, other), found, url, other)
        return " ".join(lasting_texts(found.rows(), hidden))

    def hidden(self, version: "Version", url: str | None) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each row of a version, by its index."""
        kind = self._shown_reach.kind(version.blocks, url)
        found = dict(self._plan.hidden(version.blocks, kind)) if self._shown_reach.applies_to(url) else {}
        if self._unseen_reach.applies_to(url):
            unseen = self._unseen.hidden(version.markup, kind)
            found |= {len(version.blocks) + index: ranges for index, ranges in unseen.items()}
        return found


def cut_out(html: str, spans: Iterable[Range]) -> str:
    """Return *html* without some spans, which are sorted and disjoint."""
    parts = []
    at = 0
    for start, end in spans:
        parts.append(html[at:start])
        at = end
    return "".join([*parts, html[at:]]) if parts else html


def _changed(hidden: Mapping[int, Ranges], rows: Sequence[Row], other: Iterable[Row]) -> dict[int, Ranges]:
    """Return the ranges of those rows that stand at places where an *other* version of the page has something else."""
    before, now = by_place(other), by_place(rows)
    return {at: each for at, each in hidden.items() if now[rows[at][:2]] != before.get(rows[at][:2])}


def _rows_of(found: Iterable[Block]) -> list[Row]:
    return [(block.selector, block.attribute, block.text) for block in found]
