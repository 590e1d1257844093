"""Significant prefixes and suffixes of strings: what they begin or end with on purpose, not by chance.

Source: url-parameter-relevance, FIG. 2, 6 and 7, equations (19) to (23), the pseudocode, and the two filters after it. The
pseudocode cuts every string at every length, which is quadratic in their length; here the strings
are parted by one character after another, and each character is looked at once. All probabilities are logarithms: that
of a long affix underflows, and 1 - (1 - p)**N is 0.0 from eight characters on.

>>> names = ["utm_source", "utm_medium", "utm_campaign", "id", "page"]
>>> [affix.text for affix in snapped_prefixes(names)]
['utm_']
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import erfc, exp, expm1, lgamma, log, log1p, sqrt
from typing import Any

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
    counts = Counter(char for text in strings for char in text)
    return given(counts) if counts else uniform()


@dataclass(frozen=True, slots=True)
class Affix:
    """A prefix of ``length`` characters of ``source``; of a string read backwards, a suffix.

    ``count`` strings (M) have it, of ``strings`` (N) that are as long; ``parent`` is the position, among those beside it, of
    the next shorter one, -1 where there is none. ``following`` are the characters that come next. ``log_t`` is the natural
    logarithm of the test statistic, the probability that chance does that.
    """

    source: str
    length: int
    count: int
    strings: int
    log_probability: float
    parent: int
    following: frozenset[str]
    log_t: float = 0.0
    backwards: bool = False

    @property
    def text(self) -> str:
        """The affix itself, which is not cut out before it is asked for."""
        text = self.source[: self.length]
        return text[::-1] if self.backwards else text


def counted_prefixes(strings: Sequence[str], model: CharacterModel, longest: int | None = None) -> Iterator[Affix]:
    """Yield every prefix that at least two strings share, up to *longest* characters.

    A shorter one comes before the longer ones that begin with it. Prefixes of a single string are left
    out: given that they occur, they are certain. O(characters of the strings).
    """
    strings = [text for text in strings if text]
    as_long = _as_long(strings)
    number = 0
    # What begins alike: (members, length of what they share, log of its probability, parent).
    open_groups: list[tuple[list[str], int, float, int]] = [(strings, 0, 0.0, -1)]
    while open_groups:
        members, length, log_probability, parent = open_groups.pop()
        if longest is not None and length > longest:
            continue
        parts: defaultdict[str, list[str]] = defaultdict(list)
        for text in members:
            if len(text) > length:
                parts[text[length]].append(text)
        if length:
            yield Affix(members[0], length, len(members), as_long[length], log_probability, parent, frozenset(parts))
            parent, number = number, number + 1
        for char, own in parts.items():
            if len(own) > 1:
                open_groups.append((own, length + 1, log_probability + model.logs.get(char, model.other), parent))


def _as_long(strings: Sequence[str]) -> list[int]:
    """Return, per length, the number of strings that have at least as many characters."""
    of_length = Counter(map(len, strings))
    longer = [of_length[length] for length in range(max(of_length, default=0), -1, -1)]
    return [*accumulate(longer)][::-1]


_NEGLIGIBLE = 1e-17
_TINY = -700.0
"""Below it exp() is 0."""


def sigma_level(sigmas: float) -> float:
    """Return the significance level of an event of so many sigmas: P(Z > *sigmas*), one-sided.

    >>> [round(sigma_level(sigmas), 5) for sigmas in (1, 2, 3, 4)]
    [0.15866, 0.02275, 0.00135, 3e-05]
    """
    return erfc(sigmas / sqrt(2)) / 2


def log_test_statistic(count: int, strings: int, log_probability: float) -> float:
    """Return log T(M, N, substring) of equation (23).

    T is the probability that an affix of probability exp(*log_probability*) occurs *count* times or
    more among *strings* strings, given that it occurs at least once: 0.0 (certain) for a count of 1,
    since every affix that is looked at occurs.

    >>> round(exp(log_test_statistic(2, 7, log(1 / 26))), 4)
    0.1137

    Raises ValueError for a count that is not from 1 to *strings*.
    """
    if not 1 <= count <= strings:
        raise ValueError(f"an affix cannot occur {count} times at {strings} strings")
    if count == 1 or log_probability >= 0:
        return 0.0
    return min(0.0, _log_tail(count, strings, log_probability) - _log_at_least_once(strings, log_probability))


def _log_at_least_once(strings: int, log_p: float) -> float:
    """Return log(1 - (1 - p)**N)."""
    if log_p < _TINY:
        return log(strings) + log_p
    never = strings * log1p(-exp(log_p))
    return log(-expm1(never))


def _log_tail(count: int, strings: int, log_p: float) -> float:
    """Return log P(at least *count* of *strings*); *count* is 2 or more, p below 1.

    Terms are summed away from the largest one, each a fraction of the one before, so that they end after some multiple of
    the standard deviation.
    """
    p = exp(log_p)
    odds = p / (1 - p)
    largest = max(count, int((strings + 1) * p))
    total = term = 1.0
    for i in range(largest, strings):
        term *= (strings - i) / (i + 1) * odds
        total += term
        if term < _NEGLIGIBLE * total:
            break
    term = 1.0
    for i in range(largest, count, -1):
        term *= i / ((strings - i + 1) * odds)
        total += term
        if term < _NEGLIGIBLE * total:
            break
    return _log_exactly(largest, strings, log_p) + log(total)


def _log_exactly(count: int, strings: int, log_p: float) -> float:
    """Return the logarithm of equation (22), the binomial probability."""
    ways = lgamma(strings + 1) - lgamma(count + 1) - lgamma(strings - count + 1)
    never = log1p(-exp(log_p)) if log_p > _TINY else 0.0
    return ways + count * log_p + (strings - count) * never


SIGMAS = 3.0
"""How rare an event must be to be significant, unless said otherwise."""
COVERED = 0.9
"""Share of the strings with an affix that a longer one has, for the shorter one to be left out."""
MIN_CONTINUATIONS = 2


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
    """Return the prefixes of *shortest* to *longest* characters that chance does not explain, shorter ones first.

    *model* says what chance is; None takes the characters of the strings. The probability must be below
    that of an event of *sigmas* sigmas. *maximal* leaves out what is a prefix of a longer significant
    one; *followed* leaves out what no string goes on after. O(characters) to find, and to cut out what
    was found.
    """
    level = log(sigma_level(sigmas))
    found: list[Affix] = []
    # Position of the nearest significant prefix at or above each counted one.
    nearest: list[int] = []
    for prefix in counted_prefixes(strings, model or empirical(strings), longest):
        above = nearest[prefix.parent] if prefix.parent >= 0 else -1
        if prefix.length >= shortest:
            log_t = log_test_statistic(prefix.count, prefix.strings, prefix.log_probability)
            if log_t < level:
                found.append(replace(prefix, log_t=log_t, parent=above))
                above = len(found) - 1
        nearest.append(above)
    shorter = {one.parent for one in found} if maximal else set()
    return [one for place, one in enumerate(found) if place not in shorter and (one.following or not followed)]


def significant_suffixes(strings: Sequence[str], **filters: Any) -> list[Affix]:
    """Return the suffixes that chance does not explain: the prefixes of the reversed strings, reversed.

    *filters* are those of :func:`significant_prefixes`; *followed* asks for something before the suffix.

    >>> [affix.text for affix in significant_suffixes(["ab.html", "cd.html", "x"], maximal=True)]
    ['.html']
    """
    backwards = [text[::-1] for text in strings]
    return [replace(one, backwards=True) for one in significant_prefixes(backwards, **filters)]


def snapped_prefixes(strings: Sequence[str], *, model: CharacterModel | None = None, shortest: int = 1) -> list[Affix]:
    """Return the significant prefixes that end where a person would end them, a prefix of a prefix first.

    The document's algorithm, followed to the letter, does not give the document's own result: since two of
    three strings go on with "b", it finds Prefix1_b where Prefix1_ is meant. So an affix has to end at a delimiter, or
    where letters meet digits, be followed by two different characters or more (what all go on with belongs to it), and not
    be all but covered by a longer one.

    Parameters are those of :func:`significant_prefixes`. O(characters of the strings).

    >>> [affix.text for affix in snapped_prefixes(["shop-a1", "shop-b2", "shop-c3"])]
    ['shop-']
    """
    found = significant_prefixes(strings, model=model, shortest=shortest)
    whole = [_is_whole(one) for one in found]
    covered = [False] * len(found)
    for one, is_whole in zip(found, whole, strict=True):
        above = one.parent if is_whole else -1
        # Whoever covers a covered one has covered those above it already.
        while above >= 0 and not covered[above] and one.count >= COVERED * found[above].count:
            covered[above] = True
            above = found[above].parent
    return [one for place, one in enumerate(found) if whole[place] and not covered[place]]


def _is_whole(prefix: Affix) -> bool:
    """Return whether a prefix ends at a boundary and different things follow it."""
    last = _kind(prefix.source[prefix.length - 1])
    several = len(prefix.following) >= MIN_CONTINUATIONS
    return several and (not last or all(_kind(char) != last for char in prefix.following))


def _kind(char: str) -> str:
    """Return the kind of a character: letter, digit, or "" for a delimiter."""
    return "digit" if char.isdigit() else "letter" if char.isalpha() else ""
