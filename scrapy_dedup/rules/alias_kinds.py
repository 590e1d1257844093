"""Kinds of aliases: which URLs are a page that was seen, though nothing in them says so.

A kind is a rule whose operation is :class:`~.operations.Anchored` (the URL names an
element of the page on which it was found) or :class:`~.operations.Declared` (the page
declares the URL as its own). Its match is on the URL that names, or on the page that
declares. Unlike in other rules, a query parameter that the match of an anchored kind does
not name must be absent. Whether a URL is an alias is known only beside a page, so kinds
have no part in canonical keys: the crawl looks for aliases on the pages it gets.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from ..urls import normal_parts, values_of
from ..urls.namings import Anchors, Naming, namings
from .model import ALIAS, DECLARATIONS, FRAGMENT, Rule
from .operations import Anchored, Operation
from .predicates import rule_matches

has_digit = re.compile(r"[0-9]").search
"""Tells values that are numbers, or have one: there may be any number of them."""

Candidate = tuple[Naming, str]
"""How a URL names an element, and the beginning of the element's name."""


class AliasKinds:
    """The kinds of aliases of all sites that act."""

    def __init__(self, rules: Iterable[Rule]) -> None:
        #: (site, what names the page) -> the kinds.
        self._kinds: dict[tuple[str, str], list[tuple[Operation, Rule]]] = {}
        for rule in rules:
            if rule.is_alias and rule.status.acts:
                for key, operation in rule.ops.items():
                    self._kinds.setdefault((rule.site, key.removeprefix(ALIAS)), []).append((operation, rule))

    def __bool__(self) -> bool:
        return bool(self._kinds)

    def has_anchored(self, site: str) -> bool:
        """Return whether some kind of *site* is of elements that URLs name."""
        return any(of == site and name not in DECLARATIONS for of, name in self._kinds)

    def declarations(self, site: str) -> frozenset[str]:
        """Return the declarations that count on *site*."""
        return frozenset([name for of, name in self._kinds if of == site and name in DECLARATIONS])

    def anchored(
        self, site: str, values: Mapping[str, str | None], found: Iterable[Candidate], page: str
    ) -> Rule | None:
        """Return the kind by which a URL is the page it was found on, or None.

        *values* are the view of the URL's canonical key, *found* its candidates on the
        page, *page* is the page's canonical key.
        """
        for naming, prefix in found:
            if naming.key == FRAGMENT and is_less(values, page):
                continue
            for operation, rule in self._kinds.get((site, naming.key), ()):
                if (
                    isinstance(operation, Anchored)
                    and (operation.prefix, operation.lead) == (prefix, naming.lead)
                    and all(key in rule.match for key in values if key.startswith("q."))
                    and rule_matches(rule.match, values)
                    and (not operation.pages or _fits(page_shape(page), operation.pages))
                ):
                    return rule
        return None

    def declared(self, site: str, declaration: str, page: Mapping[str, str | None]) -> Rule | None:
        """Return the kind by which a URL is the page (of this view) that declares it, or None."""
        rules = (rule for _, rule in self._kinds.get((site, declaration), ()) if rule_matches(rule.match, page))
        return next(rules, None)


def candidates(values: Mapping[str, str | None], fragment: str, anchors: Anchors) -> Iterator[Candidate]:
    """Yield the elements among *anchors* that a URL of these *values* and this *fragment* may name."""
    for naming in namings(values, fragment):
        for prefix in anchors.get(naming.token, ()):
            yield naming, prefix


def is_less(values: Mapping[str, str | None], page: str) -> bool:
    """Return whether a URL of these *values* says nothing that the URL *page* does not say.

    A server never sees the fragment: ``?t=5#p178`` on ``?t=5&start=20`` is the first page of
    the thread, though its post stands on the second.
    """
    theirs = values_of(page)
    return all(key == "path.len" or theirs.get(key, "") == (value or "") for key, value in values.items())


@lru_cache(maxsize=8192)
def _fits(shape: str, shapes: tuple[str, ...]) -> bool:
    """Return whether the *shape* of a page is one of some in which ``*`` is any name."""
    path, _, names = shape.partition("?")
    parts = path.split("/")
    for each in shapes:
        pattern, _, its_names = each.partition("?")
        own = pattern.split("/")
        if (
            names == its_names
            and len(own) == len(parts)
            and all(one in ("*", other) for one, other in zip(own, parts, strict=True))
        ):
            return True
    return False


@lru_cache(maxsize=8192)
def page_shape(url: str) -> str:
    """Return the shape of a URL: its path, parts with a digit left out, and the names of its parameters.

    >>> page_shape("http://example.com/forum/thread-178.html?page=2&sid=1")
    '/forum/*?page&sid'
    """
    _, path, _ = normal_parts(url)
    shape = "/".join(["*" if has_digit(part) else part for part in path.split("/")])
    names = sorted(key[2:] for key in values_of(url) if key.startswith("q."))
    return f"{shape}?{'&'.join(names)}" if names else shape
