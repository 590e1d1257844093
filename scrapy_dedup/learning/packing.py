"""A rule pack made of many sites: what their rules say, put to the pages of each of them.

Each rule that acts on a site is a guess about its platform: the key that it drops makes no difference there, under the script
it was learned on or under any, for the values that it names or for all. Each guess is put to the pages of every site of the
platform. A site *speaks for* it where two pages or more are one whatever the key says, and *against* it where pages differ
more often than noise explains; else it says nothing. What is left stands in the pack with both counts, and no word of it is one
site's: two sites have to show it, or a public document (``source`` in the pack that there was before) says so.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from ..masks.model import Mask
from ..observation import Observation
from ..packs.model import Pack, PackRule, Platform
from ..packs.platforms import generators_of, platforms_told
from ..rules import Ignore, IgnoreValue, Keep, Literal, Operation, Rule, SetOfValues
from .data.clusters import clusters
from .data.judgement import SiteUrls, book_of, judged
from .data.url_table import Table
from .evidence.arrays import ABSENT
from .evidence.judge import is_proven
from .evidence.shares import MIN_STATED
from .evidence.value_kinds import ValueKind
from .lifetime.incumbents import said_by
from .opinions.taught import proposals_of
from .proposals.blame import MAX_CLEAN, blamed
from .proposals.combining import rules_of
from .proposals.coverage import says_as_much
from .proposals.proposal import Match, Proposal
from .site_evidence import judged_sample

LEAST_SITES = 2
"""Sites of a platform that must show what no document says: what one has shown may be its own."""
LEAST_ANY = 3
"""Sites that must show what is to hold whatever their platforms are."""
LEAST_KINDS = 2
"""Platforms that these have to be of."""
LOADS = 2
"""Times that each site is loaded: for what it may say, and for what it says of all that others may."""
MOST_AGAINST = 1 / 4
"""Sites against a rule, for one that speaks for it, up to which it stands in a pack."""
MOST_SCRIPTS = 4
"""Scripts of a rule that are tried as its template, those of most URLs first."""
MOST_KEYS = 40
"""Parameters of a platform that are asked whether they tell the page, those of most sites first."""
_SCRIPTS = ("php", "cgi", "pl", "py", "asp", "aspx", "jsp", "do", "cfm")
_WORD = 20
"""Characters of the longest value that may be a word of the software."""


@dataclass(frozen=True, slots=True)
class Teacher:
    """A site that teaches: its URLs with what they showed, its acting rules, and what it runs."""

    site: str
    sample: SiteUrls
    table: Table
    rules: tuple[Rule, ...]
    generators: Mapping[str, int]
    _answers: dict[PackRule, int] = field(default_factory=dict, init=False, repr=False, compare=False)
    _scripts_of: dict[str, list[str]] = field(default_factory=dict, init=False, repr=False, compare=False)
    _told: dict[tuple[Platform, ...], tuple[str, ...]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @classmethod
    def of(
        cls, site: str, observations: Sequence[Observation], rules: Iterable[Rule] = (), mask: Mask | None = None
    ) -> "Teacher":
        """Return the teacher that the observations of a site make, under its *mask*."""
        every = SiteUrls.of(site, clusters(observations, mask), None)
        sample, table, _ = judged_sample(every, ())
        acting = tuple(rule for rule in rules if rule.status.acts and not rule.is_alias)
        return cls(site, sample, table, acting, generators_of(seen.headers for seen in observations))

    def platforms(self, known: Iterable[Platform]) -> tuple[str, ...]:
        """Return the names of the platforms that it is told to run."""
        signs = tuple(known)
        if signs not in self._told:
            self._told[signs] = platforms_told(self.sample.urls, self.generators, signs)
        return self._told[signs]

    def guesses(self) -> set[PackRule]:
        """Return what its rules may say of its platform."""
        return {
            guess for rule in self.rules for key, one in rule.ops.items() for guess in self._guesses(rule, key, one)
        }

    def _guesses(self, rule: Rule, key: str, operation: Operation) -> Iterator[PackRule]:
        if not key.startswith(("q.", "m.")) or key.endswith((".head", ".tail", "*")):
            return
        if isinstance(operation, Ignore | IgnoreValue):
            forms: list[Operation] = [Ignore()]
            if isinstance(operation.only, frozenset) and all(len(value) <= _WORD for value in operation.only):
                forms += [Ignore(only={value}) for value in operation.only]
            elif operation.only is not None and not isinstance(operation.only, frozenset):
                forms.append(Ignore(only=operation.only))
        elif isinstance(operation, SetOfValues):
            forms = [operation]
        else:
            return
        asked = {
            name: predicate
            for name, predicate in rule.match.items()
            if name.startswith("q.") and isinstance(predicate, Literal) and len(predicate.value) <= _WORD
        }
        for template in ("", *self._scripts(key)):
            for match in ({}, asked) if asked else ({},):
                for form in forms:
                    yield PackRule({key: form}, template=template, match=match)

    def _scripts(self, key: str) -> list[str]:
        """Return the scripts of most URLs that have a key."""
        if key not in self._scripts_of:
            self._scripts_of[key] = self._most_scripts(key)
        return self._scripts_of[key]

    def _most_scripts(self, key: str) -> list[str]:
        codes, columns = self.table.columns.get(key), self.table.columns
        if codes is None or "ext" not in columns:
            return []
        found: Counter[str] = Counter()
        for row in np.flatnonzero((codes != ABSENT) & (columns["ext"] != ABSENT)).tolist():
            extension = self.table.vocabulary[columns["ext"][row]]
            if extension in _SCRIPTS:
                found[f"{self._last_segment(row)}.{extension}"] += 1
        return [script for script, _ in found.most_common(MOST_SCRIPTS)]

    def _last_segment(self, row: int) -> str:
        last = 0
        while (codes := self.table.columns.get(f"path.{last + 1}")) is not None and codes[row] != ABSENT:
            last += 1
        return str(self.table.vocabulary[self.table.columns[f"path.{last}"][row]])

    def says(self, guess: PackRule) -> int:
        """Return 1 where its pages speak for a guess, -1 where they speak against it, and 0 where they say nothing."""
        if guess not in self._answers:
            self._answers[guess] = self._answer(guess)
        return self._answers[guess]

    def _answer(self, guess: PackRule) -> int:
        asked = list(proposals_of(guess, self.table))
        if not asked:
            return 0
        keys = {one.key for one in asked}
        own = [one for rule in self.rules for one in said_by(rule) if one.key not in keys]
        everything = [*own, *asked]
        book = book_of(rules_of(self.site, everything), self.sample, {})
        judgement = judged(book, self.sample)
        clean, bad = judgement.clean, judgement.bad
        clean = clean[:: len(clean) // MAX_CLEAN + 1]
        speaking = blamed(everything, book, judgement, clean)
        against = blamed(everything, book, judgement, bad)
        groups = {number for one in asked for number in speaking.get(one, ())}
        pages = {self.sample.content[clean[number][0]] for number in groups}
        others = {number for one in asked for number in against.get(one, ())}
        if len(pages) >= MIN_STATED and (not others or is_proven(len(pages), len(others), ValueKind.OTHER.prior)):
            return 1
        lost = sum(len({self.sample.content[i] for i in bad[number]}) - 1 for number in others)
        return -1 if lost >= MIN_STATED else 0

    def parameters(self) -> list[str]:
        """Return its parameters that several URLs have."""
        return [
            key
            for key, codes in self.table.columns.items()
            if key.startswith("q.") and int(np.count_nonzero(codes)) >= MIN_STATED
        ]


def pack_of(
    name: str, sites: Sequence[str], load: Callable[[str], Teacher], base: Pack, signs: Iterable[Platform] = ()
) -> Pack:
    """Return the pack that some sites teach, of which *load* makes a teacher each; in whatever order they are named.

    *base* is the pack of before: what has a ``source`` there stays, and is counted anew; *signs* are platforms that may be told
    beside those of it. Each site is loaded twice, one at a time. O(sites x guesses x URLs).
    """
    known = _named([*base.platforms, *signs])
    ran: dict[str, tuple[str, ...]] = {}
    guesses: dict[PackRule, None] = {}
    parameters: dict[str, Counter[str]] = {}
    generators: Counter[str] = Counter()
    for site in sorted(set(sites)):
        teacher = load(site)
        ran[site] = teacher.platforms(known.values()) or tuple(
            sorted({_word(each) for each in teacher.generators} - {""})
        )
        generators.update(set(ran[site]) - known.keys())
        for platform in ran[site]:
            guesses.update((replace(guess, platform=platform), None) for guess in teacher.guesses())
            parameters.setdefault(platform, Counter()).update(teacher.parameters())
        guesses.update((guess, None) for guess in teacher.guesses() if guess.is_of_names)
        del teacher  # before the next one is there
    for platform, counts in parameters.items():
        common = sorted(
            (key for key, count in counts.items() if count >= LEAST_SITES), key=lambda key: (-counts[key], key)
        )
        guesses.update((PackRule({key: Ignore()}, platform), None) for key in common[:MOST_KEYS])
    documented = [rule for rule in base.rules if rule.source]
    asked = [*documented, *sorted((one for one in guesses if one not in documented), key=lambda one: one.name)]
    counted = {rule: Counter({1: 0, -1: 0}) for rule in asked}
    kinds: dict[PackRule, set[tuple[str, ...]]] = {rule: set() for rule in asked}
    for site, names in ran.items():
        teacher = load(site)
        for rule in asked:
            if not rule.platform or rule.platform in names:
                answer = _says(teacher, rule)
                counted[rule][answer] += 1
                if answer > 0:
                    kinds[rule].add(names or (site,))
        del teacher
    rules = [rule.counted(counted[rule][1], counted[rule][-1]) for rule in asked]
    fresh = [
        rule
        for guess, rule in zip(asked[len(documented) :], rules[len(documented) :], strict=True)
        if rule.sites + rule.against and (rule.platform or len(kinds[guess]) >= LEAST_KINDS)
    ]
    shown = _shown(fresh, documented)
    learned = [*shown, *_kept(fresh, [*documented, *shown])]
    chosen = [*rules[: len(documented)], *learned]
    used = {rule.platform for rule in chosen}
    more = [Platform(each, generators=(each,)) for each, count in sorted(generators.items()) if count >= LEAST_SITES]
    platforms = [each for each in (*base.platforms, *signs, *more) if each in base.platforms or each.name in used]
    order = {each.name: place for place, each in enumerate(platforms)}
    chosen.sort(key=lambda rule: (order.get(rule.platform, len(order)), not rule.source))
    return Pack(name, tuple(_named(platforms).values()), tuple(chosen), base.note)


def _says(teacher: Teacher, rule: PackRule) -> int:
    """Return what a teacher says of a rule; what is kept is right where dropping it is wrong."""
    if rule.is_kept:
        return -teacher.says(replace(rule, ops=dict.fromkeys(rule.ops, Ignore())))
    return teacher.says(rule)


def _named(platforms: Iterable[Platform]) -> dict[str, Platform]:
    found: dict[str, Platform] = {}
    for each in platforms:
        found.setdefault(each.name, each)
    return found


def _word(generator: str) -> str:
    """Return the name of a platform that a generator names: its first word, without a version."""
    return generator.split(" ", 1)[0].split("/", 1)[0].strip()


def _shown(fresh: Iterable[PackRule], known: Sequence[PackRule]) -> list[PackRule]:
    """Return the guesses that enough sites speak for, without those that *known* rules, or wider ones of them, say, too."""
    enough = [
        rule
        for rule in fresh
        if rule.sites >= (LEAST_SITES if rule.platform else LEAST_ANY) and rule.against <= MOST_AGAINST * rule.sites
    ]
    chosen: list[PackRule] = []
    documented = {(rule.platform, rule.template, key) for rule in known for key in rule.ops}
    for rule in sorted(enough, key=_width):
        if any((rule.platform, template, key) in documented for key in rule.ops for template in ("", rule.template)):
            continue  # the document says for which values
        if not any(_covers(other, rule) for other in (*known, *chosen)):
            chosen.append(rule)
    return chosen


def _kept(fresh: Iterable[PackRule], known: Sequence[PackRule]) -> list[PackRule]:
    """Return what sites have shown to tell the page: parameters that all of them speak against dropping."""
    spoken = {(rule.platform, key) for rule in known for key in rule.ops}
    return [
        replace(rule, ops=dict.fromkeys(rule.ops, Keep())).counted(rule.against, rule.sites)
        for rule in fresh
        if rule.is_of_names and rule.platform and rule.against >= LEAST_SITES and not rule.sites
        if not any((rule.platform, key) in spoken for key in rule.ops)
    ]


def _width(rule: PackRule) -> tuple[object, ...]:
    """Return a key by which the widest rules come first, and of these the one that most sites speak for."""
    named = sum(getattr(one, "only", None) is not None for one in rule.ops.values())
    return bool(rule.platform), bool(rule.template), len(rule.match), named, -rule.sites, rule.name


def _covers(wide: PackRule, rule: PackRule) -> bool:
    """Return whether one rule of a pack says all that another one says."""
    if wide.platform not in ("", rule.platform) or wide.template not in ("", rule.template) or wide.is_kept:
        return False
    ours: Match = tuple(wide.match.items())
    theirs: Match = tuple(rule.match.items())
    return all(
        any(
            says_as_much(Proposal(ours, other, said), Proposal(theirs, key, one))
            for other, said in wide.ops.items()
            if other == key
        )
        for key, one in rule.ops.items()
    )
