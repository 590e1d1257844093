"""Beginnings of paths, by which other formats say where a rule acts, and the predicates of ours.

A predicate is about a whole segment, so a beginning is read as far as its last segment is whole:
``/shop`` is ``/shop``, ``/shop.html`` and what is below it, and not ``/shopping``. What is read never
covers a URL that the format does not.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ...urls import ValueClass
from ...urls.paths import split_extension
from ..predicates import Absent, Literal, OfClass, Predicate
from ..table import PATH_KINDS
from .values import Inexpressible

__all__ = ["ANY", "Area", "Match", "areas_of", "joined", "matches_of"]

ANY = OfClass(ValueClass("any"))
"""The key is there."""

Match = dict[str, Predicate]


def matches_of(pattern: str, *, exact: bool = False) -> list[Match]:
    """Return the matches that together cover the paths beginning with *pattern*, or (*exact*) being it.

    ``*`` in the place of a segment is any one segment; ``*.php`` at the end is any path below that
    ends so.

    >>> matches_of("/forum/")
    [{'path.0': Literal(value='forum', optional=False), 'path.1': OfClass(...)},
     {'path.0': Literal(value='forum', optional=False), 'path.trail': ..., 'path.1': Absent(), 'ext': Absent()}]

    Raises Inexpressible.
    """
    if not exact:
        pattern = pattern.rstrip("*")
    if not pattern.startswith("/"):
        if pattern and not exact:
            raise Inexpressible(f"the path {pattern!r} does not begin with /")
        pattern = f"/{pattern}"
    *above, last = pattern[1:].split("/")
    match: Match = {}
    for position, text in enumerate(above):
        match[f"path.{position}"] = _segment(text)
    here, below = f"path.{len(above)}", f"path.{len(above) + 1}"
    if not last:
        if not above:
            return [{here: Absent()}] if exact else [{}]
        return _with_slash(match, here, above[-1], exact=exact)
    if last.startswith("*.") and "*" not in last[1:]:
        _, extension = split_extension(f"x{last[1:]}")
        if extension is None or exact:
            raise Inexpressible(f"no predicate is about a part of a segment ({last})")
        return [{**match, here: ANY, "ext": Literal(extension)}]
    literal = _segment(last)
    stem, extension = split_extension(last)
    if exact:
        named: Match = {} if extension is None else {"ext": Literal(extension)}
        last_one = literal if extension is None else Literal(stem)
        return [{**match, here: last_one, below: Absent(), "ext": Absent(), "path.trail": Absent(), **named}]
    if extension is None:
        return [{**match, here: literal}]
    return [
        {**match, here: Literal(stem), "ext": Literal(extension), below: Absent()},
        {**match, here: literal, below: ANY},
    ]


def _segment(text: str) -> Predicate:
    if text == "*":
        return ANY
    if "*" in text:
        raise Inexpressible(f"no predicate is about a part of a segment ({text})")
    if not text or text in {".", ".."} or any(char in text for char in ";="):
        raise Inexpressible(f"{text!r} is no segment that a predicate is about")
    return Literal(text)


def _with_slash(match: Match, here: str, last: str, *, exact: bool) -> list[Match]:
    """Return the matches of a path that ends in a slash: what is below it, and it itself."""
    itself: Match = {**match, "path.trail": Literal("/"), here: Absent(), "ext": Absent()}
    stem, extension = split_extension(last)
    if extension is not None:
        itself |= {f"path.{len(match) - 1}": Literal(stem), "ext": Literal(extension)}
    return [itself] if exact else [{**match, here: ANY}, itself]


@dataclass(frozen=True, slots=True)
class Area:
    """Some paths: ``text`` itself (``itself``), and all that is longer and begins with it (``below``).

    ``*`` in the text is one segment, or the beginning of one.
    """

    text: str
    itself: bool = False
    below: bool = False

    def __contains__(self, other: "Area") -> bool:
        """Whether all of *other* is in this one."""
        if other.text == self.text:
            return self.itself >= other.itself and self.below >= other.below
        return self.below and other.text.startswith(self.text)

    @property
    def everything(self) -> bool:
        """Whether these are all paths."""
        return self == Area("/", itself=True, below=True)

    def check(self, *, approximate: bool) -> None:
        """Raise Inexpressible where a beginning of a path, with ``*`` for any text, would be more than this."""
        if approximate:
            return
        if "*" in self.text:
            raise Inexpressible("the format has no * for one segment, only for any text")
        if not self.itself:
            raise Inexpressible("the format has nothing for what is below a path without the path itself")


def joined(areas: Iterable[Area]) -> list[Area]:
    """Return the same paths as few areas, sorted."""
    by_text: dict[str, Area] = {}
    for area in areas:
        known = by_text.get(area.text, area)
        by_text[area.text] = Area(area.text, known.itself or area.itself, known.below or area.below)
    found = sorted(by_text.values(), key=lambda area: area.text)
    return [area for area in found if not any(area in other for other in found if other is not area)]


def areas_of(match: Mapping[str, Predicate]) -> list[Area]:
    """Return paths that the path predicates of *match* hold for: all of them, their extensions apart.

    >>> areas_of({"path.0": Literal("view")})
    [Area(text='/view', itself=True, below=False), Area(text='/view/', itself=True, below=True)]

    Raises Inexpressible where it is about more than the first segments.
    """
    conditions = {key: predicate for key, predicate in match.items() if key.startswith(PATH_KINDS)}
    if not conditions:
        return [Area("/", itself=True, below=True)]
    segments: list[str] = []
    while (text := _text(conditions.get(f"path.{len(segments)}"))) is not None:
        del conditions[f"path.{len(segments)}"]
        segments.append(text)
    open_end = bool(segments) and segments[-1] == "*"
    if open_end:
        del segments[-1]
    end = f"path.{len(segments) + open_end}"
    closed = conditions.get(end) == Absent()
    if closed:
        del conditions[end]
    extension, slash = conditions.pop("ext", None), conditions.pop("path.trail", None)
    if conditions:
        raise Inexpressible(f"such condition on {next(iter(conditions))}")
    here = "/" + "/".join(segments)
    above = f"{here}/" if segments else here
    looks_extended = bool(segments) and split_extension(segments[-1])[1] is not None
    if open_end and not closed and slash is None:
        if extension is None:
            return [Area(above, below=True)]
        if isinstance(extension, Literal) and not extension.optional:
            return [Area(f"{above}*.{extension.value}", below=True)]
    if open_end or not (segments or closed):
        raise Inexpressible("condition on how a path ends, alone")
    if not closed:
        if extension is not None or slash is not None:
            raise Inexpressible("condition on how a path ends, alone")
        whole = Area(above, itself=not looks_extended, below=True)
        return [whole] if looks_extended else [Area(here, itself=True), whole]
    if isinstance(extension, Literal) and not extension.optional and segments:
        here = f"{here}.{extension.value}"
    elif extension not in {None, Absent()} or looks_extended:
        raise Inexpressible("such condition on the extension")
    if slash not in {None, Absent(), Literal("/")} or (slash == Literal("/") and not segments):
        raise Inexpressible("such condition on the slash at the end")
    without = [] if slash == Literal("/") else [Area(here, itself=True)]
    return without if slash == Absent() or not segments else [*without, Area(f"{here}/", itself=True)]


def _text(predicate: Predicate | None) -> str | None:
    """Return what is written for a segment; None where nothing can be."""
    if predicate == ANY:
        return "*"
    if isinstance(predicate, Literal) and not predicate.optional:
        if "*" in predicate.value:
            raise Inexpressible("way to write a * that is one")
        return predicate.value
    return None
