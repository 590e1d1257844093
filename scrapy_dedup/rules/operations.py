"""Operations of a rule: the change of one key on the way from a URL to its canonical key.

All operations of the rules that match a URL act at once, on the URL as it came.
An operation that does not apply to a value (``Ignore(only={"1"})`` where the value is 2)
leaves it to the next best one.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from ..urls import ValueClass

_repeat = re.compile(r".*\[[0-9]+\]\Z", re.DOTALL).match

Only = frozenset[str] | ValueClass | None


def _only(only: Iterable[str] | ValueClass | None) -> Only:
    return only if only is None or isinstance(only, ValueClass) else frozenset(only)


@dataclass(frozen=True, slots=True, init=False)
class Ignore:
    """Drop the key: URLs with and without it, whatever its value, have one canonical key.

    ``only``: these values, or values of this class; others stay.

    Of a path, and of the labels of a host:

    - A segment whose value is *named* - by ``only`` with values, or by a literal
      or a set in the rule's match - is cut out, and the next segments move up:
      ``/index.php/x`` is ``/x`` where ``path.0`` is matched by ``index.php``.
    - A segment that is dropped whatever it is, or by its class, is shown as ``*``
      while a later segment stays, and is left away at the end of the path:
      ``/item/7/any-title`` is ``/item/7``, but ``/item/7/any-title/reviews`` is
      ``/item/7/*/reviews``. Were it cut out, ``/item/7/reviews`` would be next, and in
      the end every page under ``/item/7`` would be that one page.
    - With ``cut=True`` the segment is cut out also where no value is named (a session id
      between two segments, ``/(S(abc))/x``); the rule should then match the value by
      its class.
    """

    only: Only
    cut: bool

    def __init__(self, only: Iterable[str] | ValueClass | None = None, *, cut: bool = False) -> None:
        object.__setattr__(self, "only", _only(only))
        object.__setattr__(self, "cut", cut)


@dataclass(frozen=True, slots=True, init=False)
class IgnoreValue:
    """Drop the value and keep the presence of the key: the value is shown as ``*``.

    ``only``: as in :class:`Ignore`.
    """

    only: Only

    def __init__(self, only: Iterable[str] | ValueClass | None = None) -> None:
        object.__setattr__(self, "only", _only(only))


@dataclass(frozen=True, slots=True, init=False)
class Set:
    """Replace values: from value -> to value. None is absent, on either side.

    >>> Set({"all": None}) == Set({"all": None})
    True
    """

    values: tuple[tuple[str | None, str | None], ...]

    def __init__(self, values: Mapping[str | None, str | None]) -> None:
        items = [(old, new) for old, new in values.items() if old is not None or new is not None]
        pairs = sorted(items, key=lambda pair: (pair[0] is not None, pair[0] or ""))
        object.__setattr__(self, "values", tuple(pairs))


@dataclass(frozen=True, slots=True)
class Lower:
    """Show the value in lower case; with ``first`` its first letter only (``/wiki/Cat`` is ``/wiki/cat``)."""

    first: bool = False


@dataclass(frozen=True, slots=True)
class SetOfValues:
    """The values of a repeated parameter are a set: shown sorted, each once.

    With a *delimiter* the parts of one value are: ``color=red,blue`` is ``color=blue,red``.
    """

    delimiter: str = ""


@dataclass(frozen=True, slots=True, init=False)
class Nested:
    """The value is a URL: shown by its own canonical key, to a depth of 2.

    ``ignore``: by the site of such a URL, or by site and first segment of the path, the parameters of it that are
    dropped here. That site has no rules for them, since it was not crawled; and they are dropped in this
    value only.

    >>> nested = Nested({"example.org": {"q.sid": Ignore()}, "example.net/video": {"q.t": Ignore(["0"])}})
    >>> nested == Nested({**nested.by_place(), "example.com": {}})
    True

    Raises ValueError for what is no parameter, or not ignored.
    """

    ignore: tuple[tuple[str, tuple[tuple[str, Ignore], ...]], ...]

    def __init__(self, ignore: Mapping[str, Mapping[str, Ignore]] | None = None) -> None:
        for place, keys in (ignore or {}).items():
            for key, operation in keys.items():
                if not key.startswith("q.") or key.endswith("*") or _repeat(key):
                    raise ValueError(f'"{key}" of {place} is no query parameter; write "q.NAME"')
                if not isinstance(operation, Ignore) or operation.cut:
                    raise ValueError(f'"{key}" of {place} can only be ignored')
        items = sorted((ignore or {}).items())
        object.__setattr__(self, "ignore", tuple((place, tuple(sorted(keys.items()))) for place, keys in items if keys))

    def by_place(self) -> dict[str, dict[str, Ignore]]:
        """Return what is dropped, by site or site and segment."""
        return {place: dict(keys) for place, keys in self.ignore}


@dataclass(frozen=True, slots=True)
class Keep:
    """Leave the key alone, whatever other rules do: a manual veto."""


TRANSFORMS = ("", "lower", "number")
#: Characters of what :class:`Replace` shows, at most: what is shown in itself grows with each step, and servers take no longer URLs.
LONGEST_TEXT: Final = 8_192


@dataclass(frozen=True, slots=True, init=False)
class Replace:
    """Show the value of another key: ``prefix`` + value of ``source`` + ``suffix``.

    Of several sources the values are shown with ``join`` between them (``/talk/start`` as ``id=talk:start``).

    ``transform``: "", "lower" or "number", which takes the zeros off the beginning of what is all digits. Where a
    *source* is absent, nothing is done. An empty *source* is always there, with the value "": the key shows a fixed
    text, whatever its own value.

    >>> Replace(["path.0", "path.1"], join=":").sources, Replace(["path.0"]).source
    (('path.0', 'path.1'), 'path.0')

    A text of more than :data:`LONGEST_TEXT` characters is not shown.

    Raises ValueError for another transform, for no source at all, and for texts of its own that are too long.
    """

    source: str | tuple[str, ...]
    prefix: str
    suffix: str
    transform: str
    join: str

    def __init__(
        self, source: str | Sequence[str], prefix: str = "", suffix: str = "", transform: str = "", join: str = ""
    ) -> None:
        if transform not in TRANSFORMS:
            raise ValueError(f"transform is {transform!r}, and must be 'lower' or 'number', or left out")
        if not isinstance(source, str) and not source:
            raise ValueError("there is no source; an empty text stands for a fixed value")
        several = not isinstance(source, str) and len(source) > 1
        if len(prefix) + len(suffix) + (len(join) * len(source) if several else 0) > LONGEST_TEXT:
            raise ValueError(f"its texts have more than {LONGEST_TEXT:,} characters; no server takes such a URL")
        object.__setattr__(
            self, "source", source if isinstance(source, str) else tuple(source) if several else source[0]
        )
        for name, text in (("prefix", prefix), ("suffix", suffix), ("transform", transform)):
            object.__setattr__(self, name, text)
        object.__setattr__(self, "join", join if several else "")

    @property
    def sources(self) -> tuple[str, ...]:
        """The keys whose values are shown."""
        return (self.source,) if isinstance(self.source, str) else self.source


@dataclass(frozen=True, slots=True, init=False)
class AnyOrder:
    """The order makes no difference: the parts of the key are shown sorted.

    - of ``query``: the parameters, between which ``;`` counts as ``&``;
    - of ``matrix``: the matrix parameters of a segment (``;a=1;b=2``);
    - of ``path``: the segments after the first *after* ones. With *names* only those that begin with one of
      these (``color-red``), where they stand in a row. A name that ends in a slash is a segment of its own,
      and the next one its value (``color/red``). An extension stays at the end of the path.

    >>> AnyOrder(["size-", "color-"]) == AnyOrder(["color-", "size-"])
    True

    Raises ValueError for a name that cannot begin a segment, and for a negative *after*.
    """

    names: tuple[str, ...]
    after: int

    def __init__(self, names: Iterable[str] = (), *, after: int = 0) -> None:
        names = tuple(sorted(set(names)))
        for name in names:
            if name in {"", "/"} or "/" in name[:-1]:
                raise ValueError(f'"{name}" begins no segment; write "color-", or "color/" for a segment and the next')
        if after < 0:
            raise ValueError(f"after is {after}, and is a number of segments")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "after", after)


@dataclass(frozen=True, slots=True)
class Anchored:
    """A URL that names an element of a page is that page: the operation of a kind of aliases.

    Its key is ``alias.`` and the key that names the element (``alias.q.msg``,
    ``alias.fragment``). Where that value ends in ``lead`` and a number (or an id), and the
    page on which the URL was found has an element called ``prefix`` and the same number,
    the URL is that page. ``pages``: the shapes of such pages, ``*`` for any name in the path, none if any
    page may be such (:func:`~scrapy_dedup.rules.alias_kinds.page_shape`).

    It does not apply to a URL alone, so canonical keys do not know it; the crawl does.
    """

    prefix: str
    lead: str = ""
    pages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Declared:
    """A URL that a page declares as its own is that page: the operation of a kind of aliases.

    Its key is ``alias.`` and the declaration: ``alias.canonical``, ``alias.shortlink``,
    ``alias.og:url``, ``alias.redirect``.
    """


Operation = Ignore | IgnoreValue | Set | Lower | SetOfValues | Nested | Keep | Replace | AnyOrder | Anchored | Declared
