"""What the answers to modified URLs say of a parameter.

Source: url-parameter-relevance, the passages on downloading "the content item referenced by the modified
URL" and on HEAD. The document compares contents only; that a modified URL may fail, although the
parameter does not matter, is ours: a session id that must be there is not what the page is. Of smaller fingerprints the
document says that identical files very likely have
the same ``Content-Length``. The reverse does not hold: pages of one template are often of one length,
and lengths of dynamic pages differ by a clock.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum, IntEnum

from ...rules import Rule, RuleBook
from .doubts import Doubt, touches


class ProbeOutcome(str, Enum):
    """What a modified URL has shown, beside the unchanged one."""

    SAME = "same"
    """The same page."""
    OTHER = "other"
    """Another page."""
    FAILS = "fails"
    """No page: it is not found, or refused."""
    UNKNOWN = "unknown"

    __str__ = str.__str__


class ProbeVerdict(str, Enum):
    """What the answers for one page say of a parameter."""

    IRRELEVANT = "irrelevant"
    """Neither another value nor none makes another page."""
    REQUIRED = "required"
    """Another value makes no other page, but there must be one: necessary, and yet irrelevant."""
    RELEVANT = "relevant"
    UNDECIDED = "undecided"

    __str__ = str.__str__


def verdict(changed: ProbeOutcome, dropped: ProbeOutcome) -> ProbeVerdict:
    """Return what follows from another value, and from none.

    That dropping alone makes no difference says little: the value may be what goes without saying (page=1).

    >>> verdict(ProbeOutcome.SAME, ProbeOutcome.FAILS), verdict(ProbeOutcome.FAILS, ProbeOutcome.FAILS)
    (<ProbeVerdict.REQUIRED: 'required'>, <ProbeVerdict.RELEVANT: 'relevant'>)
    """
    if changed is ProbeOutcome.SAME:
        return ProbeVerdict.IRRELEVANT if dropped is ProbeOutcome.SAME else ProbeVerdict.REQUIRED
    if changed is ProbeOutcome.OTHER:
        return ProbeVerdict.RELEVANT
    if changed is ProbeOutcome.FAILS and dropped in (ProbeOutcome.FAILS, ProbeOutcome.OTHER):
        return ProbeVerdict.RELEVANT
    return ProbeVerdict.UNDECIDED


class Strength(IntEnum):
    """How much it says that two fingerprints are equal."""

    NONE = 0
    LENGTH = 1
    """The same number of bytes."""
    VALIDATOR = 2
    """The same entity tag or digest, which the server made of the content."""


@dataclass(frozen=True, slots=True)
class HeadFingerprint:
    """A fingerprint taken from headers; two are equal only if they are of the same strength."""

    text: str
    strength: Strength


def head_fingerprint(headers: Mapping[str, str]) -> HeadFingerprint | None:
    """Return the strongest fingerprint that response headers (names in any case) hold; None if none.

    A weak entity tag counts as the length does: it promises the same meaning, not the same bytes.

    >>> head_fingerprint({"Content-Length": "512"})
    HeadFingerprint(text='512', strength=<Strength.LENGTH: 1>)
    """
    lowered = {name.lower(): value.strip() for name, value in headers.items()}
    for name in ("content-digest", "content-md5", "etag"):
        value = lowered.get(name, "")
        if value and not value.startswith("W/"):
            return HeadFingerprint(f"{name}:{value}", Strength.VALIDATOR)
    if value := lowered.get("etag", ""):
        return HeadFingerprint(value, Strength.LENGTH)
    length = lowered.get("content-length", "")
    return HeadFingerprint(length, Strength.LENGTH) if length.isdigit() else None


def head_outcome(control: HeadFingerprint | None, modified: HeadFingerprint | None) -> ProbeOutcome:
    """Compare the answers to HEAD: they can show that pages differ, and never that they are equal.

    >>> short, long = (head_fingerprint({"Content-Length": length}) for length in ("512", "90210"))
    >>> head_outcome(short, short), head_outcome(short, long)
    (<ProbeOutcome.UNKNOWN: 'unknown'>, <ProbeOutcome.OTHER: 'other'>)
    """
    if control is None or modified is None or control.strength is not modified.strength:
        return ProbeOutcome.UNKNOWN
    return ProbeOutcome.UNKNOWN if control.text == modified.text else ProbeOutcome.OTHER


@dataclass(slots=True)
class ProbedParameter:
    """A parameter that was probed, with the URL of each page on which it was, and the verdict there."""

    doubt: Doubt
    verdicts: list[tuple[str, ProbeVerdict]] = field(default_factory=list)

    def number(self, verdict: ProbeVerdict) -> int:
        """Return on how many pages the verdict was this one."""
        return sum(found is verdict for _, found in self.verdicts)

    @property
    def said(self) -> ProbeVerdict:
        """What is to be said of the parameter: one page on which it matters is enough."""
        order = (ProbeVerdict.RELEVANT, ProbeVerdict.REQUIRED, ProbeVerdict.IRRELEVANT)
        return next((each for each in order if self.number(each)), ProbeVerdict.UNDECIDED)


def probes_by_rule(tried: Iterable[ProbedParameter], book: RuleBook) -> dict[str, dict[Rule, tuple[int, int]]]:
    """Return site -> rule that acts -> pages on which a key that it touches was probed, and those that contradict it."""
    found: dict[str, dict[Rule, tuple[int, int]]] = {}
    for each in tried:
        for url, verdict in each.verdicts:
            if verdict is ProbeVerdict.UNDECIDED:
                continue
            for rule in book.matching(url):
                if touches(rule, each.doubt.key) and not rule.status.users:
                    rules = found.setdefault(each.doubt.site, {})
                    probes, contradicted = rules.get(rule, (0, 0))
                    rules[rule] = probes + 1, contradicted + (verdict is ProbeVerdict.RELEVANT)
    return found
