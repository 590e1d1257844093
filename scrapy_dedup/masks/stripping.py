"""What a mask strips of pages: texts and addresses that pass, and what passes in what nobody sees."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..content.tokens import Blocks, Token, blocks, tokens
from ..content.unseen import SOURCE
from .path import TransientPath
from .plan import Plan, Ranges, plan_for
from .queries import BELOW
from .reach import Reach
from .seed.changes import changes_between
from .seed.markup import markup_spans
from .seed.paths import TransientPaths
from .spans import Span, by_place, disjoint, lasting_texts, spans_of
from .unseen import UnseenPlan

if TYPE_CHECKING:
    from ..content.versions import Version

__all__ = ["Stripping", "cut_out", "tokens_in"]


class Stripping:
    """What the paths *acting* strip of pages within *reach*, but for what is *kept* (selector, attribute); and *unseen* what nobody sees."""

    def __init__(
        self, acting: Iterable[TransientPath], kept: Sequence[tuple[str, str]], reach: Reach, unseen: UnseenPlan
    ) -> None:
        self._paths = [path for path in acting if path.is_hidden]
        self._kept = kept
        self._reach = reach
        self._unseen = unseen
        self._plan = plan_for(self._paths, kept)

    def __bool__(self) -> bool:
        """Whether anything is stripped, of any page."""
        return bool(self._plan or self._unseen)

    def spans(self, html: str, url: str | None, other: str | None, *, markup: bool) -> list[Span]:
        """Return the offsets of what is stripped of *html*; see :meth:`scrapy_dedup.Mask.spans`."""
        shows = self._plan and self._reach.applies_to(url)
        hides = markup and self._unseen.acts_on(url)
        if not shows and not hides:
            return []
        found = blocks(html)
        spans: list[Span] = []
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
        """Return what is stripped of *html*: of the document's paths, only those that have changed since the *other* version.

        That is the second way in which the document applies paths (on FIG. 2): "by comparing fingerprints of the tokens".
        """
        if other is None or not self._plan.roots:
            return self._plan
        confirmed = TransientPaths(self._plan.roots.paths).changed(changes_between(html, other)).paths
        return plan_for(
            [
                path
                for path in self._paths
                if not path.selector.endswith(BELOW) or path.selector.removesuffix(BELOW) in confirmed
            ],
            self._kept,
        )

    def _stripped(self, plan: Plan, found: Blocks, url: str | None, other: str | None) -> Mapping[int, Ranges]:
        """Return what is stripped of each block of a page, by its index."""
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
        """Return what is stripped of each row of a version, by its index."""
        kind = self._reach.kind(version.blocks, url)
        found = dict(self._plan.hidden(version.blocks, kind)) if self._reach.applies_to(url) else {}
        if self._unseen.acts_on(url):
            unseen = self._unseen.hidden(version.markup, kind)
            found |= {len(version.blocks) + index: ranges for index, ranges in unseen.items()}
        return found


def cut_out(html: str, spans: Iterable[Span]) -> str:
    """Return *html* without some spans, which are sorted and disjoint."""
    parts = []
    at = 0
    for start, end in spans:
        parts.append(html[at:start])
        at = end
    return "".join([*parts, html[at:]]) if parts else html


def tokens_in(html: str, spans: Sequence[Span]) -> list[Token]:
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
