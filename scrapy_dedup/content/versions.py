"""Versions of a page: its visible texts and link destinations, with the paths they stand at."""

import json
import zlib
from dataclasses import dataclass

_FORMAT = b"\x01"


@dataclass(frozen=True, slots=True)
class Version:
    """One version of a page: (selector, attribute, text) of each block, in order."""

    blocks: tuple[tuple[str, str, str], ...]

    def to_bytes(self) -> bytes:
        """Return the packed form: each selector once, compressed."""
        numbers: dict[str, int] = {}
        rows = [
            [numbers.setdefault(selector, len(numbers)), attribute, text] for selector, attribute, text in self.blocks
        ]
        data = json.dumps([list(numbers), rows], ensure_ascii=False, separators=(",", ":"))
        return _FORMAT + zlib.compress(data.encode("utf-8", "surrogatepass"), 6)

    @classmethod
    def from_bytes(cls, data: bytes) -> "Version":
        """Return the version that is packed as *data*. Raises ValueError."""
        if data[:1] != _FORMAT:
            raise ValueError("not a packed version of a page, or one of a later release")
        try:
            selectors, rows = json.loads(zlib.decompress(data[1:]).decode("utf-8", "surrogatepass"))
            return cls(tuple([(selectors[number], attribute, text) for number, attribute, text in rows]))
        except (zlib.error, UnicodeDecodeError, IndexError, TypeError) as error:
            raise ValueError(f"a damaged version of a page: {error}") from error


def version_of(html: str) -> Version:
    """Return the version that *html* is."""
    from .tokens import blocks

    return Version(tuple([(block.selector, block.attribute, block.text) for block in blocks(html)]))
