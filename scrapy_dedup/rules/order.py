"""Paths in order: segments and matrix parameters whose order makes no difference, sorted."""

from collections.abc import Callable, Sequence
from functools import lru_cache

from ..urls.paths import split_extension
from ..urls.percent import path_value
from .operations import AnyOrder

Unit = tuple[str, ...]
"""A segment, or a name and its value."""


def in_order(path: str, key: str, operation: AnyOrder) -> str:
    """Return *path*, in normal form, with its segments (*key* ``path``) or their matrix parameters (``matrix``) sorted."""
    if key == "path":
        return segments_in_order(path, operation)
    return "/".join([_params_in_order(text) for text in path.split("/")]) if ";" in path else path


def _params_in_order(text: str) -> str:
    head, *params = text.split(";")
    return ";".join([head, *sorted(params)])


def segments_in_order(path: str, operation: AnyOrder) -> str:
    """Return *path*, in normal form, with the segments that *operation* names sorted, each run of them in its place.

    >>> segments_in_order("/list/size-9/color-red/", AnyOrder(["color-", "size-"]))
    '/list/color-red/size-9/'
    >>> segments_in_order("/size/9/color/red/page/2", AnyOrder(["color/", "size/"]))
    '/color/red/size/9/page/2'
    >>> segments_in_order("/tags/b/a.html", AnyOrder(after=1))
    '/tags/a/b.html'
    """
    texts = path.split("/")
    slash = len(texts) > 1 and not texts[-1]
    if slash:
        del texts[-1]
    start = 1 + operation.after
    if len(texts) <= start + 1:
        return path
    heads, pairs = _beginnings(operation.names)
    # Without names, all segments are moved.
    is_one = (lambda text: text.startswith(heads)) if operation.names else bool
    stem, extension = split_extension(texts[-1])
    end = ""
    if extension is not None and (is_one(stem) or (texts[-2] in pairs and not is_one(texts[-2]))):
        texts[-1], end = stem, f".{extension}"
    units = _sorted_runs(texts[start:], is_one, pairs)
    return "/".join([*texts[:start], *[text for unit in units for text in unit]]) + end + ("/" if slash else "")


@lru_cache(maxsize=4096)
def _beginnings(names: tuple[str, ...]) -> tuple[tuple[str, ...], frozenset[str]]:
    """Return the beginnings of segments among *names*, and the segments that name the next, as in the normal form of a path."""
    heads = tuple([path_value(name) for name in names if not name.endswith("/")])
    return heads, frozenset([path_value(name[:-1]) for name in names if name.endswith("/")])


def _sorted_runs(texts: Sequence[str], is_one: Callable[[str], bool], pairs: frozenset[str]) -> list[Unit]:
    """Return the segments as units, each run of those that are moved sorted."""
    found: list[Unit] = []
    run: list[Unit] = []
    place = 0
    while place < len(texts):
        if is_one(texts[place]):
            run.append((texts[place],))
        elif texts[place] in pairs and place + 1 < len(texts) and texts[place + 1]:
            run.append((texts[place], texts[place + 1]))
            place += 1
        else:
            found += [*sorted(run), (texts[place],)]
            run = []
        place += 1
    return found + sorted(run)
