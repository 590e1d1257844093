"""Lines of the shared log, each after one sign.

=========================== ==================================================================
``+`` slot callback context URL  a page is scheduled; ``~`` after the context as in :mod:`.journal`
``>`` slot                  its request is out of the queue, and about to be fetched
``=`` slot                  it is fetched; ``+`` after the slot: it had links
``-`` slot                  it has failed: its slot is free again
``?`` JSON                  a spot check was chosen, or has shown something
=========================== ==================================================================
"""

from typing import TYPE_CHECKING, Final, NamedTuple

from ..seen.journal_lines import JournalPage

if TYPE_CHECKING:
    from ..seen.seen import Waiting

_PARTED: Final = "\0"


class Change(NamedTuple):
    """What another worker has done of a slot: its page is fetched, or it is free again; or what it has said."""

    slot: int = -1
    fetched: bool = False
    #: The filtered request that is next in the place of a page that has failed.
    next: "Waiting | None" = None
    #: What it has said of a spot check, in JSON.
    said: str = ""


def taken_line(page: JournalPage) -> str:
    """Return the line that says that *page* is taken."""
    return _PARTED.join(
        (f"+{page.slot:x}", page.callback, page.context if page.plain else f"{page.context}~", page.url)
    )


def page_of(line: str) -> JournalPage:
    """Return the page of :func:`taken_line`, whose slot is by the rules of that time and of that worker."""
    slot, callback, context, url = line[1:].split(_PARTED)
    return JournalPage(int(slot, 16), url, callback, context.rstrip("~"), not context.endswith("~"), current=False)
