"""All prefixes of a list of strings that two strings or more begin with, counted.

Source: url-parameter-relevance, the counter of FIG. 2 and steps 702 to 706 of FIG. 7. The document's
pseudocode cuts every string at every length, which is quadratic in their length; here the strings
are parted by one character after another, and each character is looked at once.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .characters import CharacterModel


@dataclass(frozen=True, slots=True)
class CountedPrefix:
    """A prefix of ``length`` characters of ``source``.

    ``count`` strings (M) begin with it, of ``strings`` (N) that are as long; ``parent`` is the
    position, among the prefixes yielded, of the next shorter one, -1 for a single character.
    ``following`` are the characters that come next, with the number of strings of each.
    """

    source: str
    length: int
    count: int
    strings: int
    log_probability: float
    parent: int
    following: tuple[tuple[str, int], ...]

    @property
    def text(self) -> str:
        """The prefix itself, which is not cut out before it is asked for."""
        return self.source[: self.length]


def counted_prefixes(
    strings: Sequence[str], model: CharacterModel, longest: int | None = None
) -> Iterator[CountedPrefix]:
    """Yield every prefix that at least two strings share, up to *longest* characters.

    A shorter one comes before the longer ones that begin with it. Prefixes of a single string are left
    out: given that they occur, they are certain. O(characters of the strings).
    """
    strings = [text for text in strings if text]
    as_long = _as_long(strings)
    logs, other = model.logs, model.other
    number = 0
    # What begins alike: (members, length of what they share, log of its probability, parent).
    open_groups: list[tuple[list[str], int, float, int]] = [(strings, 0, 0.0, -1)]
    while open_groups:
        members, length, log_probability, parent = open_groups.pop()
        if longest is not None and length > longest:
            continue
        parts: dict[str, list[str]] = {}
        for text in members:
            if len(text) > length:
                char = text[length]
                if char in parts:
                    parts[char].append(text)
                else:
                    parts[char] = [text]
        if length:
            following = tuple((char, len(own)) for char, own in parts.items())
            yield CountedPrefix(members[0], length, len(members), as_long[length], log_probability, parent, following)
            parent, number = number, number + 1
        for char, own in parts.items():
            if len(own) > 1:
                open_groups.append((own, length + 1, log_probability + logs.get(char, other), parent))


def _as_long(strings: Sequence[str]) -> list[int]:
    """Return, per length, the number of strings that have at least as many characters."""
    counts = [0] * (max(map(len, strings), default=0) + 2)
    for text in strings:
        counts[len(text)] += 1
    for length in range(len(counts) - 2, -1, -1):
        counts[length] += counts[length + 1]
    return counts
