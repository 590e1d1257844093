"""Kinds of aliases, proven: URLs that are a page though nothing in them says so (design, section 6).

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
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache

from ...rules import Absent, Anchored, Declared, Evidence, Literal, OfClass, OneOf, Operation, Predicate, Rule, Status
from ...rules.aliases import AliasKinds, Candidate, is_less, page_shape
from ...rules.model import ALIAS, DECLARATIONS, FRAGMENT
from ...store.rows import SightingRow
from ...urls import class_of, normal_form, values_of
from ...urls.namings import Naming
from ..config import current
from ..evidence.judge import is_proven
from ..evidence.shares import upper_bound
from ..evidence.value_kinds import WHOLE, is_token
from ..proposals.operations import widened
from ..proposals.proposal import ANY_VALUE
from .fetched import Fetched

LEARNER = "aliases"
MIN_CANDIDATE = 3
"""Pages that a kind needs to be shown as a candidate."""
MAX_CANDIDATES = 3
MAX_SPLITS = 2
"""Columns by which a kind that is refuted as a whole is divided, one after the other."""
MAX_PARTS = 12
MIN_NEW = 0.1
"""Share of a kind's sightings that no other kind knows, below which it is left out."""

PAGE = "page"
GONE, PRESENT = "\0", "\1"

KeyOf = Callable[[str], str]
Views = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Pair:
    """A sighting with both URLs as the site's rules know them."""

    row: SightingRow
    page: str
    """Canonical key of the page."""
    link: str
    """Canonical key of the URL."""
    values: Views = field(compare=False)
    """The view of what the kind's match is on: of the URL, or of the page that declares it."""


Where = Mapping[str, frozenset[str]]
"""What a part of a kind is confined to: key (``page`` for the shape of the page) -> values."""


@dataclass(frozen=True, slots=True)
class Part:
    """A kind, or the part of one that is proven."""

    pairs: Sequence[Pair]
    proof: "Proof"
    where: Where = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Proof:
    """What speaks for a kind of aliases.

    ``pages``: distinct pages on which every URL of the kind that was fetched was that page;
    ``counterexamples``: pages with one that was not, URLs that name two pages, and elements that stand
    on two; ``urls``: distinct URLs; ``saved``: fetched ones that were the page.
    """

    pages: int
    counterexamples: int
    urls: int
    saved: int

    @property
    def proven(self) -> bool:
        """Whether the kind may act."""
        return self.pages >= current().proposed_groups and is_proven(self.pages, self.counterexamples, WHOLE)


def prove(pairs: Iterable[Pair], fetched: Fetched) -> Proof:
    """Return what *pairs*, all of one kind, prove.

    A page whose own text changes from one response to the next is no evidence, nor is a pair of which
    one URL was not fetched.
    """
    good: defaultdict[int, set[str]] = defaultdict(set)
    bad: set[int] = set()
    contents: defaultdict[str, set[int]] = defaultdict(set)
    elements: defaultdict[str, set[int]] = defaultdict(set)
    tokens: defaultdict[str, set[str]] = defaultdict(set)
    wrong: set[str] = set()
    for pair in pairs:
        if pair.row.key == FRAGMENT:
            tokens[pair.link].add(pair.row.token)
        page = fetched.content(pair.row.page)
        if page is None:
            continue
        contents[pair.link].add(page)
        if pair.row.token:
            elements[pair.row.token].add(page)
        # That a redirect leads where it leads proves nothing: only a URL that was also answered itself.
        link = fetched.own(pair.row.link) if pair.row.key == "redirect" else fetched.content(pair.row.link)
        if link is None:
            continue
        if link == page:
            good[page].add(pair.link)
        else:
            bad.add(page)
            wrong.add(pair.link)
    ambiguous = {link for link, pages in contents.items() if len(pages) > 1}
    # A URL whose fragments name several elements is not the URL of any one of them.
    ambiguous |= {link for link, names in tokens.items() if len(names) > 1}
    return Proof(
        pages=len(good.keys() - bad),
        # An element that stands on several pages names none of them.
        counterexamples=len(bad) + len(ambiguous - wrong) + sum(len(pages) > 1 for pages in elements.values()),
        urls=len(contents),
        saved=len({link for links in good.values() for link in links}),
    )


def alias_rules(
    site: str, sightings: Iterable[SightingRow], fetched: Fetched, key_of: KeyOf, known: Iterable[Rule] = ()
) -> list[Rule]:
    """Return the kinds of aliases of *site* that act, and the most promising candidates.

    *key_of* gives the canonical key of a URL; *known* are rules of before: what the user has switched
    off is not learned back, and what was refuted stays suspended. A kind that acted stays until it is
    refuted: aliases that are discarded bring no new evidence, and old evidence fades when pages change.
    """
    known = list(known)
    pools = pooled(sightings, key_of)
    forbidden = [
        rule.ops for rule in known if rule.is_alias and rule.status in {Status.OFF, Status.MANUAL, Status.SUSPENDED}
    ]
    found: list[tuple[Rule, Proof, frozenset[tuple[str, str]]]] = []
    for pairs in pools:
        for part in _parts(pairs, fetched, MAX_SPLITS):
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
    """Tell whether nothing that was seen refutes a kind."""
    kinds = AliasKinds([rule])
    proof = prove([pair for pairs in pools for pair in pairs if _is_of(pair, kinds, rule.site)], fetched)
    return not proof.counterexamples or is_proven(proof.pages, proof.counterexamples, WHOLE)


def _is_of(pair: Pair, kinds: AliasKinds, site: str) -> bool:
    if pair.row.key in DECLARATIONS:
        return kinds.declared(site, pair.row.key, pair.values) is not None
    return kinds.anchored(site, pair.values, [_candidate(pair.row)], pair.page) is not None


def proven_aliases(rules: Sequence[Rule], sightings: Iterable[SightingRow], key_of: KeyOf) -> dict[str, str]:
    """Return the aliases that *sightings* hold under the kinds that act: key of a URL -> key of its page.

    They hold for the crawl of the sightings: when posts are deleted, the pages of a thread shift.
    """
    kinds = AliasKinds(rules)
    site = rules[0].site if rules else ""
    aliases: dict[str, str] = {}
    for pairs in pooled(sightings, key_of):
        for pair in pairs:
            target = aliases.get(pair.page, pair.page)
            if target != pair.link and _is_of(pair, kinds, site):
                aliases.setdefault(pair.link, target)
    return aliases


def pooled(sightings: Iterable[SightingRow], key_of: KeyOf) -> list[list[Pair]]:
    """Return the sightings of each kind at its widest: one key, one name, one set of keys of the URL."""
    pools: defaultdict[tuple[object, ...], list[Pair]] = defaultdict(list)
    key_of, view = cache(key_of), cache(values_of)  # a menu's links stand on each page
    for row in sightings:
        page, link = key_of(row.page), key_of(row.link)
        if page == link:
            continue  # the rules know it already
        if row.key in DECLARATIONS:
            pools[row.key,].append(Pair(row, page, link, view(page)))
            continue
        values = view(link)
        if row.key == FRAGMENT and is_less(values, page):
            continue
        keys = tuple(sorted(key for key in values if not key.startswith(("host.", "scheme"))))
        pools[row.key, row.lead, row.prefix, keys, values.get("path.len")].append(Pair(row, page, link, values))
    return [pools[kind] for kind in sorted(pools, key=repr)]


def _candidate(row: SightingRow) -> Candidate:
    return Naming(row.key, row.lead, row.token), row.prefix


def _parts(pairs: Sequence[Pair], fetched: Fetched, splits: int) -> list[Part]:
    """Return the proven parts of a kind; the whole where it is proven or may yet be.

    A kind that is refuted as a whole is divided by the column that saves most: the values without a
    counterexample are one part, each of the others may be divided again.
    """
    proof = prove(pairs, fetched)
    if proof.proven or (proof.pages >= MIN_CANDIDATE and not proof.counterexamples):
        return [_supported(pairs, fetched)]
    if not splits or proof.saved < MIN_CANDIDATE:
        return []
    best: tuple[tuple[int, int, int], list[Part]] = (0, 0, 0), []
    for name, column in _columns(pairs):
        by_value = _divided(pairs, column)
        if not 2 <= len(by_value) <= MAX_PARTS:
            continue
        proofs = {value: prove(part, fetched) for value, part in by_value.items()}
        clean = frozenset(
            value for value, each in proofs.items() if each.pages >= _least(name) and not each.counterexamples
        )
        together = [pair for pair, value in zip(pairs, column, strict=True) if value in clean]
        found = _confined(_parts(together, fetched, 0), name, clean) if clean else []
        for value, part in by_value.items():
            if value not in clean or not found:
                found = found + _confined(_parts(part, fetched, splits - 1), name, frozenset({value}))
        proven = {pair.link for part in found if part.proof.proven for pair in part.pairs}
        merit = len(proven), len({pair.link for part in found for pair in part.pairs}), -len(found)
        if found and merit > best[0]:
            best = merit, found
    return best[1]


def _supported(pairs: Sequence[Pair], fetched: Fetched) -> Part:
    """Return a proven kind without the patterns that have hardly any evidence of their own.

    That one of a thousand threads has the number of a post on its page is chance, and no counterexample.
    """
    where: dict[str, frozenset[str]] = {}
    for name, _ in list(_columns(pairs)):
        column = dict(_columns(pairs)).get(name)
        by_value = _divided(pairs, column) if column is not None else {}
        if not 2 <= len(by_value) <= MAX_PARTS:
            continue
        kept = frozenset(value for value, part in by_value.items() if prove(part, fetched).pages >= _least(name))
        if kept and len(kept) < len(by_value):
            where[name] = kept
            pairs = [pair for value in kept for pair in by_value[value]]
    return Part(pairs, prove(pairs, fetched), where)


def _least(name: str) -> int:
    """Return how many pages a pattern of URLs, or a shape of pages, must have for itself."""
    return MIN_CANDIDATE if name == PAGE else current().proposed_groups


def _divided(pairs: Sequence[Pair], column: Sequence[str]) -> dict[str, list[Pair]]:
    by_value: defaultdict[str, list[Pair]] = defaultdict(list)
    for pair, value in zip(pairs, column, strict=True):
        by_value[value].append(pair)
    return by_value


def _confined(parts: Sequence[Part], name: str, values: frozenset[str]) -> list[Part]:
    return [Part(part.pairs, part.proof, {**part.where, name: values}) for part in parts]


def _columns(pairs: Sequence[Pair]) -> Iterator[tuple[str, list[str]]]:
    """Yield what a kind may be divided by: the values of the keys, and the shape of the page."""
    first = pairs[0].row
    for key in sorted({key for pair in pairs for key in pair.values}):
        if key != first.key and not key.startswith(("host.", "scheme")):
            column = [pair.values.get(key) or ("" if key in pair.values else GONE) for pair in pairs]
            if len(set(column)) > MAX_PARTS:
                column = [GONE if value == GONE else PRESENT for value in column]
            yield key, column
    if first.key not in DECLARATIONS:
        yield PAGE, [page_shape(pair.page) for pair in pairs]


def _rule(site: str, part: Part) -> Rule:
    """Return a kind, or the part of one, as a rule."""
    pairs, proof = part.pairs, part.proof
    row = pairs[0].row
    operation: Operation
    match = {key: _one_of(values) for key, values in part.where.items() if key != PAGE}
    if row.key in DECLARATIONS:
        operation = Declared()
    else:
        shapes = sorted({page_shape(pair.page) for pair in pairs})
        operation = Anchored(row.prefix, row.lead, tuple(shapes) if len(shapes) <= MAX_PARTS else ())
        match = {**_match(pairs, row.key), **match}
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


def _one_of(values: frozenset[str]) -> Predicate:
    if PRESENT in values:
        return OfClass(ANY_VALUE, GONE in values)
    named = sorted(values - {GONE})
    if not named:
        return Absent()
    return OneOf(named, GONE in values) if len(named) > 1 else Literal(named[0], GONE in values)


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
        nameable = key != named and not any(map(is_token, distinct))
        if nameable and len(distinct) == 1:
            match[key] = Literal(distinct[0], optional)
        elif (
            nameable
            and len(distinct) <= current().named_values
            and len(values) >= current().named_repeats * len(distinct)
        ):
            match[key] = OneOf(distinct, optional)
        else:
            match[key] = OfClass(widened(class_of(distinct)), optional)
    for key in ("ext", "path.trail"):
        if key not in columns:
            match[key] = Absent()
    return match


def _length(rule: Rule) -> int:
    """Return how long the name of a kind is: of two that say the same, the shorter one is kept."""
    return sum(
        len(op.prefix) + 100 * (key == ALIAS + FRAGMENT) for key, op in rule.ops.items() if isinstance(op, Anchored)
    )


def declared_sightings(
    site: str, declared: Iterable[tuple[str, str, str]], known: Callable[[str], bool]
) -> Iterator[SightingRow]:
    """Yield (page, declaration, URL) as sightings, those of URLs that *known* says were fetched."""
    for page, declaration, url in declared:
        if known(url) and normal_form(url) != normal_form(page):
            yield SightingRow("", site, page, url, declaration, 0.0)
