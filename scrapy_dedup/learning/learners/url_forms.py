"""Forms of URLs, the keys that a URL has and which parts of its path are fixed; and how those of one become another's.

Replace rules lead from one form to another, each part copied, joined of several, or fixed. What varies inside duplicate
clusters under one form, such as a session id, is no part of it: other rules drop that.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from ...rules import Replace
from ...rules.actions import transformed
from ...urls import DeepSplit
from ...urls.deep_tokens import ENDS, whole_key
from ..config import current

MAX_LITERALS = 12
"""Values of a path segment, a host label or an extension that may all be fixed parts."""
MIN_SHARE = 0.1
MIN_URLS = 10
"""URLs, and share of URLs, from which on a value of a segment is a fixed part by itself."""
MIN_VARYING = 3
"""Clusters in which a key varies under one set of keys, from which on it is left out."""
MAX_PAIRS = 200
"""Pairs of URLs that a mapping is found on; it is verified on all."""
MAX_FAILURES = 0.05
"""Share of pairs that a copied part may fail on: the labels' noise."""
TRIED = 5
"""Pairs from which candidates of sources are taken."""
MAX_AFFIX = 40
TRANSFORMED = ("lower", "number")
"""Transforms that are tried where a value is no mere copy."""

Values = Mapping[str, str]


@dataclass(slots=True)
class UrlForm:
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
    def number(self) -> int:
        """The number of its first URL, which is of no other form."""
        return self.rows[0]

    @property
    def segments(self) -> int:
        """The number of segments of its paths."""
        return len({whole_key(key) for key in self.parts if is_segment(key)})


def with_whole_values(
    form: UrlForm, source: UrlForm, deep: Mapping[str, DeepSplit], views: Sequence[dict[str, str]]
) -> UrlForm:
    """Return a form with the values whole of which *source* has no such parts; the views of its URLs show them, too.

    ``/topic,17.0.html`` is made of ``?topic=17``: no operation makes a part of a value that is not there.
    """
    for key, split in deep.items():
        ends = {f"{key}{end}" for end in ENDS}
        if not ends <= form.parts or ends & source.parts:
            continue
        for row in form.rows:
            head, tail = (views[row][key + end] for end in ENDS)
            views[row][key] = f"{head}{split.delimiter}{tail}"
        literals = {name: value for name, value in form.literals.items() if name not in ends}
        keys = tuple(sorted({*form.keys, key} - ends))
        form = replace(form, literals=literals, keys=keys)
    return form


def is_segment(key: str) -> bool:
    """Return whether a key is that of a path segment, or of a part of one.

    >>> is_segment("path.0"), is_segment("path.1.tail"), is_segment("path.trail")
    (True, True, False)
    """
    return key.startswith("path.") and key[5:6].isdigit()


def forms_of(views: Sequence[Values], content: Sequence[int]) -> list[UrlForm]:
    """Return the forms of URLs, given by their *views*; *content* is the cluster of each."""
    by_keys: defaultdict[frozenset[str], list[int]] = defaultdict(list)
    for row, view in enumerate(views):
        by_keys[frozenset(view)].append(row)
    found: dict[object, UrlForm] = {}
    elsewhere = _shown_elsewhere(by_keys, views, content)
    for keys, rows in by_keys.items():
        left_out = _varying(keys, rows, views, content)
        fixable = sorted(key for key in keys - left_out - elsewhere[keys] if _may_be_fixed(key))
        fixed = {key: _fixed([views[row][key] for row in rows]) for key in fixable}
        for row in rows:
            view = views[row]
            literals = {key: view[key] for key in fixable if view[key] in fixed[key]}
            free = tuple(sorted(keys - left_out - literals.keys()))
            name = (free, tuple(literals.items()))
            form = found.get(name)
            if form is None:
                form = found[name] = UrlForm(literals, free, left_out)
            form.left_out |= left_out
            form.rows.append(row)
    return list(found.values())


def _shown_elsewhere(
    by_keys: Mapping[frozenset[str], Sequence[int]], views: Sequence[Values], content: Sequence[int]
) -> dict[frozenset[str], frozenset[str]]:
    """Return, by set of keys, the segments whose value another form of the page shows under another key.

    Such a segment varies, however few values it has: ``/talk/start`` beside ``?id=talk:start``. What all its values have
    in common is no part of them (``/7/page2`` beside ``?t=7&page=2``).
    """
    pages: defaultdict[int, list[tuple[frozenset[str], int]]] = defaultdict(list)
    for keys, rows in by_keys.items():
        for page, row in {content[row]: row for row in rows}.items():
            pages[page].append((keys, row))
    found: dict[frozenset[str], frozenset[str]] = {}
    for keys, rows in by_keys.items():
        own: dict[str, tuple[int, int]] = {}
        for key in filter(is_segment, keys):
            values = {views[row][key] for row in rows}
            if len(values) > 1:
                own[key] = _in_common(values)
        asked: Counter[tuple[str, frozenset[str]]] = Counter()
        shown: defaultdict[tuple[str, frozenset[str]], list[str]] = defaultdict(list)
        for page, row in {content[row]: row for row in rows}.items() if own else ():
            for others, other in pages[page]:
                if others == keys:
                    continue
                for key, (start, end) in own.items():
                    value = views[row][key]
                    core = value[start : len(value) - end]
                    asked[key, others] += 1
                    if any(core in text for name, text in views[other].items() if name != key):
                        shown[key, others].append(value)
        least = 1 - current().proposed_bad
        found[keys] = frozenset(
            key
            for (key, others), values in shown.items()
            if len(values) >= max(current().proposed_groups, least * asked[key, others]) and len(set(values)) > 1
        )
    return found


def _in_common(values: Iterable[str]) -> tuple[int, int]:
    """Return how many characters several values have in common at their beginning, and at their end."""
    start = _alike(min(values), max(values))
    rest = [value[start:][::-1] for value in values]
    return start, _alike(min(rest), max(rest))


def _alike(one: str, other: str) -> int:
    """Return how many characters two values have in common at their beginning."""
    return next(
        (place for place, (a, b) in enumerate(zip(one, other, strict=False)) if a != b), min(len(one), len(other))
    )


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
    """Return the parameters whose values vary inside clusters under one set of keys, in more than their spelling."""
    first: dict[int, int] = {}
    varies: Counter[str] = Counter()
    clusters: set[int] = set()
    names = [key for key in keys if not _may_be_fixed(key)]
    for row in rows:
        other = first.setdefault(content[row], row)
        if other != row and content[row] not in clusters:
            differing = [key for key in names if _differ(views[row][key], views[other][key])]
            if differing:
                clusters.add(content[row])
                varies.update(differing)
    return frozenset(key for key, count in varies.items() if count >= MIN_VARYING and 2 * count >= len(clusters))


def _differ(one: str, other: str) -> bool:
    """Return whether two values differ in more than upper and lower case, or zeros at the beginning of a number."""
    return one != other and spelled(one) != spelled(other)


def spelled(value: str) -> str:
    """Return a value in the one of its spellings that all of them lead to."""
    return transformed(transformed(value, "lower"), "number")


@dataclass(frozen=True, slots=True)
class FormMapping:
    """A mapping from *source* to *target*: key of the target -> how its value comes about.

    ``pages``: the distinct pages that it was seen to keep.
    """

    source: UrlForm
    target: UrlForm
    copies: Mapping[str, Replace]
    pages: int = 0

    def of(self, values: Values) -> tuple[str, ...] | None:
        """Return the values of the target's varying keys that a URL of the source is mapped to."""
        made = [copied(self.copies[key], values) for key in self.target.keys]
        return None if None in made else tuple(text or "" for text in made)


def way_between(source: UrlForm, target: UrlForm, pairs: Sequence[tuple[Values, Values]]) -> FormMapping | None:
    """Return how *source* becomes *target* on *pairs* (URL of the source, URL of the target), or None."""
    copies: dict[str, Replace] = {}
    some = pairs[:: len(pairs) // MAX_PAIRS + 1]
    for key in target.keys:
        found = _copy_of(key, source, some)
        if found is None:
            return None
        copies[key] = found
    if any(key.endswith((".head", ".tail")) for key in target.parts - source.parts):
        return None  # no operation makes a part of a value that is not there
    if "ext" in source.parts & target.parts and source.segments > target.segments:
        return None  # nor moves an extension to a segment before
    return FormMapping(source, target, copies)


def head_of(key: str, form: UrlForm) -> str:
    """Return the key that *key*, of a whole segment, has where *form* shows it by its two parts.

    What is written there stands for the whole segment when the other part is dropped.
    """
    return f"{key}.head" if f"{key}.head" in form.parts else key


def copied(copy: Replace, values: Values) -> str | None:
    """Return the text that a copy makes of a URL's values; None where a source is absent.

    >>> copied(Replace(["path.0", "path.1"], join=":"), {"path.0": "talk", "path.1": "start"})
    'talk:start'
    """
    texts = [values.get(source) for source in copy.sources]
    if None in texts:
        return None
    return copy.prefix + copy.join.join([transformed(text or "", copy.transform) for text in texts]) + copy.suffix


def _copy_of(key: str, source: UrlForm, pairs: Sequence[tuple[Values, Values]]) -> Replace | None:
    allowed = int(MAX_FAILURES * len(pairs))
    if _fits(Replace(key), key, pairs, allowed):
        return Replace(key)
    for candidates in (_candidates, _joined):
        counts: Counter[Replace] = Counter()
        for one, other in pairs[:TRIED]:
            counts.update(set(candidates(one, other[key], source.keys)))
        for copy, _ in sorted(counts.items(), key=lambda item: (-item[1], *_length(item[0], key), item[0].sources)):
            if _fits(copy, key, pairs, allowed):
                return copy
    return None


def _length(copy: Replace, key: str) -> tuple[bool, int, bool]:
    return bool(copy.transform), len(copy.prefix + copy.join + copy.suffix), copy.source != key


def _candidates(values: Values, wanted: str, keys: Iterable[str]) -> Iterator[Replace]:
    """Yield the copies of one key that make the *wanted* text."""
    for key in keys:
        value = values.get(key)
        if not value:
            continue
        for transform in ("", *TRANSFORMED):
            text = transformed(value, transform)
            if transform and text == value and wanted != value:
                continue
            place = wanted.find(text)
            while place >= 0:
                if len(wanted) - len(text) <= MAX_AFFIX:
                    yield Replace(key, wanted[:place], wanted[place + len(text) :], transform)
                place = wanted.find(text, place + 1)


def _joined(values: Values, wanted: str, keys: Sequence[str]) -> Iterator[Replace]:
    """Yield the copies of several keys, with one and the same text between them, that make the *wanted* text."""
    texts = [(key, values[key]) for key in keys if values.get(key)]
    for first, text in texts:
        start = wanted.find(text)
        if start < 0:
            continue
        rest = wanted[start + len(text) :]
        for second, other in texts:
            between = rest.find(other)
            if second == first or between < 0:
                continue
            sources, join, suffix = [first, second], rest[:between], rest[between + len(other) :]
            more: str | None = second
            while more is not None:
                if start + len(join) + len(suffix) <= MAX_AFFIX:
                    yield Replace(sources, wanted[:start], suffix, join=join)
                more = next(
                    (key for key, next_ in texts if key not in sources and suffix.startswith(join + next_)), None
                )
                if more is not None:
                    sources = [*sources, more]
                    suffix = suffix[len(join + values[more]) :]


def _fits(copy: Replace, key: str, pairs: Sequence[tuple[Values, Values]], allowed: int) -> bool:
    failures = 0
    for one, other in pairs:
        if copied(copy, one) != other[key]:
            failures += 1
            if failures > allowed:
                return False
    return True
