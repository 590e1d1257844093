"""Arrangements of URLs: in which order things stand in one, and whether a proposal says that it makes no difference."""

from collections.abc import Set as AbstractSet

from ...rules import AnyOrder
from ...rules.order import in_order
from ...urls import normal_parts
from .proposal import Proposal


def is_arranged(proposal: Proposal, urls: AbstractSet[str]) -> bool:
    """Tell whether a proposal about an order has a part in that some URLs are one: they differ in it, and it changes one."""
    operation = proposal.operation
    if not isinstance(operation, AnyOrder) or len({arrangement(url, proposal.key) for url in urls}) < 2:
        return False
    if proposal.key == "query":
        return any(";" in normal_parts(url)[2] for url in urls)
    paths = (normal_parts(url)[1] for url in urls)
    return any(in_order(path, proposal.key, operation) != path for path in paths)


def arrangement(url: str, key: str) -> str:
    """Return in which order things stand in a URL: the path, or the names of its parameters with what divides them.

    >>> arrangement("http://a.example/?b=1;a=2", "query"), arrangement("http://a.example/x/y", "path")
    ('b;a', '/x/y')
    """
    _, path, query = normal_parts(url)
    if key == "path":
        return path
    if key == "matrix":
        return "/".join(_names(text, ";") for text in path.split("/"))
    return "&".join(_names(piece, ";") for piece in query.split("&"))


def _names(text: str, divider: str) -> str:
    return divider.join([part.partition("=")[0] for part in text.split(divider)])
