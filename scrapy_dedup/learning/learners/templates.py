"""Templates of URLs: the keys that a URL has, and which parts of its path are fixed.

Replace rules lead from one template to another. What varies inside duplicate clusters under one
template, such as a session id, is no part of it: other rules drop that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

MAX_LITERALS = 12
"""Values of a path segment, a host label or an extension that may all be fixed parts."""
MIN_SHARE = 0.1
MIN_URLS = 10
"""URLs, and share of URLs, from which on a value of a segment is a fixed part by itself."""
MIN_VARYING = 3
"""Clusters in which a key varies under one set of keys, from which on it is left out."""

Values = Mapping[str, str]


@dataclass(slots=True)
class Template:
    """URLs with the same keys and the same fixed parts.

    ``literals``: key -> its fixed value; ``keys``: the keys that vary; ``left_out``: keys of the URLs
    that say nothing of the page; ``rows``: the numbers of the URLs.
    """

    literals: dict[str, str]
    keys: tuple[str, ...]
    left_out: frozenset[str]
    rows: list[int] = field(default_factory=list)

    @property
    def parts(self) -> frozenset[str]:
        """The keys that its URLs have and that count."""
        return frozenset(self.literals) | frozenset(self.keys)

    @property
    def segments(self) -> int:
        """The number of segments of its paths."""
        return len({_base(key) for key in self.parts if is_segment(key)})


def is_segment(key: str) -> bool:
    """Tell whether a key is that of a path segment, or of a part of one.

    >>> is_segment("path.0"), is_segment("path.1.tail"), is_segment("path.trail")
    (True, True, False)
    """
    return key.startswith("path.") and key[5:6].isdigit()


def _base(key: str) -> str:
    return key.removesuffix(".head").removesuffix(".tail")


def templates_of(views: Sequence[Values], content: Sequence[int]) -> list[Template]:
    """Return the templates of URLs, given by their *views*; *content* is the cluster of each."""
    by_keys: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for row, view in enumerate(views):
        by_keys[frozenset(view)].append(row)
    found: dict[object, Template] = {}
    for keys, rows in by_keys.items():
        left_out = _varying(keys, rows, views, content)
        fixable = sorted(key for key in keys - left_out if _may_be_fixed(key))
        fixed = {key: _fixed([views[row][key] for row in rows]) for key in fixable}
        for row in rows:
            view = views[row]
            literals = {key: view[key] for key in fixable if view[key] in fixed[key]}
            free = tuple(sorted(keys - left_out - literals.keys()))
            name = (free, tuple(literals.items()))
            template = found.get(name)
            if template is None:
                template = found[name] = Template(literals, free, left_out)
            template.left_out |= left_out
            template.rows.append(row)
    return list(found.values())


def _may_be_fixed(key: str) -> bool:
    return key in {"scheme", "ext", "path.trail"} or key.startswith("host.") or is_segment(key)


def _fixed(values: Sequence[str]) -> frozenset[str]:
    """Return the values of a segment that are fixed parts of a path."""
    counts = Counter(values)
    if len(counts) == 1:
        return frozenset(counts)
    if len(counts) <= MAX_LITERALS and len(values) >= MIN_URLS * len(counts):
        return frozenset(counts)
    least = max(MIN_URLS, MIN_SHARE * len(values))
    return frozenset(value for value, count in counts.items() if count >= least)


def _varying(
    keys: Iterable[str], rows: Sequence[int], views: Sequence[Values], content: Sequence[int]
) -> frozenset[str]:
    """Return the parameters whose values vary inside clusters under one set of keys."""
    first: dict[int, int] = {}
    varies: Counter[str] = Counter()
    clusters: set[int] = set()
    names = [key for key in keys if not _may_be_fixed(key)]
    for row in rows:
        other = first.setdefault(content[row], row)
        if other != row and content[row] not in clusters:
            differing = [key for key in names if views[row][key] != views[other][key]]
            if differing:
                clusters.add(content[row])
                varies.update(differing)
    return frozenset(key for key, count in varies.items() if count >= MIN_VARYING and 2 * count >= len(clusters))
