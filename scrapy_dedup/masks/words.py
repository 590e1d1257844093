"""Words that clocks, counters, dates and tokens are made of: numbers, and the names of days and months."""

import re

_CALENDAR = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun "
    "january february march april may june july august september october november december "
    "jan feb mar apr jun jul aug sep sept oct nov dec am pm".split()
)

_letters = re.compile(r"[^\W\d_]+").findall
_calendar = re.compile(
    r"(?:mon|tue|wed|thu|fri|sat|sun|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*[.,]?", re.IGNORECASE
).fullmatch
has_digit = re.compile(r"[0-9]").search


def is_typed(piece: str) -> bool:
    """Return whether a piece is a number, a code or a word of the calendar, as clocks, counters and tokens are made of."""
    return has_digit(piece) is not None or _calendar(piece) is not None


def is_fleeting_word(word: str) -> bool:
    """Return whether a word is a number or of the calendar: that it has not changed yet says little."""
    return any(map(str.isdigit, word)) or is_calendar(word)


def is_calendar(word: str) -> bool:
    """Return whether a word is one of the calendar's: a day, a month."""
    return any(part in _CALENDAR for part in _letters(word.lower()))
