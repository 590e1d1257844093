"""One page under hundreds of URLs that differ in a token, beside pages of the same path that have none.

A rule needs ten groups of URLs, of which one page gives two at most: a page that answers everywhere (a log-in, an
error, "0 results") would be ten witnesses for anything. So the ten groups may be one page's only where the crawl shows
that this page does not answer everywhere, and that what is dropped tells no pages apart:

- it shows under one key of one path, and all URLs of the site that have this key show it, more of them than one in two
  hundred of another page would let pass (:data:`.evidence.MAX_BAD_SHARE`). Walls and errors answer elsewhere, too.
- the path works: other pages of it, many, are told apart by a parameter that these URLs have as well, and which is kept.
  A token is an addition to such URLs, where an id would stand alone. That parameter has other values there: that
  ``t=5`` is a page and ``t=5&s=..`` another one would show that the token matters.
- the path worked all the time that the page was seen. A wall that comes and goes takes the whole path with it.
- the values are drawn at random, and stand nowhere else on the site. Numbers, words and what counts up are ids.

Redirects and errors are asked beside this (:func:`.learners.difference_sets`): where some token has led to one, tokens
matter. What stays of the key is that it is there, and all other keys are kept as they are. Whether the page is one that waits for
a log-in, and answers for one kind of token only, no crawl can show: samples can, when it begins to differ.
"""

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from ..rules import Absent, IgnoreValue, Literal, OfClass, Predicate
from ..urls import class_of
from .config import Config, current
from .constant_pages import MAX_CANDIDATES, shared_literals
from .emission import Proposal, seen_values
from .evidence import upper_bound
from .frame import NEVER_KEPT, Frame, Level
from .table import ABSENT, RARE, REPEAT, Rows, is_token

Times = npt.NDArray[np.float64]

MIN_TESTED = 0.9
"""Share of the URLs beside which there is one that differs in the token only."""
MIN_PAGES = 30
"""Other pages of the path that must have been seen."""
MIN_TOLD = 0.95
"""Pages per value of the parameter that tells these apart: where fewer do, the path answers for what it has not."""
MOST_OTHERS = 0.005
"""Upper bound of the share of a family's URLs that may be pages of their own."""
PERIODS = Config().proposed_groups
"""Parts of the time that the page was seen, in each of which the path must have worked."""
MAX_ASKED = 24
"""Keys that a pattern may ask for."""
MIN_DRAWN = 0.75
"""Share of the places of a token at which no letter stands in most of them."""
MAX_LOOKED_AT = 5_000
"""Tokens whose letters are counted."""
PARAMETERS = ("q.", "m.", "s.")


def token_drops(frame: Frame, times: Sequence[float] | None) -> list[Proposal]:
    """Return what ignores the tokens of pages that have hundreds of URLs.

    *times* tells when each URL of the frame was seen; where it is None, nobody says that the path did not work
    meanwhile. O(n log n), and O(n) for each key of a page that has such tokens.
    """
    order = np.argsort(frame.content, kind="stable")
    _, sizes = np.unique(frame.content, return_counts=True)
    ends = np.cumsum(sizes)
    seen = None if times is None else np.asarray(times, dtype=np.float64)
    found: list[Proposal] = []
    for number in np.argsort(-sizes, kind="stable")[:MAX_CANDIDATES]:
        if not _is_enough(int(sizes[number])):
            break
        rows = np.sort(order[ends[number] - sizes[number] : ends[number]])
        tokens = [key for key in frame.columns if _is_own_token(frame, rows, key)]
        if not tokens:
            continue
        match = _pattern(frame, rows, tokens, seen)
        if match is not None:
            shapes = ((key, class_of(_values(frame, rows, key))) for key in tokens)
            found += [Proposal(match, key, IgnoreValue(only=shape)) for key, shape in shapes]
    return found


def _is_enough(seen: int) -> bool:
    """Tell whether so many URLs of one page, and none of another one, say that such are few."""
    return upper_bound(0, seen) <= MOST_OTHERS


def _is_own_token(frame: Frame, rows: Rows, key: str) -> bool:
    """Tell whether a parameter stands on all URLs of a page and on no other, with values that are drawn at random."""
    codes = frame.columns[key]
    if not key.startswith(PARAMETERS) or not codes[rows[0]] or not codes[rows].all():
        return False
    if np.count_nonzero(codes) > len(rows):
        return False
    values = _values(frame, rows, key)
    return _is_enough(len(values)) and _are_drawn(values)


def _values(frame: Frame, rows: Rows, key: str) -> list[str]:
    return seen_values(frame.table, frame.rows[rows], key)


def _are_drawn(values: Sequence[str]) -> bool:
    """Tell whether values look drawn at random: long, of letters and digits, and not counted up.

    >>> from hashlib import md5
    >>> _are_drawn([md5(bytes([number])).hexdigest() for number in range(50)])
    True
    >>> _are_drawn([f"{number:032x}" for number in range(50)]), _are_drawn([f"page-{number}" for number in range(50)])
    (False, False)
    """
    if not all(map(is_token, values)) or not all(map(str.isascii, values)) or class_of(values).name == "int":
        return False
    some, shortest = values[:: len(values) // MAX_LOOKED_AT + 1], min(map(len, values))
    letters = np.array([value[:shortest] for value in some]).view("U1").reshape(len(some), shortest)
    most = np.array([np.unique(place, return_counts=True)[1].max() for place in letters.T])
    return bool(np.mean(most <= len(some) / 2) >= MIN_DRAWN)


def _pattern(
    frame: Frame, rows: Rows, tokens: Sequence[str], times: Times | None
) -> tuple[tuple[str, Predicate], ...] | None:
    """Return what URLs must be like for their tokens to be ignored; None where they must not be."""
    literals = shared_literals(frame, rows)
    others = _with_literals(frame, literals)
    others = others[~np.isin(others, rows)]
    there = [key for key, codes in frame.columns.items() if codes[rows].any() and key not in tokens]
    varying = [key for key in there if key not in literals and key not in NEVER_KEPT]
    if not all(key.startswith(PARAMETERS) for key in varying) or not _is_tested(frame, rows, tokens):
        return None
    if not _are_told_apart(frame, rows, others, varying) or _stand_elsewhere(frame, rows, tokens):
        return None
    if times is not None and not _worked_meanwhile(times[rows], times[others]):
        return None
    known = {*there, *tokens, *NEVER_KEPT, RARE}
    missing = [key for key, codes in frame.columns.items() if key not in known and codes[others].any()]
    asked = [*_asked(frame, rows, literals, varying), *((key, Absent()) for key in missing)]
    # A pattern cannot ask for all values of a repeated key.
    repeated = any(REPEAT in frame.table.vocabulary[code] for code in literals.values())
    return None if repeated or len(asked) > MAX_ASKED else tuple(asked)


def _asked(
    frame: Frame, rows: Rows, literals: dict[str, int], varying: Sequence[str]
) -> Iterator[tuple[str, Predicate]]:
    """Yield what the values of each key must be: those that were seen, or of their shape."""
    for key, code in literals.items():
        yield key, Literal(frame.table.vocabulary[code])
    for key in varying:
        optional = not frame.columns[key][rows].all()
        yield key, OfClass(class_of(_values(frame, rows, key)), optional)


def _with_literals(frame: Frame, literals: dict[str, int]) -> Rows:
    rows = np.arange(len(frame))
    for key, code in literals.items():
        rows = rows[frame.columns[key][rows] == code]
    return rows


def _is_tested(frame: Frame, rows: Rows, tokens: Sequence[str]) -> bool:
    """Tell whether enough groups of URLs differ in the tokens only, and nearly all URLs are in one."""
    sizes = frame.subset(rows).groups(dict.fromkeys(tokens, Level.DROPPED)).size
    several = sizes[sizes > 1]
    return len(several) >= current().proposed_groups and int(several.sum()) >= MIN_TESTED * len(rows)


def _are_told_apart(frame: Frame, rows: Rows, others: Rows, varying: Sequence[str]) -> bool:
    """Tell whether pages of the path are told apart by parameters that are kept, and that have other values there.

    A parameter that does not tell them apart must have no value that is not theirs: they would not speak for it.
    """
    is_told = False
    for key in varying:
        codes = frame.columns[key]
        here, there = np.unique(codes[rows]), others[codes[others] != ABSENT]
        pages, values = np.unique(frame.content[there]), np.unique(codes[there])
        if len(pages) >= max(MIN_PAGES, MIN_TOLD * len(values)) and len(values) >= MIN_PAGES:
            if np.isin(values, here).any() or ABSENT in here:
                return False
            is_told = True
        elif not np.isin(here, codes[others]).all():
            return False
    return is_told


def _stand_elsewhere(frame: Frame, rows: Rows, tokens: Sequence[str]) -> bool:
    """Tell whether some token is the value of another key of the site: then it names something."""
    values = np.unique(np.concatenate([frame.columns[key][rows] for key in tokens]))
    return any(bool(np.isin(codes, values).any()) for key, codes in frame.columns.items() if key not in tokens)


def _worked_meanwhile(page: Times, others: Times) -> bool:
    """Tell whether others were seen between the first and the last URL of the page, in each part of its time."""
    others = np.sort(others)
    for part in np.array_split(np.sort(page), PERIODS):
        if np.searchsorted(others, part[-1], "left") <= np.searchsorted(others, part[0], "right"):
            return False
    return True
