"""How two pages differ: hardly, as a page differs from itself by its clock, or as two pages of a site do.

What pages of a site have in common, its template, says nothing. What counts is what is a page's own: the
blocks that most of some *other* pages of the site lack. (The rare words of a page, in the words of
url-normalization-rule-inference.) Two pages that share less than half of what is their own, by words,
differ clearly.
"""

from collections import Counter
from collections.abc import Sequence
from enum import Enum

from .sketch import Sketch

SHARED = 0.5
"""Pages that have less than this share of their own blocks in common differ clearly."""


class Difference(Enum):
    """How a page differs from the one that it is compared with."""

    #: Not at all.
    NONE = "none"
    #: In a few words, or nobody can tell in how many.
    NEAR = "near"
    #: In most of what is its own.
    CLEAR = "clear"
    #: One of them is no page, or has hardly any text.
    UNKNOWN = "unknown"


def difference(one: Sketch | None, two: Sketch | None, others: Sequence[Sketch]) -> Difference:
    """Return how two pages differ of which it is known that they do; *others* are pages of their site.

    Without sketches nobody can tell in how much: near.
    """
    if one is None or two is None:
        return Difference.NEAR
    met = Counter(block for other in others for block in set(other.blocks))
    own_one, own_two = _own(one, met, len(others)), _own(two, met, len(others))
    weights = _weights(one) | _weights(two)
    all_own = own_one | own_two
    words = sum(weights[block] * count for block, count in all_own.items())
    shared = sum(weights[block] * count for block, count in (own_one & own_two).items())
    return Difference.CLEAR if words and shared < SHARED * words else Difference.NEAR


def is_same_form(one: Sketch | None, two: Sketch | None, unlike: Sketch | None) -> bool:
    """Return whether *two* shows most of what *one* shows and *unlike* does not, in blocks of as many words.

    So two visits to a page to wait are alike, whose clock or number of the request differs, and two products are not.
    """
    if one is None or two is None or unlike is None or one.words != two.words or one.weights != two.weights:
        return False
    weights = _weights(one)
    told = Counter(one.blocks) - Counter(unlike.blocks)
    words = sum(weights[block] * count for block, count in told.items())
    shared = sum(weights[block] * count for block, count in (told & Counter(two.blocks)).items())
    return words > 0 and shared >= SHARED * words


def own_words(sketch: Sketch, others: Sequence[Sketch]) -> int:
    """Return how many words of a page are its own; *others* are pages of its site."""
    met = Counter(block for other in others for block in set(other.blocks))
    weights = _weights(sketch)
    return sum(weights[block] * count for block, count in _own(sketch, met, len(others)).items())


def _own(sketch: Sketch, met: Counter[int], pages: int) -> Counter[int]:
    """Return the blocks of a page that most of *pages* other ones lack."""
    return Counter({block: count for block, count in Counter(sketch.blocks).items() if 2 * met[block] <= pages})


def _weights(sketch: Sketch) -> dict[int, int]:
    return dict(zip(sketch.blocks, sketch.weights, strict=True))
