"""Kinds of pages as their readers know them: patterns such as ``/shop/*?page=`` for URL templates, under short names.

A mask file names them once, in its head, and its paths refer to them: by the name of a group, by a single pattern, or by
``!pattern`` for one that is not meant.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any, Final

from ...files.errors import FormError
from ...urls.templates import in_order
from ..path import Template

__all__ = ["PageKinds", "pattern_of", "template_in"]

NUMBER: Final = "<number>"
"""In the first segment of a pattern: any run of digits."""
NOT: Final = "!"

_HOST_ALONE, _ONE_SEGMENT = 3, 4
_LONGEST_NAME = 40
_digits = re.compile("[0-9]+").sub
_no_word = re.compile(r"[\W_]+").sub


def pattern_of(template: Template) -> Any:
    """Return the pattern of a URL template; the template as a list where no pattern says it exactly.

    >>> pattern_of((5, "news", "")), pattern_of((6, "shop0", "page", "sort")), pattern_of((4, "", ""))
    ('/news/*', '/shop<number>/*/*?page=&sort=', '/*')
    >>> pattern_of((2, "x"))
    [2, 'x']
    """
    text = _pattern(*template)
    try:
        return text if text is not None and template_in(text) == template else list(template)
    except FormError:
        return list(template)


def _pattern(depth: object = None, first: object = None, *names: object) -> str | None:
    if not isinstance(depth, int) or depth < _HOST_ALONE or not isinstance(first, str):
        return None
    path = "" if depth == _HOST_ALONE else "/*"
    if depth > _ONE_SEGMENT:
        path = "/" + first.replace("0", NUMBER) + "/*" * (depth - _ONE_SEGMENT)
    return path if names == ("",) else f"{path}?{'&'.join([f'{name}=' for name in names])}"


def template_in(pattern: str) -> Template:
    """Return the URL template that a pattern means. Raises FormError.

    >>> template_in("/shop/*?sort=&page="), template_in("/2024/*")
    ((5, 'shop', 'page', 'sort'), (5, '0', ''))
    """
    path, mark, query = pattern.partition("?")
    names = sorted({name.removesuffix("=") for name in query.split("&")}) if mark else [""]
    if not path:
        return _HOST_ALONE, "", *names
    slash, *segments = path.split("/")
    if slash or segments[1:] != ["*"] * len(segments[1:]) or (segments[0] == "*") != (len(segments) == 1):
        raise FormError(
            f"{pattern!r} is no pattern of pages",
            'write "/*" for paths of one segment, "/news/*/*" for three of which the first is "news", and '
            '"/news/*?page=" where there is a parameter',
        )
    first = "" if len(segments) == 1 else _digits("0", segments[0].replace(NUMBER, "0"))
    return len(segments) + _HOST_ALONE, first, *names


@dataclass(frozen=True, slots=True)
class PageKinds:
    """The kinds of pages of a mask, in groups that have names."""

    groups: Mapping[str, tuple[Template, ...]] = field(default_factory=dict)

    @property
    def templates(self) -> frozenset[Template]:
        """All of them."""
        return frozenset(template for group in self.groups.values() for template in group)

    def holding(self, templates: Iterable[Template]) -> "PageKinds":
        """Return the kinds that are these *templates*: groups keep their names, and take in what has their path.

        >>> PageKinds().holding([(5, "news", ""), (4, "", "")]).groups
        {'top': ((4, '', ''),), 'news': ((5, 'news', ''),)}
        """
        wanted = set(templates)
        groups = {name: [each for each in group if each in wanted] for name, group in self.groups.items()}
        groups = {name: group for name, group in groups.items() if group}
        by_path = {each[:2]: name for name, group in reversed(groups.items()) for each in group}
        for template in in_order(wanted - self.templates):
            name = by_path.get(template[:2])
            if name is None:
                name = by_path[template[:2]] = _fresh_name(template, groups)
            groups.setdefault(name, []).append(template)
        return PageKinds({name: in_order(group) for name, group in groups.items()})

    def references(self, wanted: Iterable[Template]) -> list[Any]:
        """Return what is written for *wanted*, whole groups by their names."""
        rest = set(wanted)
        found: list[Any] = []
        for name, group in self.groups.items():
            inside = [pattern_of(each) for each in group if each in rest]
            outside = [pattern_of(each) for each in group if each not in rest]
            if len(outside) < len(inside) and all(isinstance(each, str) for each in outside):
                found += [name, *[NOT + each for each in outside]]
            else:
                found += inside
            rest.difference_update(group)
        return found + [pattern_of(each) for each in in_order(rest)]

    def meant(self, references: Sequence[Any]) -> tuple[Template, ...]:
        """Return the URL templates that *references* mean, in order. Raises FormError.

        Where all of them say what is not meant, it is taken from all kinds of the mask.
        """
        positive: set[Template] = set()
        negative: set[Template] = set()
        for each in references:
            if isinstance(each, str) and each.startswith(NOT):
                negative |= self._named(each.removeprefix(NOT))
            else:
                positive |= self._named(each)
        if negative and not positive:
            positive = set(self.templates)
        if references and not positive - negative:
            raise FormError("this is about no kind of pages", "remove the line: then it is about all of them")
        return in_order(positive - negative)

    def _named(self, reference: Any) -> set[Template]:
        if isinstance(reference, str) and reference in self.groups:
            return set(self.groups[reference])
        if isinstance(reference, str) and not reference.startswith(("/", "?")) and reference:
            near = get_close_matches(reference, self.groups, 1)
            known = f"known are {', '.join(self.groups)}" if self.groups else "none has a name"
            remedy = f"did you mean {near[0]}?" if near else f'{known}; or write a pattern such as "/news/*"'
            raise FormError(f"no kind of pages is named {reference!r}", remedy)
        return {template_of_entry(reference)}


def template_of_entry(entry: Any) -> Template:
    """Return the URL template that a pattern means, or the list that stands for one. Raises FormError."""
    if isinstance(entry, str):
        return template_in(entry)
    is_plain = isinstance(entry, list) and entry and not any(isinstance(part, bool) for part in entry)
    if is_plain and all(isinstance(part, int | str) for part in entry):
        return tuple(entry)
    raise FormError(f"{entry!r} is no pattern of pages", 'write one in quotes, such as "/news/*?page="')


def _fresh_name(template: Template, taken: Iterable[str]) -> str:
    """Return a short name for a group that has none: what its path begins with."""
    depth, first = (*template, "", "")[:2]
    words = _no_word("-", str(first).replace("0", "-number-").lower()).strip("-")[:_LONGEST_NAME]
    name = base = words or ("top" if depth in (_HOST_ALONE, _ONE_SEGMENT) else "pages")
    number = depth - _HOST_ALONE if isinstance(depth, int) and depth > _ONE_SEGMENT else 2
    taken = set(taken)
    while name in taken:
        name = f"{base}-{number}"
        number += 1
    return name
