"""Examples of what changes, fit to be shown in a file that gets committed: nothing in them is a secret, or names a person."""

import re
from collections.abc import Sequence
from typing import Final

LONGEST: Final = 80
AROUND: Final = 20
"""Characters that are shown before the first one that differs, of a long text."""

# Long runs of letters and digits may be keys to something; words and short numbers between hyphens are names of pages.
_hidden = re.compile(r"[\w.+-]+@[\w.-]+|(?=[A-Za-z_+%~\-]*[0-9])[0-9A-Za-z_+%~\-]{12,}").sub
_slug = re.compile(r"(?=.*[A-Za-z]{3})(?:[A-Za-z]+|[0-9]{1,8})(?:[\-_](?:[A-Za-z]+|[0-9]{1,8}))+").fullmatch


def example_of(before: Sequence[str], after: Sequence[str]) -> tuple[str, str]:
    """Return a text of *before* and one of *after* that differ, as they may be shown; of long ones what is around the difference.

    >>> example_of(["a", "12 users at /cart?sid=0123456789abcdef"], ["a", "15 users at /the-storm-of-2024.html"])
    ('12 users at /cart?sid=…', '15 users at /the-storm-of-2024.html')
    """
    one = next((text for text in before if text not in after), "")
    other = next((text for text in after if text not in before), "")
    start = 0
    if max(len(one), len(other)) > LONGEST and one and other:
        differing = next((at for at, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), 0)
        start = one.rfind(" ", 0, max(0, differing - AROUND)) + 1
    return _shown(one, start), _shown(other, start)


def _shown(text: str, start: int) -> str:
    text = "…" * bool(start) + _hidden(_blotted, text[start : start + 4 * LONGEST])
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def _blotted(found: re.Match[str]) -> str:
    return found[0] if _slug(found[0]) else "…"
