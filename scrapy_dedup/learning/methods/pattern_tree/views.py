"""URLs as the key-value pairs of the paper (pattern-tree, section 2 and Figure 2), and back."""

from collections.abc import Mapping

from ....urls import DeepSplit, GroupsLike, normal_parts, site_of_url, values_of
from ...data.url_table import REPEAT, joined_repeats
from ..pattern_tree_gaps import PatternTreeChoices

View = dict[str, str]
"""Key -> value; the values of a repeated key are joined by ``REPEAT``."""


def view_of(
    url: str, options: PatternTreeChoices, groups: GroupsLike = None, deep: Mapping[str, DeepSplit] | None = None
) -> View:
    """Return the key-value pairs of a URL; empty where the text is no URL with a host.

    >>> from scrapy_dedup.learning.methods.pattern_tree_gaps import FAITHFUL, IMPROVED
    >>> url = "http://us.example.com/images/results.aspx?q=hp"
    >>> view_of(url, FAITHFUL)
    {'scheme': 'http', 'host.1': 'us', 'path.0': 'images', 'path.1': 'results.aspx', 'q.q': 'hp'}
    >>> list(view_of(url, IMPROVED))
    ['scheme', 'host.1', 'path.0', 'path.1', 'ext', 'path.len', 'q.q']
    """
    values = values_of(url, groups=groups, deep=deep if options.parts == "explicit" else None)
    if options.parts == "explicit":
        if options.depth == "from the left":
            values.pop("path.len", None)
        return dict(joined_repeats(values))
    path = normal_parts(url)[1].removeprefix("/")
    segments = path.split("/") if path else []
    parts = {key: value for key, value in values.items() if key.startswith(("scheme", "host."))}
    parts.update((f"path.{position}", segment) for position, segment in enumerate(segments))
    if values and options.depth == "length first":
        parts["path.len"] = str(len(segments))
    parts.update((key, value) for key, value in values.items() if key.startswith("q."))
    return dict(joined_repeats(parts))


def site_text(url: str, groups: GroupsLike = None) -> str:
    """Return the part of a URL that no view holds: its domain and port.

    Raises ValueError where the URL has no host.
    """
    site = site_of_url(url, groups=groups)
    if not site:
        raise ValueError(f"not a URL with a host: {url!r}")
    return site


def composed(view: Mapping[str, str], site: str) -> str:
    """Return the text that a view stands for: a key that tells pages apart, not always a URL.

    >>> composed({"scheme": "http", "host.1": "us", "path.0": "a", "path.1": "*", "q.sid": "*"}, "example.com")
    'http://us.example.com/a/*?sid=*'
    """
    labels, segments = _numbered(view, "host."), _numbered(view, "path.")
    host = ".".join([*reversed(labels), view.get("host.0", site)])
    if "ext" in view:
        segments[-1:] = [f"{segments[-1] if segments else ''}.{view['ext']}"]
    path = "".join(f"/{segment}" for segment in segments)
    pairs, params, query = [], [], []
    for key, joined in view.items():
        kind, _, name = key.partition(".")
        for value in joined.split(REPEAT):
            if kind == "s":
                pairs.append(f"/{name}={value}")
            elif kind == "m":
                params.append(f";{name}={value}")
            elif kind == "q":
                query.append(f"{name}={value}")
    path += "".join(sorted(pairs)) + "".join(sorted(params))
    path += view.get("path.trail", "") if path else "/"
    text = f"{view.get('scheme', 'http')}://{host}{path}"
    return f"{text}?{'&'.join(sorted(query))}" if query else text


def _numbered(view: Mapping[str, str], kind: str) -> list[str]:
    """Return the values of ``host.1``, ``host.2``.. or ``path.0``, ``path.1``.. in order."""
    found = [
        (int(number), view[key])
        for key in view
        if key.startswith(kind) and (number := key[len(kind) :]).isdigit() and key != "host.0"
    ]
    return [value for _, value in sorted(found)]
