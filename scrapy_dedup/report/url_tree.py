"""The tree of a site's URLs: hosts, parts of the path, and below them the parameters, by what is known of each."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from typing import Final, NamedTuple
from urllib.parse import unquote, urlsplit

from .data import Parameter, TreeNode, Verdict

#: Parts of a path that are told apart at one place, if they are no small share of the URLs there; levels that are.
_MOST_CHILDREN: Final = 12
_SMALL_SHARE: Final = 0.1
_LEVELS: Final = 6
_PARAMETERS: Final = 40
_EXAMPLES: Final = 3
_LONGEST: Final = 60
#: What a number, a token, or any of many parts of a path is written as.
ANY: Final = "*"

_numbers = re.compile("[0-9]+").sub
_is_token = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[0-9A-Za-z_\-]{16,}\Z").match


class TreeUrl(NamedTuple):
    """A URL of a site, and whether it was filtered."""

    url: str
    is_filtered: bool


#: From the name of a parameter and URLs that have it to what is known of it there.
Judge = Callable[[str, Sequence[str]], tuple[Verdict, str, tuple[str, ...]]]


def url_tree(urls: Iterable[TreeUrl], judge: Judge) -> tuple[TreeNode, ...]:
    """Return the trees of hosts, the one with most URLs first; *judge* tells what a parameter is."""
    hosts: defaultdict[str, list[tuple[tuple[str, ...], TreeUrl, dict[str, str]]]] = defaultdict(list)
    for each in urls:
        try:
            parts = urlsplit(each.url)
        except ValueError:
            continue
        hosts[f"{parts.scheme}://{parts.netloc}"].append((labels_of(parts.path), each, _parameters_in(parts.query)))
    nodes = [_node(host, items, 0, judge) for host, items in hosts.items()]
    return tuple(sorted(nodes, key=lambda node: (-node.urls, node.label)))


def labels_of(path: str) -> tuple[str, ...]:
    """Return the parts of a path, with a star for each number and token in them.

    >>> labels_of("/item/12/a-title.html"), labels_of("/"), labels_of("/v2/0A1B2C3D4E5F60718")
    (('/item', '/*', '/a-title.html'), ('/',), ('/v*', '/*'))
    """
    segments = path.split("/")[1:] or [""]
    if len(segments) > 1 and not segments[-1]:  # the slash at the end
        segments[-2:] = [segments[-2] + "/"]
    return tuple("/" + _label(segment) for segment in segments)


def _label(segment: str) -> str:
    segment = segment.partition(";")[0]
    return ANY if _is_token(segment) else _numbers(ANY, segment)


def _parameters_in(query: str) -> dict[str, str]:
    """Return the parameters of a query, of repeats the first.

    >>> _parameters_in("a=1&b&a=2")
    {'a': '1', 'b': ''}
    """
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            found.setdefault(unquote(name), value)
    return found


_Item = tuple[tuple[str, ...], TreeUrl, dict[str, str]]


def _node(label: str, items: "list[_Item]", depth: int, judge: Judge) -> TreeNode:
    own = [item for item in items if len(item[0]) == depth]
    below: defaultdict[str, list[_Item]] = defaultdict(list)
    for item in items:
        if len(item[0]) > depth:
            below[item[0][depth]].append(item)
    if len(below) > _MOST_CHILDREN:
        many = {name for name, some in below.items() if len(some) >= _SMALL_SHARE * len(items)}
        merged: defaultdict[str, list[_Item]] = defaultdict(list)
        for name, some in below.items():
            merged[name if name in many else "/" + ANY].extend(some)
        below = merged
    if depth >= _LEVELS:
        own, below = items, defaultdict(list)
    above = "" if "://" in label else label
    children = sorted(
        (_node(above + name, some, depth + 1, judge) for name, some in below.items()),
        key=lambda node: (-node.urls, node.label),
    )
    return _joined(
        TreeNode(
            label,
            len(items),
            sum(item[1].is_filtered for item in items),
            len(own),
            _parameters_of(own, judge),
            tuple(children),
        )
    )


def _joined(node: TreeNode) -> TreeNode:
    """Return a node, or its only child where no URL ends before that: ``/a/b`` instead of ``/a``."""
    if node.own or len(node.children) != 1 or "://" in node.label:
        return node
    (child,) = node.children
    return child


def _parameters_of(own: "list[_Item]", judge: Judge) -> tuple[Parameter, ...]:
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    having: defaultdict[str, list[str]] = defaultdict(list)
    for _, each, parameters in own:
        for name, value in parameters.items():
            values[name][value] += 1
            having[name].append(each.url)
    found = []
    for name in sorted(having, key=lambda name: (-len(having[name]), name))[:_PARAMETERS]:
        verdict, why, rules = judge(name, having[name])
        examples = tuple(_short(value) for value, _ in values[name].most_common(_EXAMPLES))
        found.append(Parameter(name, len(having[name]), len(values[name]), examples, verdict, why, rules))
    return tuple(found)


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else text[:_LONGEST] + "…"
