"""The book of rules: all sites' rules, and the canonical keys that they give.

The canonical key of a URL is a key, not an address: only URLs that were found are
fetched.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from ..urls import DeepSplit, GroupsLike, SiteGroups, normal_form, normal_parts, values_of
from .actions import Change, Context
from .apply import Canonicalizer, Passed, table_for
from .canonical import Canonical
from .explanation import Explanation, UnusedRules, first_unmet, idle_reasons, used_operations
from .files import load_directories, load_sites, update_site
from .forms import operation_form, predicate_form
from .model import Rule, SiteRules, Status
from .program import SiteProgram

if TYPE_CHECKING:
    from os import PathLike

    from .operations import Nested
    from .table import OpTable


class RuleBook:
    """The rules of any number of sites; immutable, so one may be shared by threads.

    >>> from scrapy_dedup.rules import Ignore, Rule
    >>> book = RuleBook([Rule("example.com", {}, {"q.sid": Ignore()})])
    >>> book.canonical_key("http://www.example.com/a?sid=1&id=7")
    'http://www.example.com/a?id=7'
    >>> book.equivalent("http://example.com/?sid=1", "http://EXAMPLE.com")
    True
    >>> len(book), [rule.site for rule in book]
    (1, ['example.com'])

    *rules* come in any order, of any status; *deep* are the deep tokens by site, *groups*
    the site groups. A site in *deep* is one of the book's sites also without rules.

    Raises ValueError when two rules of a site have one id.
    """

    def __init__(
        self,
        rules: Iterable[Rule] = (),
        deep: Mapping[str, Mapping[str, DeepSplit]] | None = None,
        groups: GroupsLike = None,
    ) -> None:
        self.groups = SiteGroups.of(groups)
        self._sites: dict[str, SiteRules] = {}
        by_site: dict[str, list[Rule]] = {site: [] for site in deep or ()}
        for rule in rules:
            by_site.setdefault(rule.site, []).append(rule)
        for site in sorted(by_site):
            found = sorted(by_site[site], key=lambda rule: rule.id)
            self._sites[site] = SiteRules(site, tuple(found), (deep or {}).get(site, {}))
        self._use(
            {
                site: SiteProgram(found.rules, found.deep)
                for site, found in self._sites.items()
                if any(rule.status.acts and not rule.is_alias for rule in found.rules)
            }
        )

    def _use(self, compiled: dict[str, SiteProgram]) -> None:
        """Take *compiled* as the compiled rules of the book's sites."""
        self._compiled = compiled
        #: What brings URLs to their keys.
        self.canonicalizer = Canonicalizer(compiled, self.groups)

    # -- what it holds

    def __len__(self) -> int:
        return sum(len(found.rules) for found in self._sites.values())

    def __iter__(self) -> Iterator[Rule]:
        for found in self._sites.values():
            yield from found.rules

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RuleBook) and self._sites == other._sites and self.groups == other.groups

    __hash__ = None  # type: ignore[assignment]

    def __reduce__(self) -> tuple[Any, ...]:
        deep = {site: dict(found.deep) for site, found in self._sites.items()}
        return RuleBook, (list(self), deep, self.groups.domains)

    def __repr__(self) -> str:
        return f"<RuleBook: {len(self)} rules for {len(self._sites)} sites>"

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites that have rules or deep tokens, sorted."""
        return tuple(self._sites)

    def for_site(self, site: str) -> tuple[Rule, ...]:
        """Return the rules of *site*, sorted by id."""
        return self._sites[site].rules if site in self._sites else ()

    def site_rules(self, site: str) -> SiteRules:
        """Return what the book holds of *site*."""
        return self._sites.get(site) or SiteRules(site)

    def digest(self) -> str:
        """Return a hash of all that has a part in canonical keys: 32 hexadecimal digits.

        Two books with one digest give the same keys.
        """
        content = [self._content(site) for site in self._compiled]
        text = json.dumps([content, sorted(self.groups.domains.items())], sort_keys=True)
        return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()

    def _content(self, site: str) -> list[Any] | None:
        """Return all of a site that has a part in canonical keys; None if nothing has."""
        if site not in self._compiled:
            return None
        return [
            site,
            [
                [
                    rule.status,
                    rule.id,
                    [[key, predicate_form(predicate)] for key, predicate in rule.match.items()],
                    [[key, operation_form(operation)] for key, operation in rule.ops.items()],
                ]
                for rule in self._sites[site].rules
                if rule.status.acts and not rule.is_alias
            ],
            [[key, split.delimiter, split.side, split.optional] for key, split in self._sites[site].deep.items()],
        ]

    def same_keys(self, other: "RuleBook", site: str) -> bool:
        """Whether the rules of *site* are such that *other* gives its URLs the same keys."""
        return self._content(site) == other._content(site)

    def reloaded(self, directories: "Iterable[str | PathLike[str]]", sites: Iterable[str]) -> "RuleBook":
        """Return the book with the rules of *sites* as the files of *directories* have them now.

        What is compiled of other sites is shared, and their files are not read. Raises RuleFileError.
        """
        sites = set(sites)
        fresh = RuleBook(*load_sites(directories, sites), self.groups)
        return fresh.beside(self.only(site for site in self._sites if site not in sites))

    def with_candidates(self, site: str, candidates: Iterable[Rule]) -> "RuleBook":
        """Return the book of the rules of *site* that act, and of *candidates* as if these acted, too."""
        acting = {rule.id: rule for rule in self.for_site(site) if rule.status.acts}
        made = {rule.id: replace(rule, status=Status.MANUAL) for rule in candidates}
        return RuleBook(
            [*acting.values(), *(rule for name, rule in made.items() if name not in acting)],
            {site: self.site_rules(site).deep},
            self.groups,
        )

    def beside(self, others: "RuleBook") -> "RuleBook":
        """Return the book with the rules of the sites of *others* that it has none of; what is compiled is shared."""
        compiled = {site: program for site, program in others._compiled.items() if site not in self._sites}
        return self._sharing({**others._sites, **self._sites}, compiled | self._compiled)

    def only(self, sites: Iterable[str]) -> "RuleBook":
        """Return the book of some of the sites; what is compiled is shared."""
        chosen = set(sites)
        return self._sharing({site: found for site, found in self._sites.items() if site in chosen}, self._compiled)

    def _sharing(self, sites: Mapping[str, SiteRules], compiled: Mapping[str, SiteProgram]) -> "RuleBook":
        """Return the book of *sites*, with what is compiled of them."""
        book = RuleBook(groups=self.groups)
        book._sites = dict(sorted(sites.items()))
        book._use({site: compiled[site] for site in book._sites if site in compiled})
        return book

    # -- keys

    def canonical_key(self, url: str) -> str:
        """Return the canonical key of *url*: equal for URLs that the rules call one page.

        Never raises. ``canonical_key(canonical_key(url))`` is ``canonical_key(url)``; of
        a site without rules it is the normal form. Of a text that is no absolute ``http`` or ``https`` URL it is
        the text as URLs are written (``not a url`` gives ``not%20a%20url``), a key that no page has.
        """
        return self.canonicalizer.site_and_key(url, [])[1]

    def canonical(self, url: str) -> Canonical:
        """Return the canonical key of *url* (:meth:`canonical_key`) with its site and what rules changed. Never raises."""
        return self.canonicalizer.canonical(url)

    def equivalent(self, a: str, b: str) -> bool:
        """Return whether *a* and *b* have one canonical key."""
        return self.canonical_key(a) == self.canonical_key(b)

    def matching(self, url: str) -> list[Rule]:
        """Return the rules that act and match *url*, sorted by id."""
        table = self._table(url)
        return [] if table is None else _rules_of([table])

    def _table(self, url: str) -> "OpTable | None":
        """Return the operations of the rules that match *url*; None if no rule can."""
        origin, path, query = normal_parts(url)
        program = self.canonicalizer.program(origin)
        return None if program is None else table_for(program, path, query)

    def acting(self, url: str) -> list[Rule]:
        """Return the rules that act and match *url*, or what others make of it on the way to its key, sorted by id."""
        passed: list[Passed] = []
        self.canonicalizer.site_and_key(url, [], passed=passed)
        return _rules_of([table for table, _ in passed])

    def explain(self, url: str) -> Explanation:
        """Return how *url* comes to its canonical key."""
        changes: list[Change] = []
        passed: list[Passed] = []
        site, key = self.canonicalizer.site_and_key(url, changes, passed=passed)
        values = values_of(url, groups=self.groups, deep=self.site_rules(site).deep)
        tables = [table for table, _ in passed[:1]]
        made = changes[: passed[1][1]] if len(passed) > 1 else changes  # in the first step
        used = used_operations(tables[0], made, values) if tables else {}
        matching = tuple([(rule, used.get(rule.id, {})) for rule in _rules_of(tables)])
        return Explanation(url, site, values, normal_form(url), key, matching)

    def unused(self, explained: Explanation) -> UnusedRules:
        """Return the rules of the site that have no part in the canonical key of a URL that was *explained*, and why."""
        table = self._table(explained.url)
        idle: dict[str, tuple[str, ...]] = {}
        if table is not None:
            context = Context(lambda: explained.values, self.nested_key)
            without_use = [rule for rule, used in explained.rules if not used]
            idle = {rule.id: idle_reasons(rule, table, explained.values, context) for rule in without_use}
        met = [rule for rule, _ in explained.rules]
        others = [rule for rule in self.for_site(explained.site) if not rule.is_alias and rule not in met]
        unmet = [(rule, first_unmet(rule, explained.values)) for rule in others]
        unmatched = tuple((rule, key) for rule, key in unmet if key is not None and rule.status.acts)
        inactive = tuple(rule for rule, key in unmet if key is None and not rule.status.acts)
        return UnusedRules(idle, unmatched, inactive)

    def nested_key(self, url: str, operation: "Nested", *, depth: int = 1) -> str:
        """Return the key of *url* as the value of another URL, on which *operation* acts, *depth* URLs deep."""
        return self.canonicalizer.nested_key(url, operation, depth)

    # -- files

    @classmethod
    def load(
        cls, *directories: "str | PathLike[str]", groups: GroupsLike = None, missing_ok: bool = False
    ) -> "RuleBook":
        """Return the rules of all files in *directories*; with *missing_ok* a missing directory holds none.

        Of two rules of a site with one id, one that is off counts, else a manual one, else
        a suspended one, else that of the directory named first.

        Raises RuleFileError for a missing directory and for a faulty file: nothing is ever half read.
        """
        rules, deep = load_directories(directories, missing_ok=missing_ok)
        return cls(rules, deep, groups)

    @classmethod
    def load_sites(
        cls, directory: "str | PathLike[str]", sites: Iterable[str], groups: GroupsLike = None
    ) -> "RuleBook":
        """Return the rules of *sites* in *directory*: no other file is read. Raises RuleFileError."""
        return cls(*load_sites([directory], sites), groups)

    def save(self, directory: "str | PathLike[str]") -> None:
        """Write a file per site into *directory*, merged with the file that is there.

        As in :func:`.merge`: manual and off rules of the files stay, learned ones are
        replaced by the book's, comments are kept. Files of other sites are left alone.

        Raises RuleFileError for a faulty file that is there, RuleWriteError where it
        cannot be written.
        """
        for found in self._sites.values():
            update_site(directory, found.site, found.rules, found.deep)


def _rules_of(tables: "Iterable[OpTable]") -> list[Rule]:
    """Return the rules of *tables*, each once, sorted by id."""
    found = {each.rule.id: each.rule for table in tables for each in table.rules}
    return [found[name] for name in sorted(found)]
