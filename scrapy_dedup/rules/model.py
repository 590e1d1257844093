"""What a rule is: URLs of this pattern have this canonical key; and what it rests on."""

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timezone
from enum import Enum
from typing import Any
from urllib.parse import quote_plus

from ..files.errors import FormError
from ..files.table_fields import TableField, number, share, string, strings, written
from ..urls import DeepSplit
from .forms import operation_form, predicate_form
from .operations import Anchored, AnyOrder, Declared, Ignore, IgnoreValue, Keep, Operation, Replace
from .predicates import Predicate
from .wording import condition_of, operations_of


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule rests on."""

    learners: tuple[str, ...] = ()
    """Names of the learners that proposed it."""
    groups: int = 0
    """Witness groups that agree."""
    counterexamples: int = 0
    """Witness groups that do not."""
    pages: int = 0
    """Distinct pages seen under it."""
    urls: int = 0
    """URLs it matched."""
    removed: int = 0
    """URLs it would have saved."""
    upper95: float = 1.0
    """Upper 95 % bound of the share of pages lost."""
    examples: tuple[tuple[str, str], ...] = ()
    """Pairs of URLs that it equates, their dropped values redacted."""
    samples: int = 0
    """Requests that it filtered, which were fetched all the same and compared."""
    refuted: int = 0
    """Those of them that were another page."""
    undecided: int = 0
    """Others, of which nobody can tell: they may be other pages, too."""
    refuted_at: int = 0
    """When that refuted it, in whole seconds since 1970; 0 if never."""
    probes: int = 0
    """Pages on which a parameter that it drops was probed with an outcome."""
    contradicted: int = 0
    """Those of them whose outcome was that it matters."""
    apart: int = 0
    """Where a rule only keeps: distinct pages seen where it does, whatever the value that it keeps."""
    until: int = 0
    """When the last response that counts was seen, in whole seconds since 1970; 0 if not known."""
    method: str = ""
    """The published method that decided on it alone, "" where the judge did."""


def _moment(key: str, text: Any) -> int:
    """Return the seconds since 1970 that a text names, 0 for none."""
    try:
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) if text != "" else 0
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise FormError(f"{key} is no time", 'it is a text such as "2026-01-31T12:00:00Z"') from None


def _moment_text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _examples(key: str, pairs: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise FormError(f"{key} is no list of pairs of URLs", f"write {key} = []")
    return tuple([(first, second) for first, second in pairs])


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(url, str) for url in pair)


def _drops(evidence: Evidence) -> bool:
    return not evidence.apart


EVIDENCE = (
    TableField("learners", strings, list),
    TableField("method", string, when=lambda evidence: evidence.method),
    TableField("apart", number, when=lambda evidence: evidence.apart),
    TableField("groups", number, when=_drops),
    TableField("counterexamples", number, when=_drops),
    TableField("pages", number),
    TableField("urls", number),
    TableField("removed", number, when=_drops),
    TableField("upper95", share, when=_drops),
    TableField("examples", _examples, lambda pairs: [list(pair) for pair in pairs]),
    TableField("until", _moment, _moment_text, when=lambda evidence: evidence.until),
    TableField("samples", number, when=lambda evidence: evidence.samples or evidence.refuted),
    TableField("refuted", number, when=lambda evidence: evidence.samples or evidence.refuted),
    TableField("undecided", number, when=lambda evidence: evidence.undecided),
    TableField("probes", number, when=lambda evidence: evidence.probes),
    TableField("contradicted", number, when=lambda evidence: evidence.probes),
    TableField("refuted_at", _moment, _moment_text, when=lambda evidence: evidence.refuted_at),
)
"""The fields, in the order in which they are written; where a rule only keeps, there are no groups."""


_KEYS = "scheme, host.1.., path.0.., path.len, path.trail, ext, q.NAME, m.NAME and s.NAME"
_is_key = re.compile(
    r"(?:scheme|host\.[0-9]{1,4}|path\.[0-9]{1,4}(?:\.head|\.tail)?|path\.(?:len|trail)|ext|[qms]\..*)\Z", re.DOTALL
).match


_repeat = re.compile(r"[qms]\..*\[[0-9]+\]\Z", re.DOTALL).match

#: Keys of operations on the order of what stands there.
ORDERED = ("query", "matrix", "path")
#: Key of operations on parameters that have no value (``?1690839133``); what is said of is the parameter's text.
BARE = "bare"

#: Beginning of the key of an operation that makes a rule a kind of aliases.
ALIAS = "alias."
FRAGMENT = "fragment"
DECLARATIONS = ("canonical", "og:url", "redirect", "shortlink")
_ALIASES = (
    f'an alias is of "alias.q.NAME" (or another key), "alias.{FRAGMENT}" with {{ anchor = ".." }}, '
    f'or of {", ".join([ALIAS + name for name in DECLARATIONS])} with "declared"'
)


class Status(str, Enum):
    """How far a rule is trusted.

    ``candidate``: not enough evidence yet; ``active``: the judge, or a published method, lets it act;
    ``suspended``: refuted; ``manual``: the user's own, beats everything learned; ``off``: the user
    switched it off, it is never learned back. Only active and manual rules act.
    """

    CANDIDATE = "candidate"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    MANUAL = "manual"
    OFF = "off"

    __str__ = str.__str__

    @property
    def acts(self) -> bool:
        """Whether rules of this status have a part in canonical keys."""
        return self in {Status.ACTIVE, Status.MANUAL}

    @property
    def users(self) -> bool:
        """Whether a rule of this status is the user's: learning leaves it alone."""
        return self in {Status.MANUAL, Status.OFF}


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of one site.

    ``match``: key -> what its value must be; ``ops``: key -> what is done to it. A key of
    ``ops`` may end in ``*`` (``q.utm_*``, ``q.*``): it stands for every key of that beginning
    that the rule's own ``match`` does not name. ``q.NAME`` stands for all repeats of
    NAME in ``ops``, and for the first, in normal form, in ``match``.

    The id, unless given, is :func:`content_id`. Both mappings are copied, sorted.
    Raises ValueError for a key that no view has.
    """

    site: str
    match: Mapping[str, Predicate] = field(default_factory=dict)
    ops: Mapping[str, Operation] = field(default_factory=dict)
    status: Status = Status.ACTIVE
    evidence: Evidence | None = None
    note: str = ""
    id: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "match", dict(sorted(self.match.items())))
        object.__setattr__(self, "ops", dict(sorted(self.ops.items())))
        object.__setattr__(self, "status", Status(self.status))
        operations = [operation_problem(key, operation) for key, operation in self.ops.items()]
        for problem in (*map(key_problem, self.match), *operations):
            if problem is not None:
                raise ValueError(problem)
        if is_mixed(self.ops):
            raise ValueError(MIXED)
        if not self.id:
            object.__setattr__(self, "id", content_id(self.site, self.match, self.ops))

    def __hash__(self) -> int:
        return hash((self.site, self.id, self.status))

    def __str__(self) -> str:
        """Return the rule in one line, as the commands show it: ``q.sid ignore hex{32}, everywhere (active)``."""
        return f"{operations_of(self.ops)}, {condition_of(self.match)} ({self.status})"

    def to_dict(self) -> dict[str, Any]:
        """Return the rule as a mapping that JSON can hold, with the names and forms of rule files, and its site."""
        about = {"site": self.site, "id": self.id, "status": self.status.value, "note": self.note}
        return {**about, **self.tables()}

    def tables(self) -> dict[str, dict[str, Any]]:
        """Return the tables of the rule in a rule file, by name."""
        return {
            "match": {key: predicate_form(predicate) for key, predicate in self.match.items()},
            "ops": {key: operation_form(operation) for key, operation in self.ops.items()},
            "evidence": written(EVIDENCE, self.evidence) if self.evidence is not None else {},
        }

    @property
    def is_alias(self) -> bool:
        """Whether it is a kind of aliases: it has no part in canonical keys."""
        return any(key.startswith(ALIAS) for key in self.ops)

    @property
    def edited(self) -> bool:
        """Whether match or ops are not those that the id was made of."""
        return self.id != content_id(self.site, self.match, self.ops)


MIXED = "an alias and another operation stand in one rule; write two rules"


def is_mixed(ops: Iterable[str]) -> bool:
    """Return whether some of these keys of operations are those of aliases, and some are not."""
    return len({key.startswith(ALIAS) for key in ops}) > 1


def is_key(key: str) -> bool:
    """Return whether a view can have *key*.

    >>> is_key("q.sid"), is_key("path.0"), is_key("path.1.tail"), is_key("sid")
    (True, True, True, False)
    """
    return _is_key(key) is not None


def key_problem(key: str) -> str | None:
    """Return what is wrong with *key*; None if nothing is."""
    return None if is_key(key) else f'no URL has the key "{key}"; keys are {_KEYS}'


def operation_key_problem(key: str) -> str | None:
    """Return what is wrong with *key* as that of an operation, which may end in ``*``.

    >>> operation_key_problem("q.utm_*") is None
    True
    """
    if key.startswith(ALIAS):
        name = key.removeprefix(ALIAS)
        return None if name == FRAGMENT or name in DECLARATIONS or is_key(name) else f'"{key}" is no alias; {_ALIASES}'
    if key.endswith("*") or key in ORDERED or key == BARE:
        return None
    if _repeat(key):
        name = key.replace("[", "%5B").replace("]", "%5D")
        return (
            f'"{key}" is one repeat of a key, and operations are on all of them; '
            f'write "{key.partition("[")[0]}", or "{name}" for a name with brackets'
        )
    return key_problem(key)


def query_key(name: str, *, decoded: bool = False) -> str:
    """Return the key of operations on the parameter *name*.

    *decoded*: whether the name is text, in which ``%`` and ``+`` stand for themselves, and not as a URL
    writes it.

    >>> query_key("sid"), query_key("utm_*"), query_key("a[0]"), query_key("a+b", decoded=True)
    ('q.sid', 'q.utm_%2A', 'q.a%5B0%5D', 'q.a%2Bb')

    Raises ValueError for a name that no URL can have.
    """
    written = quote_plus(name, errors="surrogatepass") if decoded else name
    if not name.isprintable() or any(char in "&=#;" for char in written):
        raise ValueError(f"no parameter has the name {name!r}")
    key = f"q.{written[:-1]}%2A" if written.endswith("*") else f"q.{written}"
    return key if operation_key_problem(key) is None else key.replace("[", "%5B").replace("]", "%5D")


def operation_problem(key: str, operation: Operation) -> str | None:
    """Return what is wrong with *operation* on *key*; None if nothing is."""
    problem = operation_key_problem(key)
    if problem is not None:
        return problem
    wanted = (Declared if key.removeprefix(ALIAS) in DECLARATIONS else Anchored) if key.startswith(ALIAS) else None
    if isinstance(operation, Anchored | Declared) if wanted is None else not isinstance(operation, wanted):
        return f'"{key}" has another kind of operation; {_ALIASES}'
    return _whole_problem(key, operation)


def _whole_problem(key: str, operation: Operation) -> str | None:
    """Return what is wrong with *operation* as far as it, or its key, is about more than one value."""
    if isinstance(operation, Replace) and operation.sources.count(key) > 1:
        return f'"{key}" shows itself {operation.sources.count(key)} times, and so is longer each time; name it once'
    if key == BARE:
        fits = isinstance(operation, IgnoreValue | Keep) or (isinstance(operation, Ignore) and not operation.cut)
        return None if fits else f'"{BARE}" can be ignored or kept; write "ignore", "ignore-value" or "keep"'
    if key in ORDERED and isinstance(operation, Keep):
        return None
    if key in ORDERED and not isinstance(operation, AnyOrder):
        return f'"{key}" is about the order of what stands there; write "any-order" or "keep"'
    if isinstance(operation, AnyOrder) and key not in ORDERED:
        return f'"{key}" is in no order; "any-order" is of {", ".join(ORDERED)}'
    if isinstance(operation, AnyOrder) and key != "path" and operation != AnyOrder():
        return f'only segments of the "path" are told by names or places; write "{key}" = "any-order"'
    return None


def content_id(site: str, match: Mapping[str, Predicate], ops: Mapping[str, Operation]) -> str:
    """Return the id of a rule: 8 hexadecimal digits made of what it says, and stable.

    >>> from scrapy_dedup.rules import Ignore
    >>> content_id("example.com", {}, {"q.sid": Ignore()})
    '...'
    """
    content = [
        site,
        sorted((key, predicate_form(predicate)) for key, predicate in match.items()),
        sorted((key, operation_form(operation)) for key, operation in ops.items()),
    ]
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode(), digest_size=4).hexdigest()


@dataclass(frozen=True, slots=True)
class SiteRules:
    """All rules of one site, with its deep tokens; the content of one rule file.

    Raises ValueError for a rule of another site and for two rules of one id.
    """

    site: str
    rules: tuple[Rule, ...] = ()
    deep: Mapping[str, DeepSplit] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        object.__setattr__(self, "deep", dict(sorted(self.deep.items())))
        ids: set[str] = set()
        for rule in self.rules:
            if rule.site != self.site:
                raise ValueError(f"rule {rule.id} is of the site {rule.site}, not of {self.site}")
            if rule.id in ids:
                raise ValueError(f"two rules of {self.site} have the id {rule.id}")
            ids.add(rule.id)
