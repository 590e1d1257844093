"""What the answers to modified URLs say of a parameter.

Source: url-parameter-relevance, the passages on downloading "the content item referenced by the modified
URL" and on HEAD. The document compares contents only; that a modified URL may fail, although the
parameter does not matter, is ours: a session id that must be there is not what the page is.
"""

from enum import Enum

from .entropy import HeadFingerprint

__all__ = ["Outcome", "Verdict", "head_outcome", "verdict"]


class Outcome(str, Enum):
    """What a modified URL has shown, beside the unchanged one."""

    SAME = "same"
    """The same page."""
    OTHER = "other"
    """Another page."""
    FAILS = "fails"
    """No page: it is not found, or refused."""
    UNKNOWN = "unknown"

    __str__ = str.__str__


class Verdict(str, Enum):
    """What the answers for one page say of a parameter."""

    IRRELEVANT = "irrelevant"
    """Neither another value nor none makes another page."""
    REQUIRED = "required"
    """Another value makes no other page, but there must be one: necessary, and yet irrelevant."""
    RELEVANT = "relevant"
    UNDECIDED = "undecided"

    __str__ = str.__str__


def verdict(changed: Outcome, dropped: Outcome) -> Verdict:
    """Return what follows from another value, and from none.

    That dropping alone makes no difference says little: the value may be what goes without saying (page=1).

    >>> verdict(Outcome.SAME, Outcome.FAILS), verdict(Outcome.FAILS, Outcome.FAILS)
    (<Verdict.REQUIRED: 'required'>, <Verdict.RELEVANT: 'relevant'>)
    """
    if changed is Outcome.SAME:
        return Verdict.IRRELEVANT if dropped is Outcome.SAME else Verdict.REQUIRED
    if changed is Outcome.OTHER:
        return Verdict.RELEVANT
    if changed is Outcome.FAILS and dropped in (Outcome.FAILS, Outcome.OTHER):
        return Verdict.RELEVANT
    return Verdict.UNDECIDED


def head_outcome(control: HeadFingerprint | None, modified: HeadFingerprint | None) -> Outcome:
    """Compare the answers to HEAD: they can show that pages differ, and never that they are equal.

    >>> from scrapy_dedup.learning.entropy import head_fingerprint
    >>> short, long = (head_fingerprint({"Content-Length": length}) for length in ("512", "90210"))
    >>> head_outcome(short, short), head_outcome(short, long)
    (<Outcome.UNKNOWN: 'unknown'>, <Outcome.OTHER: 'other'>)
    """
    if control is None or modified is None or control.strength is not modified.strength:
        return Outcome.UNKNOWN
    return Outcome.UNKNOWN if control.text == modified.text else Outcome.OTHER
