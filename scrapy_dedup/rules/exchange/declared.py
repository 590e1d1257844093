"""What sites declare of their parameters: ``Clean-param`` lines of robots.txt, and the HTTP header ``No-Vary-Search``.

``Clean-param: p0[&p1&p2&..&pn] [path]`` (Yandex Webmaster, "The Clean-param directive"): the parameters do not count at
URLs whose path begins with *path*; without it at all of the site. Names and paths are case-sensitive; ``*`` in a path is
any text, and stands, unwritten, at its end. A rule has 500 characters at most. The directive may stand anywhere
in the file, whatever group it is in.

``No-Vary-Search`` (draft-ietf-httpbis-no-vary-search) is about the URLs of the path that it came with. ``key-order`` says
nothing new here: the order of parameters with different names never tells pages apart
(:func:`~scrapy_dedup.urls.normal_form`).
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

CLEAN_PARAM = "clean-param"
"""The name under which the lines of a robots.txt stand among the headers of an observation."""
MAX_FILE = 512_000
"""Bytes of a robots.txt that are read: what RFC 9309 asks for at least."""
MAX_RULES = 200
"""Lines of it that are looked at."""

MAX_LENGTH = 500
"""Characters of a rule, the directive's name not counted."""
_DIRECTIVE = re.compile(r"[ \t]*clean-param[ \t]*:(.*)", re.IGNORECASE | re.DOTALL).match
_is_path = re.compile(r"(?:[/*][A-Za-z0-9.\-/*_]*)?\Z").match


@dataclass(frozen=True, slots=True)
class CleanParam:
    """One rule: parameters that do not count below a path; "" is the whole site.

    >>> rule = CleanParam.of("s&ref /forum*/showthread.php")
    >>> rule.covers("/forum_old/showthread.php"), rule.covers("/Forum/showthread.php")
    (True, False)
    """

    names: tuple[str, ...]
    path: str = ""

    @classmethod
    def of(cls, text: str) -> "CleanParam | None":
        """Return the rule that *text*, what follows the colon, says; None for a faulty one."""
        text = text.partition("#")[0].strip()
        listed, *paths = text.split() or [""]
        names = tuple(name for name in listed.split("&") if name)
        path = "".join(paths)
        return cls(names, path) if names and len(paths) < 2 and len(text) <= MAX_LENGTH and _is_path(path) else None

    def covers(self, path: str) -> bool:
        """Return whether the rule is about URLs of *path*, in time linear in its length."""
        at = 0
        for number, text in enumerate(self.path.split("*")):
            # The first place will do: what follows finds no more after a later one.
            place = path.find(text, at)
            if place < 0 or (number == 0 and place > 0):
                return False
            at = place + len(text)
        return True


def clean_params(lines: Iterable[str]) -> Iterator[CleanParam]:
    """Return the rules of a robots.txt; lines that are none, or faulty ones, are passed over."""
    found = (CleanParam.of(directive[1]) for line in lines if (directive := _DIRECTIVE(line)))
    return (rule for rule in found if rule is not None)


def declaring_lines(body: bytes) -> list[str]:
    """Return what Clean-param lines of a robots.txt say, each as a line of its own; faulty ones are left out."""
    if CLEAN_PARAM.encode() not in body[:MAX_FILE].lower():
        return []
    lines = body[:MAX_FILE].decode("utf-8", "replace").splitlines()
    stating = [line for line in lines if CLEAN_PARAM in line.lower()]
    found = dict.fromkeys(clean_params(stating[:MAX_RULES]))
    return [f"Clean-param: {'&'.join(rule.names)} {rule.path}".rstrip() for rule in found]


class HeaderError(ValueError):
    """A header that the draft takes for no header at all; the message is half a sentence."""


@dataclass(frozen=True, slots=True)
class SearchVariance:
    """The draft's data model, section 3: what of a query tells responses apart.

    ``no_vary``: parameters that do not, None for all; ``vary``: those that do, where all others do not;
    ``key_order``: whether the order does.
    """

    no_vary: frozenset[str] | None = frozenset()
    vary: frozenset[str] = frozenset()
    key_order: bool = True


def search_variance(value: str) -> SearchVariance:
    """Return what a header says (section 4.1).

    >>> search_variance('params, except=("id"), key-order')
    SearchVariance(no_vary=None, vary=frozenset({'id'}), key_order=False)

    Raises HeaderError for what the draft takes for no header at all.
    """
    import http_sf  # here, since most crawls see no such header

    found: Any = {}
    if value.strip(" "):  # http-sf 1.1 takes a dictionary without members for none
        try:
            found = http_sf.parse(value.encode("ascii"), tltype="dictionary")
        except (ValueError, ArithmeticError) as error:  # ArithmeticError: a date that Python does not have
            raise HeaderError(f"it is no dictionary of a structured field in ASCII ({error})") from None
    params, order, kept = (
        found.get(name, (default,))[0] for name, default in (("params", False), ("key-order", False), ("except", []))
    )
    if not isinstance(order, bool):
        raise HeaderError("key-order is no boolean")
    if "except" in found and params is not True:
        raise HeaderError("except stands without params, which must be there and without a list")
    no_vary = None if params is True else _names("params", [] if params is False else params)
    return SearchVariance(no_vary, _names("except", kept), not order)


def _names(member: str, items: Any) -> frozenset[str]:
    if not isinstance(items, list) or not all(isinstance(name, str) for name, _ in items):
        raise HeaderError(f"{member} is no list, in round brackets, of strings in quotes")
    return frozenset([unquote(name.replace("+", " "), errors="replace") for name, _ in items])
