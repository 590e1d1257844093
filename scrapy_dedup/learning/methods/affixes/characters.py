"""How probable a character is at a place of a string: the model that chance is measured by.

Source: url-parameter-relevance, the passages on the character set and on the probability
distribution over it (uniform, given, or found in the strings themselves).
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import log

ALPHANUMERIC = 62
PRINTABLE = 95
"""The printable characters of ASCII."""
OF_URLS = 79
"""Characters that the document counts as allowed in URLs: letters and digits, eight reserved, nine special ones."""


@dataclass(frozen=True, slots=True)
class CharacterModel:
    """Natural logarithms of the probabilities of characters; ``other`` is that of one not listed.

    Places are independent, so the probability of a prefix is the product over its characters.
    """

    logs: Mapping[str, float]
    other: float

    def log_probability(self, text: str) -> float:
        """Return the logarithm of the probability that a string begins with *text*.

        >>> round(uniform(10).log_probability("aa"), 3) # log(0.01)
        -4.605
        """
        return sum(self.logs.get(char, self.other) for char in text)


def uniform(size: int = PRINTABLE) -> CharacterModel:
    """Return the model in which each of *size* characters has the probability 1/*size*.

    Raises ValueError for fewer than two characters, of which nothing could be improbable.
    """
    if size < 2:
        raise ValueError(f"a character set of {size} makes every string certain; it needs 2 or more")
    return CharacterModel({}, -log(size))


def observed(strings: Iterable[str]) -> CharacterModel:
    """Return the uniform model over the characters that the strings are made of.

    >>> round(observed(["abc", "cd"]).log_probability("a"), 3) # log(1/4)
    -1.386
    """
    return uniform(max(2, len({char for text in strings for char in text})))


def given(frequencies: Mapping[str, float]) -> CharacterModel:
    """Return the model of known frequencies, of a language or a corpus, in any unit.

    A character that is not among them is as rare as the rarest one. Raises ValueError where no
    frequency is above zero.

    >>> round(given({"e": 3, "z": 1}).log_probability("ez"), 4) # log(3/4 * 1/4)
    -1.674
    """
    known = {char: float(number) for char, number in frequencies.items() if number > 0}
    if not known:
        raise ValueError("a character model needs a frequency above zero")
    total = sum(known.values())
    if len(known) == 1:
        total += min(known.values())  # a character that is certain would make nothing significant
    logs = {char: log(number / total) for char, number in known.items()}
    return CharacterModel(logs, min(logs.values()))


def empirical(strings: Iterable[str]) -> CharacterModel:
    """Return the model of the characters of the strings themselves; uniform if they have none."""
    counts: Counter[str] = Counter()
    for text in strings:
        counts.update(text)
    return given(counts) if counts else uniform()
