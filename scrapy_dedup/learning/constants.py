"""Constant pages: one page for all URLs that hold a literal, such as a log-in form with any ``returnto=``.

One content under all values of a key is one observation, and proves nothing: a log-in form that answers for every address and an error
that answers for every number look alike. So there is evidence of another kind: the same paths show other pages without the
literal, and what would be ignored tells no other pages of these paths apart, unless the literal is named after logging in.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Final

from .operations import Condition, Constant
from .views import View

LEAST_URLS: Final = 12
"""URLs of a constant page."""
MOST_OTHER: Final = 0.02
"""Share of them that may show something else."""
MOST_PAGES: Final = 20
"""Constant pages of a site."""
TELLING: Final = 5
"""Pages that a key tells apart beside."""
COMMON: Final = 0.8
"""Share of the URLs of a content that have a word for it to be what these have in common."""
OWN: Final = 0.1
"""Share of the URLs with these words from which on a content is theirs."""
RARELY: Final = 0.05
"""Share of the contents in which a key that hardly tells nothing varies."""

_words = re.compile(r"[0-9A-Za-z]+").findall
_is_login = re.compile(r"log.?in|sign.?in|sign.?up|auth|register|passw|account", re.IGNORECASE).search
_Path = tuple[tuple[str, str], ...]


def constant_pages(views: Sequence[View], pages: Sequence[int]) -> list[Constant]:
    """Return the constant pages of a site, those of most URLs first."""
    walls = _shown_by_unrelated(views, pages)
    holding: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    of_path: defaultdict[_Path, list[int]] = defaultdict(list)
    paths = [tuple(sorted([(key, value) for key, value in view.items() if not _is_asked(key)])) for view in views]
    for row, view in enumerate(views):
        of_path[paths[row]].append(row)
        for key, value in view.items():
            if _is_asked(key):
                holding[key, value].append(row)
    found = []
    for (key, value), rows in holding.items():
        if len({frozenset(views[row].items()) for row in rows}) < LEAST_URLS:
            continue
        page, number = Counter([pages[row] for row in rows]).most_common(1)[0]
        if page not in walls or len(rows) - number + 0.5 > max(MOST_OTHER * len(rows), 0.51):
            continue
        beside = [row for path in {paths[row] for row in rows} for row in of_path[path] if views[row].get(key) != value]
        if len({pages[row] for row in beside} - {page}) < LEAST_URLS // 2:
            continue
        if not _is_login(f"{key}={value}") and _tells(views, pages, rows, beside, key):
            continue
        keys = frozenset([each for row in rows for each in views[row]])
        guard = (Condition(key, frozenset([value])),)
        found.append((len(rows), Constant(name=f"{key}={value}", keys=keys, guard=guard)))
    return [each for _, each in sorted(found, key=lambda each: (-each[0], each[1].name))[:MOST_PAGES]]


def _is_asked(key: str) -> bool:
    return key.startswith("q.")


def _tells(
    views: Sequence[View], pages: Sequence[int], rows: Sequence[int], beside: Sequence[int], literal: str
) -> bool:
    """Return whether a key that would be ignored tells pages of the same paths apart: then what answers is a wall in front of them."""
    for key in {each for row in rows for each in views[row] if _is_asked(each) and each != literal}:
        if len({views[row].get(key) for row in rows}) <= TELLING:
            continue
        told = {(views[row][key], pages[row]) for row in beside if key in views[row]}
        contents = len({page for _, page in told})
        if contents >= TELLING and contents >= 0.5 * len({value for value, _ in told}):
            return True
    return False


def _shown_by_unrelated(views: Sequence[View], pages: Sequence[int]) -> set[int]:
    """Return the contents of many URLs that have nothing in common but what many others have, too."""
    showing: defaultdict[int, list[int]] = defaultdict(list)
    for row, page in enumerate(pages):
        showing[page].append(row)
    varying = Counter[str]()
    many: dict[int, set[str]] = {}
    several = 0
    for page, rows in showing.items():
        if len(rows) > 1:
            several += 1
            keys = {key for row in rows for key in views[row]}
            vary = {key for key in keys if len({views[row].get(key) for row in rows}) > 1}
            varying.update(vary)
            if len(rows) > 2:
                many[page] = vary
    words = [{word for key, value in view.items() for word in (*_words(value), key)} for view in views]
    having: defaultdict[str, set[int]] = defaultdict(set)
    for row, of_row in enumerate(words):
        for word in of_row:
            having[word].add(row)
    found = set()
    for page, vary in many.items():
        rows = showing[page]
        times = Counter([word for row in rows for word in words[row]])
        common = sorted(
            [word for word, number in times.items() if number >= COMMON * len(rows)],
            key=lambda word: (len(having[word]), word),
        )
        related = set(having[common[0]]) if common else set(range(len(views)))
        for word in common[1:8]:
            related &= having[word]
        rare = len(rows) >= LEAST_URLS and any(varying[key] - 1 <= RARELY * several for key in vary)
        if rare or len(rows) < OWN * len(related):
            found.add(page)
    return found
