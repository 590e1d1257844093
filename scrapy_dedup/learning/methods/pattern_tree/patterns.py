"""URLs as the key-value pairs of the paper, patterns of them, and back (pattern-tree, sections 2 and 3, Figure 2)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ....urls import GroupsLike, normal_parts, site_of_url, values_of
from ...data.url_table import REPEAT, joined_repeats

ANYTHING = "*"
"""How the paper writes every regular expression."""
View = dict[str, str]
"""Key -> value; the values of a repeated key are joined by ``REPEAT``."""


def view_of(url: str, groups: GroupsLike = None) -> View:
    """Return the key-value pairs of a URL, segments of the path whole; empty where the text is no URL with a host.

    >>> view_of("http://us.example.com/images/results.aspx?q=hp")
    {'scheme': 'http', 'host.1': 'us', 'path.0': 'images', 'path.1': 'results.aspx', 'q.q': 'hp'}
    """
    values = values_of(url, groups=groups)
    path = normal_parts(url)[1].removeprefix("/")
    segments = path.split("/") if path else []
    parts = {key: value for key, value in values.items() if key.startswith(("scheme", "host."))}
    parts.update((f"path.{position}", segment) for position, segment in enumerate(segments))
    parts.update((key, value) for key, value in values.items() if key.startswith("q."))
    return dict(joined_repeats(parts))


def composed(view: Mapping[str, str], url: str, groups: GroupsLike = None) -> str:
    """Return the text that a view stands for, on the site of a URL: a key that tells pages apart, not always a URL.

    >>> composed({"scheme": "http", "host.1": "us", "path.0": "a", "path.1": "*", "q.sid": "*"}, "http://example.com/")
    'http://us.example.com/a/*?sid=*'
    """
    labels, segments = _numbered(view, "host."), _numbered(view, "path.")
    host = ".".join([*reversed(labels), view.get("host.0", site_of_url(url, groups=groups))])
    query = sorted(
        f"{key[2:]}={value}" for key, joined in view.items() if key.startswith("q.") for value in joined.split(REPEAT)
    )
    text = f"{view.get('scheme', 'http')}://{host}/{'/'.join(segments)}"
    return f"{text}?{'&'.join(query)}" if query else text


def _numbered(view: Mapping[str, str], kind: str) -> list[str]:
    """Return the values of ``host.1``, ``host.2``.. or ``path.0``, ``path.1``.. in order."""
    found = [(int(key[len(kind) :]), view[key]) for key in view if key.startswith(kind) and key != "host.0"]
    return [value for _, value in sorted(found)]


@dataclass(frozen=True, slots=True)
class Fixed:
    """The key has this value."""

    value: str

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is the one."""
        return value == self.value


@dataclass(frozen=True, slots=True)
class Varied:
    """The key has one of many values. ``optional``: it may be absent. ``excluded``: the salient values of the node's siblings."""

    optional: bool = False
    excluded: frozenset[str] = frozenset()

    def matches(self, value: str | None) -> bool:
        """Return whether *value*, None for an absent key, is one of them."""
        return self.optional if value is None else value not in self.excluded


Part = Fixed | Varied


@dataclass(frozen=True, slots=True)
class Pattern:
    """The pattern of a tree node: what each key of its URLs may be. Other keys are absent.

    >>> pattern = Pattern({"path.0": Fixed("album"), "q.b": Varied(optional=True)})
    >>> print(pattern)
    path.0=album & q.b=.*?
    >>> pattern.matches({"path.0": "album"}), pattern.matches({"path.0": "album", "q.c": "1"})
    (True, False)
    """

    parts: Mapping[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "parts", dict(self.parts))

    def __hash__(self) -> int:
        return hash(tuple(self.parts.items()))

    def __str__(self) -> str:
        return " & ".join(f"{key}={_text(part)}" for key, part in self.parts.items())

    def matches(self, view: Mapping[str, str]) -> bool:
        """Return whether a URL with these keys and values is of this pattern."""
        for key, part in self.parts.items():
            if not part.matches(view.get(key)):
                return False
        return all(key in self.parts for key in view)

    @property
    def literals(self) -> dict[str, str]:
        """The keys with one value."""
        return {key: part.value for key, part in self.parts.items() if isinstance(part, Fixed)}

    @property
    def varied(self) -> list[str]:
        """The keys with many values."""
        return [key for key, part in self.parts.items() if isinstance(part, Varied)]


def ordered(keys: Iterable[str]) -> list[str]:
    """Return keys in the order in which they stand in a URL."""
    kinds = ["scheme", "host", "path", "q"]

    def place(key: str) -> tuple[int, int, str]:
        kind, _, name = key.partition(".")
        return kinds.index(kind) if kind in kinds else len(kinds), int(name) if name.isdigit() else 1 << 16, key

    return sorted(keys, key=place)


def _text(part: Part) -> str:
    return part.value if isinstance(part, Fixed) else f".*{'?' if part.optional else ''}"
