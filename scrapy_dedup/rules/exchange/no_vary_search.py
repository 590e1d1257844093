"""The HTTP header ``No-Vary-Search``. (draft-ietf-httpbis-no-vary-search)

A header is about the URLs of the path that it came with. Files hold headers as the ``_headers`` files
of static hosts do: a line with a path, which may end in ``*``, and indented the headers of its
responses. What stands before the first path is about all of them.

``key-order`` says nothing new here: the order of parameters with different names never tells pages
apart (:func:`~scrapy_dedup.urls.normal_form`), so it is read, and never written.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from ...files.errors import RuleFileError
from ...urls import DeepSplit
from ..model import Rule
from ..operations import Ignore, Keep, Operation
from .areas import Area, Match, matches_of
from .expressible import Drops, Others, groups_of
from .values import Exported, Imported, Inexpressible, NotExpressible, manual, query_key

__all__ = ["HEADER", "SearchVariance", "read_no_vary_search", "search_variance", "write_no_vary_search"]

HEADER = "No-Vary-Search"
_EXAMPLE = f'write {HEADER}: params=("utm_source" "sid"), or {HEADER}: params, except=("id")'


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
    members = _members(value)
    order = members.get("key-order", False)
    if not isinstance(order, bool):
        raise HeaderError("key-order is no boolean")
    params = members.get("params", False)
    no_vary: frozenset[str] | None = frozenset()
    if params is True:
        no_vary = None
    elif params is not False:
        no_vary = _names("params", params)
    vary: frozenset[str] = frozenset()
    if "except" in members:
        if params is not True:
            raise HeaderError("except stands without params, which must be there and without a list")
        vary = _names("except", members["except"])
    return SearchVariance(no_vary, vary, not order)


def _members(value: str) -> dict[str, object]:
    """Return the members of the structured field (RFC 9651), without their parameters. Raises HeaderError."""
    import http_sf  # here, since most crawls see no such header

    if not value.strip(" "):  # a dictionary without members; http-sf 1.1 takes it for none
        return {}
    try:
        found: Any = http_sf.parse(value.encode("ascii"), tltype="dictionary")
    except UnicodeEncodeError:
        raise HeaderError("it has other characters than those of ASCII") from None
    except (ValueError, ArithmeticError) as error:  # ArithmeticError: a date that Python does not have
        raise HeaderError(f"it is no dictionary of a structured field ({error})") from None
    return {key: member for key, (member, _) in found.items()}


def _names(member: str, items: object) -> frozenset[str]:
    if not isinstance(items, list):
        raise HeaderError(f"{member} is no list in round brackets")
    names = [item for item, _ in items]
    if not all(isinstance(name, str) for name in names):
        raise HeaderError(f"{member} holds something that is no string in quotes")
    return frozenset([unquote(name.replace("+", " "), errors="replace") for name in names])


def operations_of(variance: SearchVariance) -> dict[str, Operation]:
    """Return the operations that drop what does not tell responses apart.

    Raises Inexpressible for a name that no parameter can have.
    """
    if variance.no_vary is not None:
        return {query_key(name, decoded=True): Ignore() for name in variance.no_vary}
    kept = {query_key(name, decoded=True): Keep() for name in variance.vary}
    return {"q.*": Ignore(), **kept}


def read_no_vary_search(text: str, path: Path, sites: Iterable[str]) -> Imported:
    """Return the rules that the headers of a file give each of *sites*.

    Raises RuleFileError.
    """
    sites = list(sites)
    rules: list[Rule] = []
    left_out: list[NotExpressible] = []
    here: list[Match] = [{}]
    for number, line in enumerate(text.splitlines(), 1):
        stated = line.strip()
        if not stated or stated.startswith("#"):
            continue
        try:
            if stated.startswith("/"):
                here = []
                here = matches_of(stated, exact=not stated.endswith("*"))
                continue
            name, colon, value = stated.partition(":")
            if not colon or " " in name.strip():
                raise RuleFileError(path, number, "this is neither a path nor a header", _EXAMPLE)
            if name.strip().lower() == HEADER.lower():
                operations = operations_of(search_variance(value))
                if operations:
                    rules += [Rule(site, match, operations) for site in sites for match in here]
        except Inexpressible as error:
            left_out.append(NotExpressible(f"line {number}", f"not read: {error}"))
        except HeaderError as error:
            raise RuleFileError(path, number, f"the header says nothing: {error}", _EXAMPLE) from None
    return Imported(manual(rules, f"imported: {HEADER}"), tuple(left_out))


def write_no_vary_search(
    rules: Iterable[Rule], deep: Mapping[str, DeepSplit] | None = None, *, approximate: bool = False
) -> Exported:
    """Return the headers that say what one site's *rules* drop, each with the path it is for.

    Of several headers for one response the last one counts (they are members of one dictionary), so
    that a path's header also says what those of wider paths say, and stands after them.

    *approximate*: see :func:`.groups_of`.
    """
    left_out: list[NotExpressible] = []
    said: list[tuple[Area, Drops]] = []
    for group in groups_of(rules, deep or {}, left_out, approximate=approximate):
        for area in group.areas:
            try:
                said.append((_whole(area, group.others, approximate=approximate), group.drops))
            except Inexpressible as error:
                left_out += [NotExpressible(rule, f"not written for {area.text}: {error}") for rule in group.rules]
    lines: list[str] = []
    for at in sorted({area for area, _ in said}, key=lambda area: (len(area.text), area.text, not area.below)):
        header = _header([drops for area, drops in said if at in area])
        lines += [f"{at.text}*" if at.below else at.text, f"  {HEADER}: {header}"]
    return Exported("".join(f"{line}\n" for line in lines), tuple(left_out))


def _whole(area: Area, others: Others, *, approximate: bool) -> Area:
    """Return *area* if there is a path for it. Raises Inexpressible."""
    if others:
        raise Inexpressible(f"the format has no condition on {others[0][0]}")
    if "*" in area.text:
        raise Inexpressible("the format has * only at the end of a path")
    area.check(approximate=approximate)
    return Area(area.text, itself=True, below=area.below)


def _header(several: Iterable[Drops]) -> str:
    """Return the header for what *several* drop together; what one of them keeps stays."""
    several = list(several)
    names = {name for drops in several if not drops.all_but for name in drops.names}
    if not any(drops.all_but for drops in several):
        return f"params=({_quoted(names)})"
    kept = {name for drops in several if drops.all_but for name in drops.names}
    return f"params, except=({_quoted(kept)})" if kept else "params"


def _quoted(names: Iterable[str]) -> str:
    # In normal form they have no character that would need a backslash.
    return " ".join(f'"{name}"' for name in sorted(names))
