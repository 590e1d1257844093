"""Stripping: transient texts, addresses, attributes, scripts and comments taken out of pages."""

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TYPE_CHECKING

from ...content.tokenizer.tokens import Block, Blocks, Token, blocks, tokens
from ...content.tokenizer.unseen import SOURCE, unseen_blocks
from ...content.versions import by_place
from ...urls.templates import template_of
from ..css_xpath import SUBTREE_SUFFIX
from ..path import TransientPath
from ..published.changes import changes_between
from ..published.marked_spans import markup_spans
from ..published.transient_paths import TransientPaths
from ..ranges import Range
from .plan import PageKind, Plan, Ranges, Row, plan_for
from .reach import Reach
from .spans import disjoint, lasting_texts, spans_of, unseen_spans

if TYPE_CHECKING:
    from ...content.versions import Version


class UnseenPlan:
    """A plan for attributes, scripts and comments; *templates* are the URL templates on which it acts, None for all."""

    def __init__(self, plan: Plan, templates: AbstractSet[tuple[object, ...]] | None) -> None:
        self._plan = plan
        self._templates = templates

    def __bool__(self) -> bool:
        """Return whether it strips anything."""
        return bool(self._plan)

    def acts_on(self, url: str | None) -> bool:
        """Return whether it may strip something of the page at *url*; of that of an unknown URL it may."""
        return bool(self) and (url is None or self._templates is None or template_of(url) in self._templates)

    def hidden(self, rows: Iterable[Row], page: PageKind) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each row, by its index."""
        return self._plan.hidden(rows, page)

    def spans(self, html: str, page: PageKind, other: str | None = None) -> Sequence[Range]:
        """Return the offsets of what is stripped of a *page*, where there is an *other* version of what differs from that."""
        found = unseen_blocks(html)
        rows = _rows_of(found)
        hidden = self._plan.hidden(rows, page)
        if other is not None and hidden:
            before, now = by_place(_rows_of(unseen_blocks(other))), by_place(rows)
            hidden = {at: each for at, each in hidden.items() if now[rows[at][:2]] != before.get(rows[at][:2])}
        return unseen_spans(html, [(found[at], ranges) for at, ranges in hidden.items()])


class Stripper:
    """Strips the texts of *acting* paths from pages within *reach*, but for *kept* ones (selector, attribute), and *unseen* values."""

    def __init__(
        self, acting: Iterable[TransientPath], kept: Sequence[tuple[str, str]], reach: Reach, unseen: UnseenPlan
    ) -> None:
        self._paths = [path for path in acting if path.is_hidden]
        self._kept = kept
        self._reach = reach
        self._unseen = unseen
        self._plan = plan_for(self._paths, kept)

    def __bool__(self) -> bool:
        """Return whether anything is stripped, of any page."""
        return bool(self._plan or self._unseen)

    def spans(self, html: str, url: str | None, other: str | None, *, markup: bool) -> list[Range]:
        """Return the offsets of what is stripped of *html*; see :meth:`scrapy_dedup.Mask.spans`."""
        shows = self._plan and self._reach.applies_to(url)
        hides = markup and self._unseen.acts_on(url)
        if not shows and not hides:
            return []
        found = blocks(html)
        spans: list[Range] = []
        plan = self._plan_for(html, other)
        for index, ranges in self._stripped(plan, found, url, other).items() if shows else ():
            block = found[index]
            if markup or block.attribute != SOURCE:
                spans += spans_of(html, block, ranges)
        if shows and plan.roots:
            spans += markup_spans(html, plan.roots.paths, plan.kept_roots.paths, plan.lasting_in(found))
        if hides:
            spans += self._unseen.spans(html, self._reach.kind(list(found.rows()), url), other)
        return disjoint(spans)

    def _plan_for(self, html: str, other: str | None) -> Plan:
        """Return the plan for *html*: with an *other* version, only those of the document's paths whose content has changed.

        That is the second way in which the document applies paths (on FIG. 2): "by comparing fingerprints of the tokens".
        """
        if other is None or not self._plan.roots:
            return self._plan
        confirmed = TransientPaths(self._plan.roots.paths).changed(changes_between(html, other)).paths
        return plan_for(
            [
                path
                for path in self._paths
                if not path.selector.endswith(SUBTREE_SUFFIX) or path.selector.removesuffix(SUBTREE_SUFFIX) in confirmed
            ],
            self._kept,
        )

    def _stripped(self, plan: Plan, found: Blocks, url: str | None, other: str | None) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each block of a page, by its index."""
        rows = list(found.rows())
        hidden = plan.hidden(rows, self._reach.kind(rows, url))
        if other is None:
            return hidden
        before, now = by_place(blocks(other).rows()), by_place(rows)
        return {
            index: ranges
            for index, ranges in hidden.items()
            if plan.is_below(*rows[index][:2]) or now[rows[index][:2]] != before.get(rows[index][:2])
        }

    def text(self, html: str, url: str | None, other: str | None) -> str:
        """Return the visible text of *html* that is left, its white space collapsed."""
        found = blocks(html)
        hidden: Mapping[int, Ranges] = {}
        if self._plan and self._reach.applies_to(url):
            hidden = self._stripped(self._plan_for(html, other), found, url, other)
        return " ".join(lasting_texts(found.rows(), hidden))

    def hidden(self, version: "Version", url: str | None) -> Mapping[int, Ranges]:
        """Return the ranges stripped of each row of a version, by its index."""
        kind = self._reach.kind(version.blocks, url)
        found = dict(self._plan.hidden(version.blocks, kind)) if self._reach.applies_to(url) else {}
        if self._unseen.acts_on(url):
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


def tokens_in(html: str, spans: Sequence[Range]) -> list[Token]:
    """Return the tokens of *html* that some spans, which are sorted and disjoint, have a part of."""
    if not spans:
        return []
    found = []
    at = 0
    for token in tokens(html):
        while at < len(spans) and spans[at][1] <= token.start:
            at += 1
        if at < len(spans) and spans[at][0] < token.end:
            found.append(token)
    return found


def _rows_of(found: Iterable[Block]) -> list[Row]:
    return [(block.selector, block.attribute, block.text) for block in found]
