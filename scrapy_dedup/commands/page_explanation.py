"""What ``scrapy explain-page`` shows: the texts of a page, and which of them are transient."""

from collections import Counter
from typing import TYPE_CHECKING

from rich import box
from rich.table import Table
from rich.text import Text

from ..content.tokens import blocks
from ..crawl.rewriting import marked
from ..masks.slot_texts import shown_slot
from .console import plain_console

if TYPE_CHECKING:
    from collections.abc import Iterable

    from ..masks.model import Mask, TransientPath

_STYLE = "red strike"
_LOOK = '<style>[data-dedup="transient"] { background: #fcc; outline: 1px solid #c00; text-decoration: line-through }</style>'


def print_page(html: str, mask: "Mask", url: str | None) -> None:
    """Print the visible texts of a page, the transient ones between ⟦ and ⟧, and the places they stand at."""
    console = plain_console()
    spans = mask.spans(html, url=url)
    found: Counter[tuple[str, str]] = Counter()
    there: set[tuple[str, str]] = set()
    at = words = hidden = 0
    for block in blocks(html):
        while at < len(spans) and spans[at][1] <= block.start:
            at += 1
        there.add((block.selector, block.attribute))
        inside = [(max(low, block.start), min(high, block.end)) for low, high in spans[at:] if low < block.end]
        if inside:
            found[block.selector, block.attribute] += 1
        if block.attribute:
            continue
        line = Text()
        done = block.start
        for low, high in inside:
            line.append(html[done:low])
            line.append(f"⟦{html[low:high]}⟧", style=_STYLE)
            hidden += len(html[low:high].split())
            done = high
        line.append(html[done : block.end])
        words += len(block.text.split())
        console.print(line)
    if not mask.applies_to(url):
        console.print("\nNothing is known of pages of this kind: none was seen in two versions.")
    console.print(f"\n{hidden} of {words} words are transient.")
    shown = [path for path in mask.paths if (path.selector, path.attribute) in found and path.is_hidden]
    if shown:
        console.print(places_table(shown))
    volatile = [path for path in mask.paths if (path.selector, path.attribute) in there and _is_volatile(path)]
    if volatile:
        console.print("\nPages are compared without these, which may be what the page is about, and stay in items:")
        console.print(places_table(volatile))


def _is_volatile(path: "TransientPath") -> bool:
    return path.is_left_out and not path.is_hidden


def places_table(paths: "Iterable[TransientPath]") -> Table:
    """Return the table of transient places: where they are, what passes there, and what speaks for it."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in ("place (CSS)", "what passes", "for example"):
        table.add_column(name, overflow="fold")
    for name in ("changes", "pages", "confidence"):
        table.add_column(name, justify="right")
    for path in paths:
        table.add_row(
            path.css,
            shown_slot(path.slot, path.attribute),
            " → ".join(path.examples[0]) if path.examples else "",
            f"{path.changes} of {path.opportunities}",
            str(path.pages),
            path.state or f"{path.confidence:.2f}",
        )
    return table


def marked_page(html: str, mask: "Mask", url: str | None) -> str:
    """Return the page with its transient parts marked, and a style that shows them."""
    page = marked(html, mask.spans(html, url=url), "html")
    head, tag, rest = page.partition("</head>")
    return f"{head}{_LOOK}{tag}{rest}" if tag else _LOOK + page
