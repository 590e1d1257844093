"""The rules of duplicate-url-discarder: a JSON list of processors with the URL patterns they act on.

Patterns are those of url-matcher: a domain with its subdomains, or one host and the beginning of a path;
they do not tell upper from lower case. Universal rules, with an empty pattern, act where no other does.
"""

import json
import string
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ...files.errors import RuleFileError
from ...urls import GroupsLike, SiteGroups
from ..book import RuleBook
from ..model import Rule, SiteRules, Status
from ..operations import Ignore, Keep, Operation
from ..predicates import Absent
from .areas import Match
from .expressible import groups_of, spellings
from .url_patterns import matches_of_pattern, patterns_of
from .values import Exported, Imported, Inexpressible, NotExpressible, query_key

__all__ = ["read_url_discarder", "write_url_discarder"]

_EXAMPLE = (
    'a rule is {"order": 0, "processor": "queryRemoval", "args": ["sid"], "urlPattern": {"include": ["example.com"]}}'
)
_PROCESSORS = ("normalizer", "queryRemoval", "queryRemovalExcept", "subpathRemoval")
_WWW = ("www", *(f"www{digit}" for digit in string.digits))


def read_url_discarder(text: str, path: Path, sites: Iterable[str] = (), groups: GroupsLike = None) -> Imported:
    """Return the rules of a file, those of *sites* where any are named.

    Universal rules are read for the named sites that the file has no other rules for.

    Raises RuleFileError.
    """
    wanted = list(sites)
    domains = SiteGroups.of(groups)
    rules: list[Rule] = []
    universal: list[tuple[str, dict[str, Any]]] = []
    left_out: list[NotExpressible] = []
    for number, (line, form) in enumerate(_items(text, path), 1):
        problem = _problem(form)
        if problem is not None:
            raise RuleFileError(path, line, f"rule {number}: {problem}", _EXAMPLE)
        if any(form["urlPattern"]["include"]):
            rules += _rules_of(form, f"line {line}", left_out, domains)
        else:
            universal.append((f"line {line}", form))
    bare = [site for site in wanted if all(rule.site != site for rule in rules)]
    for what, form in universal:
        if bare:
            rules += [rule for site in bare for rule in _rules_of(form, what, left_out, domains, site)]
        else:
            why = "does not act on sites with rules of their own" if wanted else "is of no site; name those it is for"
            left_out.append(NotExpressible(what, f"not read: a universal rule {why}"))
    note = "imported: duplicate-url-discarder"
    kept = [replace(rule, status=Status.MANUAL, note=note) for rule in rules if not wanted or rule.site in wanted]
    return Imported(tuple({rule.id: rule for rule in kept}.values()), tuple(left_out))


def _rules_of(
    form: Mapping[str, Any], what: str, left_out: list[NotExpressible], groups: SiteGroups, site: str = ""
) -> list[Rule]:
    """Return our rules for one of a file; *site* is that of a universal one."""
    try:
        if form["urlPattern"].get("exclude"):
            raise Inexpressible("a rule has no exceptions (exclude)")
        steps = list(_operations(form, what, left_out))
    except Inexpressible as error:
        left_out.append(NotExpressible(what, f"not read: {error}"))
        return []
    rules: list[Rule] = []
    for pattern in form["urlPattern"]["include"] or [""]:
        try:
            of, matches = (site, [{}]) if site else matches_of_pattern(pattern, groups)
        except Inexpressible as error:
            left_out.append(NotExpressible(what, f"{pattern!r} not read: {error}"))
        else:
            rules += [_rule(of, {**match, **more}, ops) for match in matches for more, ops in steps]
    return rules


def _rule(site: str, match: Match, operations: dict[str, Operation]) -> Rule:
    # "q.*" leaves alone what the rule's match names; the processor does not.
    more = {key: Ignore() for key in match if key.startswith("q.") and "q.*" in operations and key not in operations}
    return Rule(site, match, {**operations, **more})


def _items(text: str, path: Path) -> Iterator[tuple[int, Any]]:
    """Yield (line, item) of a JSON list. Raises RuleFileError."""
    try:
        whole = json.loads(text)
    except json.JSONDecodeError as error:
        raise RuleFileError(path, error.lineno, f"invalid JSON: {error.msg}", "correct the line") from None
    except (ValueError, RecursionError) as error:
        raise RuleFileError(path, None, f"invalid JSON: {error}", "correct the file") from None
    if not isinstance(whole, list):
        raise RuleFileError(path, 1, "this is no list of rules", f"write [..]; {_EXAMPLE}")
    decoder = json.JSONDecoder()
    line, counted, at = 1, 0, text.index("[") + 1
    for item in whole:
        while text[at] in " \t\r\n,":
            at += 1
        line += text.count("\n", counted, at)
        yield line, item
        counted, at = at, decoder.raw_decode(text, at)[1]


def _problem(form: Any) -> str | None:
    """Return what is wrong with one rule of a file, None if nothing."""
    if not isinstance(form, dict):
        return "it is no object"
    for key in ("order", "processor", "urlPattern"):
        if key not in form:
            return f'it has no "{key}"'
    if form["processor"] not in _PROCESSORS:
        return f"there is no processor {form['processor']!r}; there are {', '.join(_PROCESSORS)}"
    pattern = form["urlPattern"]
    if not isinstance(pattern, dict) or "include" not in pattern:
        return 'its "urlPattern" has no "include"'
    for key in ("include", "exclude"):
        if not _are(pattern.get(key) or [], str):
            return f'"{key}" is no list of patterns'
    args = form.get("args") or []
    if form["processor"] == "normalizer":
        return "normalizer takes no args" if args else None
    if form["processor"] == "subpathRemoval":
        return None if _are(args, int) else "args of subpathRemoval are no list of whole numbers"
    return None if _are(args, str) else f"args of {form['processor']} are no list of names"


def _are(items: object, kind: type) -> bool:
    return isinstance(items, list) and all(isinstance(item, kind) and not isinstance(item, bool) for item in items)


def _operations(
    form: Mapping[str, Any], what: str, left_out: list[NotExpressible]
) -> Iterator[tuple[Match, dict[str, Operation]]]:
    """Yield (further predicates, operations) for a processor. Raises Inexpressible."""
    args: Sequence[Any] = form.get("args") or []
    match form["processor"]:
        case "queryRemoval":
            dropped: dict[str, Operation] = {query_key(name): Ignore() for name in args}
            if dropped:
                yield {}, dropped
        case "queryRemovalExcept":
            yield {}, {"q.*": Ignore(), **{query_key(name): Keep() for name in args}}
        case "subpathRemoval":
            removed: dict[str, Operation] = {f"path.{number}": Ignore() for number in args if number >= 0}
            if removed:
                yield {}, removed
        case _:
            left_out.append(
                NotExpressible(what, f"of normalizer's host names only {_WWW[0]} and www0 to www9 are read")
            )
            yield {}, {"path.trail": Ignore()}
            yield {"host.2": Absent()}, {"host.1": Ignore(_WWW)}
            yield {"host.3": Absent()}, {"host.2": Ignore(_WWW)}


def write_url_discarder(book: RuleBook, sites: Iterable[str], *, approximate: bool = False) -> Exported:
    """Return the JSON that says what the rules of *sites* drop.

    *approximate*: see :func:`.groups_of`; also conditions on paths and values without their letter case.
    """
    forms: list[dict[str, Any]] = []
    left_out: list[NotExpressible] = []
    for site in sites:
        untold: list[NotExpressible] = []
        forms += _forms(
            book.site_rules(site), book.groups.domains.get(site) or (site,), untold, approximate=approximate
        )
        left_out += [NotExpressible(f"{site}: rule {each.what}", each.why) for each in untold]
    text = json.dumps(forms, ensure_ascii=False, sort_keys=True, indent=2)
    return Exported(f"{text}\n", tuple(left_out))


def _forms(
    of_site: SiteRules, domains: Sequence[str], left_out: list[NotExpressible], *, approximate: bool
) -> Iterator[dict[str, Any]]:
    for group in groups_of(of_site.rules, of_site.deep, left_out, approximate=approximate):
        include: list[str] = []
        for area in group.areas:
            try:
                found, part = patterns_of(area, dict(group.others), domains, approximate=approximate)
            except Inexpressible as error:
                left_out += [NotExpressible(rule, f"not written for {area.text}: {error}") for rule in group.rules]
                continue
            include += found
            if part:
                left_out += [NotExpressible(rule, f"written for {area.text} in part: {part}") for rule in group.rules]
        if include:
            args = [spelling for name in group.drops.names for spelling in spellings(name)]
            processor = "queryRemovalExcept" if group.drops.all_but else "queryRemoval"
            yield {"order": 0, "urlPattern": {"include": include}, "processor": processor, "args": args}
