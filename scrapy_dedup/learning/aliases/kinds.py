"""Kinds of aliases, proven: URLs that are a page though nothing in them says so.

A post's link (``?msg=178``) leads to the page of the thread on which the post stands. No rule can
compute that, but the page says it: it holds the element ``id="msg178"``. A page may also declare a
URL as its own (rel=canonical, rel=shortlink, og:url, a redirect). Neither is believed: each *kind*
(the pattern of the URL, the key that names the element, the beginning of the element's name; or the
declaration) is proven on the pairs of URL and page that were both fetched, as a rule is.

What speaks for a kind is counted by distinct pages, never by URLs: twenty posts of one page are one
piece of evidence. Against it speak pages with a URL that turned out to be another page, URLs found on
two different pages, and elements that stand on two (a name that every page has), fetched or not.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

from ...rules import Absent, Anchored, Declared, Evidence, Literal, OfClass, OneOf, Operation, Predicate, Rule, Status
from ...rules.alias_kinds import AliasKinds
from ...rules.model import ALIAS, DECLARATIONS, FRAGMENT
from ...store.rows import SightingRow
from ...urls import ValueClass, class_of
from ..evidence.judge import is_proven
from ..evidence.shares import upper_bound
from ..evidence.value_kinds import WHOLE, is_token
from ..proposals.dropping import widened
from .fetched import Fetched
from .pairs import KeyOf, Pair, kind_of, known_aliases, pooled
from .proving import GONE, MAX_SPLITS, PAGE, PRESENT, Proof, ProvenPart, parts_of, prove, shapes_of

LEARNER = "aliases"
MAX_CANDIDATES = 3
MIN_NEW = 0.1
"""Share of a kind's sightings that no other kind knows, below which it is left out."""


def alias_rules(
    site: str, sightings: Iterable[SightingRow], fetched: Fetched, key_of: KeyOf, known: Iterable[Rule] = ()
) -> list[Rule]:
    """Return the kinds of aliases of *site* that act, and the most promising candidates.

    *key_of* gives the canonical key of a URL; *known* are rules of before: what the user has switched
    off is not learned back, and what was refuted stays suspended. A kind that acted stays until it is
    refuted: aliases that are filtered bring no new evidence, and old evidence fades when pages change.
    """
    known = list(known)
    pools = pooled(sightings, key_of)
    forbidden = [
        rule.ops for rule in known if rule.is_alias and rule.status in {Status.OFF, Status.MANUAL, Status.SUSPENDED}
    ]
    found: list[tuple[Rule, Proof, frozenset[tuple[str, str]]]] = []
    for pairs in pools:
        for part in parts_of(pairs, fetched, MAX_SPLITS):
            rule = _rule(site, part)
            # A part that is not proven is what is left of a kind that is refuted.
            if rule.ops not in forbidden and (part.proof.proven or not part.where):
                found.append((rule, part.proof, frozenset([(pair.page, pair.link) for pair in part.pairs])))
    found.sort(key=lambda each: (not each[1].proven, -len(each[2]), _length(each[0]), each[0].id))
    rules: list[Rule] = []
    covered: set[tuple[str, str]] = set()
    candidates = 0
    for rule, proof, links in found:
        if len(links - covered) <= MIN_NEW * len(links):
            continue
        if not proof.proven:
            candidates += 1
            if candidates > MAX_CANDIDATES:
                continue
        covered |= links
        rules.append(rule)
    acting = {_name(rule) for rule in rules if rule.status.acts}
    kept = [
        rule
        for rule in known
        if rule.is_alias and rule.status is Status.ACTIVE and _name(rule) not in acting and _holds(rule, pools, fetched)
    ]
    names = {_name(rule) for rule in kept}
    return kept + [rule for rule in rules if _name(rule) not in names]


def _name(rule: Rule) -> tuple[tuple[str, str, str], ...]:
    """Return what a kind is called by, whatever its pattern: key, beginning of the name, letters before."""
    return tuple(
        (key, op.prefix, op.lead) if isinstance(op, Anchored) else (key, "", "") for key, op in rule.ops.items()
    )


def _holds(rule: Rule, pools: Sequence[Sequence[Pair]], fetched: Fetched) -> bool:
    """Return whether nothing that was seen refutes a kind."""
    kinds = AliasKinds([rule])
    proof = prove([pair for pairs in pools for pair in pairs if kind_of(pair, kinds)], fetched)
    return not proof.counterexamples or is_proven(proof.pages, proof.counterexamples, WHOLE)


def proven_aliases(rules: Iterable[Rule], sightings: Iterable[SightingRow], key_of: KeyOf) -> dict[str, str]:
    """Return the aliases that *sightings* hold under the kinds that act: key of a URL -> key of its page."""
    aliases: dict[str, str] = {}
    for pair, _ in known_aliases(rules, sightings, key_of):
        target = aliases.get(pair.page, pair.page)
        if target != pair.link:
            aliases.setdefault(pair.link, target)
    return aliases


def _rule(site: str, part: ProvenPart) -> Rule:
    """Return a kind, or the part of one, as a rule."""
    pairs, proof = part.pairs, part.proof
    row = pairs[0].row
    match = {} if row.key in DECLARATIONS else _match(pairs, row.key)
    match |= {key: _one_of(pairs, key, values) for key, values in part.where.items() if not key.startswith(PAGE)}
    operation: Operation = Declared() if row.key in DECLARATIONS else Anchored(row.prefix, row.lead, shapes_of(part))
    evidence = Evidence(
        learners=(LEARNER,),
        groups=proof.pages,
        counterexamples=proof.counterexamples,
        pages=len({pair.page for pair in pairs}),
        urls=proof.urls,
        removed=proof.saved,
        upper95=round(upper_bound(proof.counterexamples, proof.pages + proof.counterexamples), 4),
        examples=tuple(sorted({(pair.page, pair.link) for pair in pairs})[:2]),
    )
    status = Status.ACTIVE if proof.proven else Status.CANDIDATE
    return Rule(site, match, {ALIAS + row.key: operation}, status, evidence)


def _one_of(pairs: Sequence[Pair], key: str, values: frozenset[str]) -> Predicate:
    if PRESENT in values:
        return OfClass(_class_of([pair.values[key] or "" for pair in pairs if key in pair.values]), GONE in values)
    named = sorted(values - {GONE})
    if not named:
        return Absent()
    return OneOf(named, GONE in values) if len(named) > 1 else Literal(named[0], GONE in values)


def _class_of(values: Sequence[str]) -> ValueClass:
    return widened(class_of(sorted(set(values))))


def _match(pairs: Sequence[Pair], named: str) -> dict[str, Predicate]:
    """Return the pattern of the URLs; *named* is the key that names the element."""
    match: dict[str, Predicate] = {}
    columns: defaultdict[str, list[str]] = defaultdict(list)
    for pair in pairs:
        for key, value in pair.values.items():
            columns[key].append(value or "")
    for key, values in columns.items():
        if key.startswith(("host.", "scheme")):
            continue
        distinct = sorted(set(values))
        optional = len(values) < len(pairs)
        if key != named and len(distinct) == 1 and not is_token(distinct[0]):
            match[key] = Literal(distinct[0], optional)
        else:
            match[key] = OfClass(_class_of(distinct), optional)
    for key in ("ext", "path.trail"):
        if key not in columns:
            match[key] = Absent()
    return match


def _length(rule: Rule) -> int:
    """Return how long the name of a kind is: of two that say the same, the shorter one is kept."""
    return sum(
        len(op.prefix) + 100 * (key == ALIAS + FRAGMENT) for key, op in rule.ops.items() if isinstance(op, Anchored)
    )
