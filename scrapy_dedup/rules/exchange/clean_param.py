"""``Clean-param`` of robots.txt. (Yandex Webmaster, "The Clean-param directive")

``Clean-param: p0[&p1&p2&..&pn] [path]``: the parameters do not count at URLs whose path begins with
*path*; without it at all of the site. Names and paths are case-sensitive; ``*`` in a path is any text,
and stands, unwritten, at its end. A rule has 500 characters at most. The directive may stand anywhere
in the file, whatever group it is in.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ...files.errors import RuleFileError
from ...urls import DeepSplit
from ..model import Rule
from ..operations import Ignore, Operation
from .areas import Area, matches_of
from .expressible import Drops, Others, groups_of, spellings
from .values import Exported, Imported, Inexpressible, NotExpressible, manual, query_key

__all__ = [
    "CLEAN_PARAM",
    "MAX_LENGTH",
    "CleanParam",
    "clean_params",
    "declaring_lines",
    "read_clean_param",
    "write_clean_param",
]

CLEAN_PARAM = "clean-param"
"""The name under which the lines of a robots.txt stand among the headers of an observation."""
MAX_FILE = 512_000
"""Bytes of a robots.txt that are read: what RFC 9309 asks for at least."""
MAX_RULES = 200
"""Lines of it that are looked at."""

MAX_LENGTH = 500
"""Characters of a rule, the directive's name not counted."""
_EXAMPLE = "write Clean-param: ref&sid /some_dir/get_book.pl"
_DIRECTIVE = re.compile(r"[ \t]*clean-param[ \t]*:(.*)", re.IGNORECASE | re.DOTALL).match
_is_path = re.compile(r"[A-Za-z0-9.\-/*_]*\Z").match


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
    def of(cls, text: str) -> "CleanParam":
        """Return the rule that *text*, what follows the colon, says.

        Raises ValueError, with half a sentence.
        """
        text = text.partition("#")[0].strip()
        if len(text) > MAX_LENGTH:
            raise ValueError(f"the rule has {len(text)} characters, and may have {MAX_LENGTH}")
        listed, *paths = text.split()[:3] or [""]
        names = tuple(name for name in listed.split("&") if name)
        if not names:
            raise ValueError("the rule names no parameter")
        if len(paths) > 1:
            raise ValueError(f"the rule has something after its path: {paths[1]!r}")
        path = paths[0] if paths else ""
        if _is_path(path) is None:
            raise ValueError(f"the path {path!r} has other characters than A-Z a-z 0-9 . - / * _")
        if path and path[0] not in "/*":
            raise ValueError(f"the path {path!r} does not begin with /")
        return cls(names, path)

    def covers(self, path: str) -> bool:
        """Return whether the rule is about URLs of *path*, in time linear in its length."""
        first, *rest = self.path.split("*")
        if not path.startswith(first):
            return False
        at = len(first)
        for text in rest:
            # The first place will do: what follows finds no more after a later one.
            at = path.find(text, at)
            if at < 0:
                return False
            at += len(text)
        return True

    def operations(self) -> dict[str, Operation]:
        """Return the operations that drop the parameters. Raises Inexpressible."""
        return {query_key(name): Ignore() for name in self.names}


def clean_params(lines: Iterable[str]) -> Iterator[CleanParam]:
    """Yield the rules of a robots.txt; lines that are none, or faulty ones, are passed over."""
    for line in lines:
        directive = _DIRECTIVE(line)
        if directive is not None:
            try:
                yield CleanParam.of(directive[1])
            except ValueError:
                continue


def declaring_lines(body: bytes) -> list[str]:
    """Return what Clean-param lines of a robots.txt say, each as a line of its own; faulty ones are left out."""
    if CLEAN_PARAM.encode() not in body[:MAX_FILE].lower():
        return []
    lines = body[:MAX_FILE].decode("utf-8", "replace").splitlines()
    stating = [line for line in lines if CLEAN_PARAM in line.lower()]
    found = dict.fromkeys(clean_params(stating[:MAX_RULES]))
    return [f"Clean-param: {'&'.join(rule.names)} {rule.path}".rstrip() for rule in found]


def read_clean_param(text: str, path: Path, sites: Iterable[str]) -> Imported:
    """Return the rules that the Clean-param lines of a robots.txt give each of *sites*.

    Raises RuleFileError for a faulty one.
    """
    sites = list(sites)
    rules: list[Rule] = []
    left_out: list[NotExpressible] = []
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        directive = _DIRECTIVE(line)
        if directive is None:
            continue
        try:
            found = CleanParam.of(directive[1])
            operations = found.operations()
            matches = matches_of(found.path)
        except Inexpressible as error:
            left_out.append(NotExpressible(f"line {number}", f"not read: {error}"))
        except ValueError as error:
            raise RuleFileError(path, number, str(error), _EXAMPLE) from None
        else:
            rules += [Rule(site, match, operations) for site in sites for match in matches]
    return Imported(manual(rules, "imported: Clean-param"), tuple(left_out))


def write_clean_param(
    rules: Iterable[Rule], deep: Mapping[str, DeepSplit] | None = None, *, approximate: bool = False
) -> Exported:
    """Return the robots.txt lines that say what one site's *rules* drop.

    *approximate*: see :func:`.groups_of`; also a path with all that begins with it, where a rule is about
    the path itself.
    """
    left_out: list[NotExpressible] = []
    wanted: dict[str, set[str]] = {}
    for group in groups_of(rules, deep or {}, left_out, approximate=approximate):
        for area in group.areas:
            try:
                text = _prefix(area, group.drops, group.others, approximate=approximate)
            except Inexpressible as error:
                left_out += [NotExpressible(rule, f"not written for {area.text}: {error}") for rule in group.rules]
            else:
                wanted.setdefault(text, set()).update(group.drops.names)
    lines: list[str] = []
    for text in sorted(wanted):
        wider = {name for other, names in wanted.items() if other != text and text.startswith(other) for name in names}
        lines += _lines(sorted(wanted[text] - wider), text)
    return Exported("".join(f"{line}\n" for line in lines), tuple(left_out))


def _prefix(area: Area, drops: Drops, others: Others, *, approximate: bool) -> str:
    """Return the path that is written for *area*. Raises Inexpressible."""
    if others:
        raise Inexpressible(f"the format has no condition on {others[0][0]}")
    if drops.all_but:
        raise Inexpressible("the format cannot drop all parameters but some")
    area.check(approximate=approximate)
    if not (area.below or approximate):
        raise Inexpressible("the format only has beginnings of paths")
    if _is_path(area.text) is None:
        raise Inexpressible("a path there has no other characters than A-Z a-z 0-9 . - / _")
    if any(len(name) + len(area.text) + 1 > MAX_LENGTH for name in drops.names):
        raise Inexpressible(f"a rule has at most {MAX_LENGTH} characters")
    return "" if area.everything else area.text


def _lines(names: Iterable[str], path: str) -> Iterator[str]:
    """Yield the lines for *names*, as few as their length allows."""
    room = MAX_LENGTH - len(path) - 1
    listed = ""
    for name in [spelling for plain in names for spelling in spellings(plain)]:
        if listed and len(listed) + 1 + len(name) > room:
            yield f"Clean-param: {listed} {path}".rstrip()
            listed = ""
        listed = f"{listed}&{name}" if listed else name
    if listed:
        yield f"Clean-param: {listed} {path}".rstrip()
