"""Numbers, times and reasons in words, for the log, the terminal and the report."""

from collections.abc import Mapping
from datetime import datetime, timezone
from typing import Final

#: Why a response is no evidence -> what such responses are called, one and several.
_LEFT_OUT: Final = {
    "redirect": ("redirect", "redirects"),
    "status": ("answer other than 200", "answers other than 200"),
    "cut off": ("cut off", "cut off"),
    "dataloss": ("with lost data", "with lost data"),
    "stopped": ("stopped while it was downloaded", "stopped while they were downloaded"),
    "no content": ("without content", "without content"),
    "hardly any text": ("with hardly any text", "with hardly any text"),
    "cached": ("copy of another URL from the HTTP cache", "copies of other URLs from the HTTP cache"),
    "fingerprint": ("page that the fingerprinter keeps apart", "pages that the fingerprinter keeps apart"),
    "method": ("answer to a request that is no plain GET", "answers to requests that are no plain GET"),
    "its texts are not kept": (
        "with transient content whose texts are not stored",
        "with transient content whose texts are not stored",
    ),
    "what is its own passes": ("whose own content is transient", "whose own content is transient"),
}


def counted(number: int, noun: str, several: str = "") -> str:
    """Return a number with its noun, whose plural is *several* if that is more than an "s" longer.

    >>> counted(1, "group"), counted(2, "group"), counted(2, "refetch", "refetches")
    ('1 group', '2 groups', '2 refetches')
    """
    return f"{number} {noun}" if number == 1 else f"{number} {several or noun + 's'}"


def not_evidence(counts: Mapping[str, int]) -> str:
    """Return the counts of responses left out of the evidence, by reason; "" if there are none but of robots.txt.

    >>> not_evidence({"status": 917, "redirect": 1, "cut off": 3, "robots.txt": 1})
    'not used as evidence: 917 answers other than 200, 3 cut off, 1 redirect'
    """
    said = []
    for reason, number in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
        if number and reason != "robots.txt":  # every crawl has it
            one, several = _LEFT_OUT.get(reason, (reason, reason))
            said.append(f"{number} {one if number == 1 else several}")
    return f"not used as evidence: {', '.join(said)}" if said else ""


def moment(time: float) -> str:
    """Return a time, in seconds since 1970, as a date and a time in UTC.

    >>> moment(1_764_061_200.5)
    '2025-11-25T09:00:00Z'
    """
    return datetime.fromtimestamp(int(time), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
