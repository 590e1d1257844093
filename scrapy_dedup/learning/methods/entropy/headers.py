"""Fingerprints without the content: what the answer to a HEAD request tells.

Source: url-parameter-relevance, the passage on smaller fingerprints: identical files very likely have
the same ``Content-Length``. The reverse does not hold: pages of one template are often of one length,
and lengths of dynamic pages differ by a clock. So such a fingerprint may propose, and never proves.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum


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
