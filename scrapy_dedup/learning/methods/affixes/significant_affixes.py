"""Significant prefixes and suffixes of a list of strings, as the document finds them.

Source: url-parameter-relevance, FIG. 2, 6 and 7, the pseudocode, and the two filters after it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from .characters import CharacterModel, empirical
from .counting import CountedPrefix, counted_prefixes
from .significance import log_test_statistic, sigma_level

SIGMAS = 3.0
"""How rare an event must be to be significant, unless said otherwise."""


@dataclass(frozen=True, slots=True)
class Affix:
    """A significant prefix or suffix.

    ``count`` strings have it, of ``strings`` that are as long; ``log_t`` is the natural logarithm of
    the test statistic, the probability that chance does that.
    """

    text: str
    count: int
    strings: int
    log_t: float


@dataclass(frozen=True, slots=True)
class Found:
    """A significant prefix among the others: ``inside`` longer ones begin with it."""

    prefix: CountedPrefix
    log_t: float
    parent: int
    """Position of the next shorter significant one, -1 if there is none."""

    def affix(self, *, reverse: bool = False) -> Affix:
        """Return the prefix cut out, read backwards if the strings were."""
        text = self.prefix.text
        return Affix(text[::-1] if reverse else text, self.prefix.count, self.prefix.strings, self.log_t)


def significant_prefixes(
    strings: Sequence[str],
    *,
    model: CharacterModel | None = None,
    sigmas: float = SIGMAS,
    shortest: int = 1,
    longest: int | None = None,
    maximal: bool = False,
    followed: bool = False,
) -> list[Affix]:
    """Return the prefixes that chance does not explain, in an order in which a prefix of a prefix comes first.

    *model* says what chance is; None takes the characters of the strings. The probability must be below
    that of an event of *sigmas* sigmas. *maximal* leaves out what is a prefix of a longer significant
    one; *followed* leaves out what no string goes on after. O(characters) to find, and to cut out what
    was found.
    """
    found = find(strings, model, sigmas, shortest, longest)
    return [one.affix() for one in _filtered(found, maximal=maximal, followed=followed)]


def significant_suffixes(
    strings: Sequence[str],
    *,
    model: CharacterModel | None = None,
    sigmas: float = SIGMAS,
    shortest: int = 1,
    longest: int | None = None,
    maximal: bool = False,
    followed: bool = False,
) -> list[Affix]:
    """Return the suffixes that chance does not explain: the prefixes of the reversed strings, reversed.

    Parameters are those of :func:`significant_prefixes`; *followed* asks for something before the suffix.

    >>> [affix.text for affix in significant_suffixes(["ab.html", "cd.html", "x"], maximal=True)]
    ['.html']
    """
    backwards = [text[::-1] for text in strings]
    found = find(backwards, model, sigmas, shortest, longest)
    return [one.affix(reverse=True) for one in _filtered(found, maximal=maximal, followed=followed)]


def find(
    strings: Sequence[str], model: CharacterModel | None, sigmas: float, shortest: int, longest: int | None = None
) -> list[Found]:
    """Return the significant prefixes of *shortest* to *longest* characters, shorter ones first."""
    model = model or empirical(strings)
    level = log(sigma_level(sigmas))
    found: list[Found] = []
    # Position of the nearest significant prefix at or above each counted one.
    nearest: list[int] = []
    for prefix in counted_prefixes(strings, model, longest):
        above = nearest[prefix.parent] if prefix.parent >= 0 else -1
        if prefix.length >= shortest:
            log_t = log_test_statistic(prefix.count, prefix.strings, prefix.log_probability)
            if log_t < level:
                found.append(Found(prefix, log_t, above))
                above = len(found) - 1
        nearest.append(above)
    return found


def _filtered(found: Sequence[Found], *, maximal: bool, followed: bool) -> list[Found]:
    shorter = {one.parent for one in found} if maximal else set()
    return [
        one for position, one in enumerate(found) if position not in shorter and (one.prefix.following or not followed)
    ]
