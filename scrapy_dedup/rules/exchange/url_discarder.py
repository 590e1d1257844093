"""The rules of duplicate-url-discarder: a JSON list of processors with the URL patterns they act on.

Patterns are those of url-matcher. ``example.com`` is the domain with its subdomains; with a path it is this host, with or
without ``www.``, and all paths that begin so; ``*`` in a path or a value is any text, ``|`` at the end of a path its end.
They do not tell upper from lower case. Universal rules, with an empty pattern, act where no other does.

A predicate is about a whole segment, so the beginning of a path is read as far as its last segment is whole: ``/shop`` is
``/shop``, ``/shop.html`` and what is below it, and not ``/shopping``.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import count, product, takewhile
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from ...files.errors import RuleFileError
from ...urls import DeepSplit, GroupsLike, SiteGroups, ValueClass, site_of_url, values_of
from ...urls.paths import split_extension
from ...urls.query_paths import is_segment_key
from ..book import RuleBook
from ..model import Rule, Status, query_key
from ..operations import Ignore, Keep, Operation
from ..predicates import Absent, Literal, OfClass, OneOf, Predicate, normal_key

_EXAMPLE = (
    'a rule is {"order": 0, "processor": "queryRemoval", "args": ["sid"], "urlPattern": {"include": ["example.com"]}}'
)
_PROCESSORS = ("normalizer", "queryRemoval", "queryRemovalExcept", "subpathRemoval")
_WWW_NAMES = ("www", *(f"www{digit}" for digit in range(10)))
_WWW = Literal("www", optional=True)
_ANY = OfClass(ValueClass("any"))
_has_scheme = re.compile(r"([a-zA-Z][a-zA-Z0-9.+-]*:)?//").match

Match = dict[str, Predicate]


@dataclass(frozen=True, slots=True)
class NotExpressible:
    """Something that did not go over, in whole or in part.

    ``what``: the rule that was to be written, or the place of what was read; ``why``: half a sentence.
    """

    what: str
    why: str

    def __str__(self) -> str:
        return f"{self.what}: {self.why}"


@dataclass(frozen=True, slots=True)
class Imported:
    """The rules that a file says, and what of it no rule can say."""

    rules: tuple[Rule, ...]
    left_out: tuple[NotExpressible, ...]


@dataclass(frozen=True, slots=True)
class Exported:
    """Rules as the text of a file, and what the format cannot say."""

    text: str
    left_out: tuple[NotExpressible, ...]

    @property
    def empty(self) -> bool:
        """Whether no rule is in the text."""
        return not self.text.strip("[] \n")


# -- reading


def read_url_discarder(text: str, path: Path, sites: Iterable[str] = (), groups: GroupsLike = None) -> Imported:
    """Return the rules of a file, those of *sites* where any are named.

    Universal rules are read for the named sites that the file has no other rules for.

    Raises RuleFileError.
    """
    wanted = list(sites)
    domains = SiteGroups.of(groups)
    left_out: list[NotExpressible] = []
    forms = [(f"line {line}", form) for line, form in _forms(text, path)]
    named = [each for each in forms if any(each[1]["urlPattern"]["include"])]
    universal = [each for each in forms if not any(each[1]["urlPattern"]["include"])]
    rules = [rule for each in named for rule in _rules_of(*each, left_out, domains)]
    bare = [site for site in wanted if all(rule.site != site for rule in rules)]
    for each in universal:
        rules += [rule for site in bare for rule in _rules_of(*each, left_out, domains, site)]
        if not bare:
            why = "does not act on sites with rules of their own" if wanted else "is of no site; name those it is for"
            left_out.append(NotExpressible(each[0], f"not read: a universal rule {why}"))
    kept = [
        replace(rule, status=Status.MANUAL, note="imported: duplicate-url-discarder")
        for rule in rules
        if rule.ops and (not wanted or rule.site in wanted)
    ]
    return Imported(tuple({rule.id: rule for rule in kept}.values()), tuple(dict.fromkeys(left_out)))


def _forms(text: str, path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield (line, rule) of a file. Raises RuleFileError."""
    try:
        whole = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise RuleFileError(
            path, getattr(error, "lineno", None), f"invalid JSON: {error}", "correct the file"
        ) from None
    if not isinstance(whole, list):
        raise RuleFileError(path, 1, "this is no list of rules", f"write [..]; {_EXAMPLE}")
    decoder = json.JSONDecoder()
    line, counted, at = 1, 0, text.index("[") + 1
    for number, form in enumerate(whole, 1):
        while text[at] in " \t\r\n,":
            at += 1
        line += text.count("\n", counted, at)
        if (problem := _problem(form)) is not None:
            raise RuleFileError(path, line, f"rule {number}: {problem}", _EXAMPLE)
        yield line, form
        counted, at = at, decoder.raw_decode(text, at)[1]


def _problem(form: Any) -> str | None:
    """Return what is wrong with one rule of a file, None if nothing."""
    if not isinstance(form, dict):
        return "it is no object"
    if missing := [key for key in ("order", "processor", "urlPattern") if key not in form]:
        return f'it has no "{missing[0]}"'
    processor, pattern, args = form["processor"], form["urlPattern"], form.get("args") or []
    if processor not in _PROCESSORS:
        return f"there is no processor {processor!r}; there are {', '.join(_PROCESSORS)}"
    if not isinstance(pattern, dict) or "include" not in pattern:
        return 'its "urlPattern" has no "include"'
    if not all(_are(pattern.get(key) or [], str) for key in ("include", "exclude")):
        return '"include" or "exclude" is no list of patterns'
    if processor == "normalizer":
        return "normalizer takes no args" if args else None
    kind, things = (int, "whole numbers") if processor == "subpathRemoval" else (str, "names")
    return None if _are(args, kind) else f"args of {processor} are no list of {things}"


def _are(items: object, kind: type) -> bool:
    return isinstance(items, list) and all(isinstance(item, kind) and not isinstance(item, bool) for item in items)


def _rules_of(
    what: str, form: Mapping[str, Any], left_out: list[NotExpressible], groups: SiteGroups, site: str = ""
) -> list[Rule]:
    """Return our rules for one of a file; *site* is that of a universal one."""
    rules: list[Rule] = []
    for pattern in [""] if site else form["urlPattern"]["include"]:
        try:
            of, matches = (site, [{}]) if site else _matches_of(pattern, groups)
            for match, (more, ops) in product(matches, _steps(form)):
                # "q.*" leaves alone what the match names; the processor does not.
                asked = [key for key in match if key.startswith("q.") and "q.*" in ops]
                rules.append(Rule(of, {**match, **more}, {**dict.fromkeys(asked, Ignore()), **ops}))
        except ValueError as error:
            left_out.append(NotExpressible(what, f"{pattern!r} not read: {error}"))
    if form["processor"] == "normalizer":
        left_out.append(NotExpressible(what, "of normalizer's host names only www and www0 to www9 are read"))
    return rules


def _steps(form: Mapping[str, Any]) -> list[tuple[Match, dict[str, Operation]]]:
    """Return (further predicates, operations) for a processor. Raises ValueError."""
    if form["urlPattern"].get("exclude"):
        raise ValueError("a rule has no exceptions (exclude)")
    args: Sequence[Any] = form.get("args") or []
    match form["processor"]:
        case "queryRemoval":
            return [({}, {query_key(name): Ignore() for name in args})]
        case "queryRemovalExcept":
            return [({}, {"q.*": Ignore(), **{query_key(name): Keep() for name in args}})]
        case "subpathRemoval":
            return [({}, {f"path.{number}": Ignore() for number in args if number >= 0})]
        case _:
            return [
                ({}, {"path.trail": Ignore()}),
                ({"host.2": Absent()}, {"host.1": Ignore(_WWW_NAMES)}),
                ({"host.3": Absent()}, {"host.2": Ignore(_WWW_NAMES)}),
            ]


def _matches_of(pattern: str, groups: SiteGroups) -> tuple[str, list[Match]]:
    """Return the site of a pattern, and the matches that together cover what it does. Raises ValueError."""
    try:
        parts = urlsplit(pattern if _has_scheme(pattern) else f"//{pattern}")
        scheme = parts.scheme.lower() or {80: "http", 443: "https"}.get(parts.port or 0, "")
        query = parse_qs(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise ValueError(f"no pattern ({error})") from None
    url = f"{scheme or 'http'}://{parts.netloc}/"
    site = site_of_url(url, groups=groups)
    for is_wrong, why in (
        (parts.fragment, "a fragment is no part of what rules are about"),
        (any(char in parts.netloc for char in "*|@"), f"no host is called {parts.netloc!r}"),
        (scheme not in {"", "http", "https"}, f"rules are about http and https, not {scheme}"),
        (not site, "it has no domain"),
    ):
        if is_wrong:
            raise ValueError(why)
    host = {key: value or "" for key, value in values_of(url, groups=groups).items() if key.startswith("host.")}
    match: Match = {key: Literal(value) for key, value in host.items()}
    match |= {"scheme": Literal(scheme)} if scheme else {}
    if parts.path or parts.query:
        labels = len(host.keys() - {"host.0"})
        match |= {f"host.{labels + 1}": _WWW, f"host.{labels + 2}": Absent()}
    for name, values in query.items():
        texts = [value.replace("%", "%25").replace("+", "%2B") for value in values]
        match[query_key(name, decoded=True)] = _predicate_of(texts, "value")
    return site, [{**match, **on_path} for on_path in _path_matches(parts.path)]


def _path_matches(text: str) -> list[Match]:
    """Return the matches that together cover the paths that begin with *text*, or are it where it ends in ``|``.

    >>> _path_matches("/forum/")
    [{'path.0': Literal(value='forum', optional=False), 'path.1': OfClass(...)},
     {'path.0': Literal(value='forum', optional=False), 'path.1': Absent(), 'ext': Absent(), 'path.trail': ...}]
    """
    is_whole = text.endswith("|")
    path = text[:-1] if is_whole else text.rstrip("*")
    if path in {"", "/"}:
        return [{"path.0": Absent()}] if is_whole else [{}]
    slash = path.endswith("/")
    segments = path.removeprefix("/").removesuffix("/").split("/")
    above = {f"path.{number}": _predicate_of([each], "segment") for number, each in enumerate(segments)}
    # A segment at the end of a path is shown without its extension.
    stem, extension = split_extension(segments[-1])
    last: Match = {} if extension is None else {f"path.{len(segments) - 1}": Literal(stem), "ext": Literal(extension)}
    below = f"path.{len(segments)}"
    itself: Match = {**above, **last, below: Absent()}
    if is_whole or slash:
        itself = {**itself, "ext": itself.get("ext", Absent()), "path.trail": Literal("/") if slash else Absent()}
    if is_whole:
        return [itself]
    return [{**above, below: _ANY}, itself] if slash or last else [above]


def _predicate_of(texts: Sequence[str], what: str) -> Predicate:
    """Return the predicate that a value, or a segment, is one of some texts. Raises ValueError."""
    if "*" in texts:
        return _ANY
    for text in texts:
        if "*" in text or (what == "segment" and (";" in text or "=" in text)):
            raise ValueError(f"no predicate is about a part of a {what} ({text})")
    return OneOf(texts) if len(texts) > 1 else Literal(texts[0])


# -- writing


def write_url_discarder(book: RuleBook, sites: Iterable[str], *, approximate: bool = False) -> Exported:
    """Return the JSON that says what the rules of *sites* drop.

    A rule is written for those of its operations that the format can hold: each acts by itself, so what is
    written equates no more URLs than the rules do. Rules that do not act are nothing to be written.

    *approximate*: also what becomes wider by it: values without the shape that the rule asks for, and conditions on paths
    and values, which the format compares without their letter case.
    """
    forms: list[dict[str, Any]] = []
    left_out: list[NotExpressible] = []
    for site in sites:
        of_site = book.site_rules(site)
        domains = book.groups.domains.get(site) or (site,)
        acting = [rule for rule in of_site.rules if rule.status.acts]
        for rule in acting:
            form, told = _form(rule, acting, of_site.deep, domains, approximate=approximate)
            forms += form
            left_out += [NotExpressible(f"{site}: rule {rule.id}", why) for why in told]
    return Exported(json.dumps(forms, ensure_ascii=False, sort_keys=True, indent=2) + "\n", tuple(left_out))


def _form(
    rule: Rule, acting: Sequence[Rule], deep: Mapping[str, DeepSplit], domains: Sequence[str], *, approximate: bool
) -> tuple[list[dict[str, Any]], list[str]]:
    """Return the form of a rule, if it has one, and what of the rule it does not say, or says wider than it is."""
    dropped, unsaid, wider = _dropped(rule, deep, approximate=approximate)
    for other in (each for each in acting if each is not rule):
        # It acts on URLs as they came.
        changed = [key for key, operation in other.ops.items() if not isinstance(operation, Ignore)]
        for key in (*changed, *(key.partition("[")[0] for key in map(normal_key, other.match))):
            both = {each for each in dropped if _is_about(normal_key(key), each) or _is_about(each, normal_key(key))}
            unsaid += [f"rule {other.id} has a say in {key}"] if both else []
            dropped -= both
    include: list[str] = []
    try:
        include, part = _patterns(rule.match, domains, approximate=approximate)
        unsaid += part
    except ValueError as error:
        unsaid.append(str(error))
    if not dropped or not include:
        return [], [f"not written: {'; '.join(unsaid) or 'it drops no parameter'}"]
    told = [f"written in part: {'; '.join(unsaid)}"] if unsaid else []
    named = {normal_key(key).partition("[")[0] for key in (*rule.match, *rule.ops) if key.startswith("q.")}
    all_but = "q.*" in dropped
    form = {
        "order": 0,
        "urlPattern": {"include": include},
        "processor": "queryRemovalExcept" if all_but else "queryRemoval",
        "args": [text for key in sorted(named - dropped if all_but else dropped) for text in spellings(key[2:])],
    }
    return [form], [*told, *(f"written wider than it is: {each}" for each in wider)]


def _dropped(rule: Rule, deep: Mapping[str, DeepSplit], *, approximate: bool) -> tuple[set[str], list[str], list[str]]:
    """Return the parameters that a rule drops, ``q.*`` for all that it does not name, what else it does, and left away conditions."""
    dropped: set[str] = set()
    unsaid: list[str] = []
    wider: list[str] = []
    for key, operation in rule.ops.items():
        of = normal_key(key)
        if not key.startswith("q.") or is_segment_key(key) or (of.endswith("*") and key != "q.*"):
            unsaid.append(f"the format has no operation on {key}")
        elif of in {normal_key(each) for each in deep}:
            unsaid.append(f"the format does not know the two parts of {key}")
        elif not isinstance(operation, Ignore):
            unsaid += [] if isinstance(operation, Keep) and "q.*" in rule.ops else [f"the format can only drop {key}"]
        elif operation.only is not None and not (approximate and isinstance(operation.only, ValueClass)):
            unsaid.append(f"the format has no condition on the values of {key}")
        else:
            dropped.add(of)
            wider += [] if operation.only is None else [f"also where {key} is not {operation.only}"]
    return dropped, unsaid, wider


def _is_about(key: str, other: str) -> bool:
    """Return whether *key*, which may end in ``*``, stands for *other*, too."""
    return other.startswith(key[:-1]) if key.endswith("*") else key == other


def spellings(name: str) -> list[str]:
    """Return the ways to write a parameter's name, as the format compares it as it is written.

    >>> spellings("sid"), spellings("tag%5B%5D")
    (['sid'], ['tag%5B%5D', 'tag[]'])
    """
    raw = unquote(name)
    if raw == name or not raw.isascii() or not raw.isprintable() or any(char in raw for char in " &=#;+%"):
        return [name]
    return [name, raw]


def _patterns(
    match: Mapping[str, Predicate], domains: Sequence[str], *, approximate: bool
) -> tuple[list[str], list[str]]:
    """Return the patterns of the URLs that a rule matches, and what they do not say of it. Raises ValueError."""
    texts = {key: text for key, predicate in match.items() if (text := _text_of(key, predicate)) is not None}
    labels, segments = _row(texts, "host", 1), _row(texts, "path", 0)
    query = {key: text for key, text in texts.items() if key.startswith("q.") and "[" not in key}
    one_host = {f"host.{len(labels) + 1}": _WWW, f"host.{len(labels) + 2}": Absent()}
    is_one_host = one_host.items() <= match.items()
    said = {*({"scheme"} & texts.keys()), *labels, *segments, *query, *(one_host if is_one_host else ())}
    if unsaid := [key for key in match if key not in said]:
        raise ValueError(f"the format has no such condition on {unsaid[0]}")
    if (segments or query) and not approximate:
        raise ValueError("patterns tell neither whole segments nor upper from lower case")
    path = "".join([f"/{text}" for text in segments.values()])
    paths = [f"{path}|", f"{path}/"] if path else ["/" if query or is_one_host else ""]
    scheme = f"{texts['scheme']}://" if "scheme" in texts else ""
    ending = "?" + "&".join([f"{key[2:]}={text}" for key, text in query.items()]) if query else ""
    hosts = [scheme + ".".join([*reversed(labels.values()), domain]) for domain in domains]
    part = "a pattern with a path or a query is of one host, with or without www."
    return [f"{host}{path}{ending}" for path in paths for host in hosts], [] if is_one_host or paths == [""] else [part]


def _text_of(key: str, predicate: Predicate) -> str | None:
    """Return the text by which a pattern asks for what a predicate on *key* does, None where it cannot."""
    if predicate == _ANY and key.startswith(("path.", "q.")):
        return "*"
    if (
        isinstance(predicate, Literal)
        and not predicate.optional
        and not any(char in "*|?#;&" for char in predicate.value)
    ):
        return predicate.value
    return None


def _row(texts: Mapping[str, str], kind: str, first: int) -> dict[str, str]:
    """Return those of *texts* at the keys *kind*.*first* and following, up to the first that is not there."""
    keys = takewhile(texts.__contains__, (f"{kind}.{number}" for number in count(first)))
    return {key: texts[key] for key in keys}
