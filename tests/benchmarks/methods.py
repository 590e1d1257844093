"""The methods that the benchmarks compare: each learns from observations and gives keys.

``pipeline`` is the package as it is. Its members run alone, through the same validation. The faithful
modes are the documents' own methods with their own gates. The others are baselines.
"""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from w3lib.url import canonicalize_url

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.clusters import NO_EVIDENCE, clusters
from scrapy_dedup.learning.combining import rules_of
from scrapy_dedup.learning.judgement import Sample
from scrapy_dedup.learning.methods import entropy, equivalence
from scrapy_dedup.rules import Rule, RuleBook
from scrapy_dedup.rules.model import operation_problem
from scrapy_dedup.urls import normal_form, site_of_url

from . import baselines
from .baselines import Key

MEMBERS = ("difference_sets", "entropy", "equivalence", "pattern_tree", "affixes", "replacing", "declared")
"""Learners of the pipeline, as ``learn_rules(observations, learners=[...])`` names them."""
PUBLISHED_ENTROPY = {
    "as published": entropy.Options(),
    "relevant anywhere": entropy.Options(conflict=entropy.Conflict.RELEVANT_ANYWHERE),
    "by ratio": entropy.Options(conflict=entropy.Conflict.RATIO),
    "by host": entropy.Options(scope=entropy.Scope.HOST, kinds=entropy.EVERYWHERE, prefixes=True),
}
"""Implementations that the document describes: rules of each path, of what is relevant under any or most paths of a
host; or of all URLs of a host, with the segments of the path as parameters."""
PUBLISHED_EQUIVALENCE = {
    "as published": equivalence.Policy(),
    "by ends": equivalence.Policy(method=equivalence.by_prefix_and_suffix),
    "any case": equivalence.Policy(fold_case=True),
}
"""The intersection of segments, the embodiment with shared prefixes and suffixes, and that with case-insensitive segments."""
FPR_MAX = 0.05
"""Of the faithful modes that have a false-positive filter, unless a sweep says otherwise."""


@dataclass(frozen=True, slots=True)
class Keys:
    """What a method learned: its key of a URL, and how many rules it went through, where it counts them."""

    key: Key
    raw: int | None = None
    qualified: int | None = None
    deployed: int | None = None


class Safe:
    """A key that is the URL itself where the method raises; ``errors`` counts how often."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.errors = 0

    def __call__(self, url: str) -> str:
        try:
            return self._key(url)
        except Exception:  # noqa: BLE001  # other people's code, on hostile URLs
            self.errors += 1
            return url


Learn = Callable[[Sequence[Observation]], Keys]


def pipeline(observations: Sequence[Observation], learners: Sequence[str] | None = None) -> Keys:
    """What the package learns, from all its learners or from some."""
    only: dict[str, Any] = {} if learners is None else {"learners": learners}
    book = learn_rules(observations, **only)
    return Keys(book.canonical_key, deployed=sum(rule.status.acts for rule in book))


def fixed(make: Callable[[], Key], observations: Sequence[Observation]) -> Keys:
    """A key that nothing is learned for."""
    return Keys(make())


def maybedont(observations: Sequence[Observation]) -> Keys:
    """The learner of the practice."""
    return Keys(baselines.MaybeDont(observations))


def faithful_tree(selection: str, improved: bool, fpr_max: float, observations: Sequence[Observation]) -> Keys:
    """The pattern tree by itself, as published or with the gaps filled, with naive or graph selection."""
    tree = import_module("scrapy_dedup.learning.methods.pattern_tree")
    options = tree.IMPROVED if improved else tree.FAITHFUL
    return by_site(observations, partial(tree.learn, options=options, selection=selection, fpr_max=fpr_max))


def published_entropy(options: entropy.Options, observations: Sequence[Observation]) -> Keys:
    """The two entropies of each parameter against thresholds, as published; *options*: which implementation."""
    rules: list[Rule] = []
    for site, seen in sites(observations).items():
        found = entropy.faithful_proposals(Sample.of(site, clusters(seen), None), options)
        # No rule speaks of one repeat of a parameter alone.
        rules += rules_of(site, [one for one in found if operation_problem(one.key, one.operation) is None])
    return Keys(RuleBook(rules).canonical_key, deployed=len(rules))


def published_equivalence(policy: equivalence.Policy, observations: Sequence[Observation]) -> Keys:
    """Rewrite rules of equivalence classes, as published: one counterexample rejects; *policy*: which embodiment."""
    observed = []
    for seen in sites(observations).values():
        found = clusters(seen)
        rows = zip(found.urls, found.content, strict=True)
        observed += [equivalence.Observed(url, content) for url, content in rows if content != NO_EVIDENCE]
    inference = equivalence.inferred(observed, policy)
    raw, active = len(inference.rules), len(inference.active)
    return Keys(lambda url: inference.normalized(normal_form(url)), raw=raw, qualified=active, deployed=active)


def fan_out(fan: int, fpr_max: float, observations: Sequence[Observation]) -> Keys:
    """Pairwise rules, generalised by fan-out."""
    module = import_module("tests.benchmarks.fanout")
    return by_site(observations, partial(module.learn_fanout, fan_out=fan, fpr_max=fpr_max))


def sites(observations: Sequence[Observation]) -> dict[str, list[Observation]]:
    """The observations of each site."""
    groups: dict[str, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(site_of_url(observation.url), []).append(observation)
    return groups


def by_site(observations: Sequence[Observation], learn: Callable[[Sequence[str], Sequence[int]], Any]) -> Keys:
    """What a method learns that takes the URLs and duplicate clusters of one site at a time."""
    found: dict[str, Any] = {}
    for site, seen in sites(observations).items():
        of_site = clusters(seen)
        found[site] = learn(of_site.urls, of_site.content)

    def key(url: str) -> str:
        rules = found.get(site_of_url(url))
        return normal_form(url) if rules is None else str(rules.canonical(url))

    every = found.values()
    return Keys(
        key,
        raw=sum(rules.raw for rules in every),
        qualified=sum(rules.qualified for rules in every),
        deployed=sum(len(rules.rules) for rules in every),
    )


def available(fpr_max: float = FPR_MAX) -> tuple[dict[str, Learn], list[str]]:
    """(methods by name, notes on those that are left out)."""
    methods: dict[str, Learn] = {"pipeline": pipeline}
    notes = []
    if "learners" in inspect.signature(learn_rules).parameters:
        for name in MEMBERS:
            methods[name] = partial(pipeline, learners=[name])
    else:
        notes.append("single members of the pipeline: learn_rules() has no learners=")
    for needed, name, learn in (
        (
            "scrapy_dedup.learning.methods.pattern_tree",
            "pattern tree, graph",
            partial(faithful_tree, "graph", False, fpr_max),
        ),
        (
            "scrapy_dedup.learning.methods.pattern_tree",
            "pattern tree, naive",
            partial(faithful_tree, "naive", False, fpr_max),
        ),
        (
            "scrapy_dedup.learning.methods.pattern_tree",
            "pattern tree, naive by fpr",
            partial(faithful_tree, "naive by fpr", False, fpr_max),
        ),
        (
            "scrapy_dedup.learning.methods.pattern_tree",
            "pattern tree, improved",
            partial(faithful_tree, "graph", True, fpr_max),
        ),
        *(
            ("scrapy_dedup.learning.methods.entropy", f"entropy, {name}", partial(published_entropy, options))
            for name, options in PUBLISHED_ENTROPY.items()
        ),
        *(
            (
                "scrapy_dedup.learning.methods.equivalence",
                f"equivalence, {name}",
                partial(published_equivalence, policy),
            )
            for name, policy in PUBLISHED_EQUIVALENCE.items()
        ),
        ("tests.benchmarks.fanout", "fan-out 5", partial(fan_out, 5, fpr_max)),
        ("tests.benchmarks.fanout", "fan-out 10", partial(fan_out, 10, fpr_max)),
        ("maybedont", "MaybeDont", maybedont),
    ):
        function = "learn" if name.startswith("pattern") else "learn_fanout" if name.startswith("fan") else None
        problem = missing(needed, function)
        if problem:
            notes.append(f"{name}: {problem}")
        else:
            methods[name] = learn
    methods["no rules"] = partial(fixed, lambda: baselines.unchanged)
    methods["normal form"] = partial(fixed, lambda: normal_form)
    methods["w3lib"] = partial(fixed, lambda: canonicalize_url)
    methods["tracker list"] = partial(fixed, lambda: baselines.without_trackers)
    for needed, name, make in (
        ("courlan", "courlan", baselines.courlan),
        ("url_normalize", "url-normalize", baselines.url_normalizer),
        ("duplicate_url_discarder_rules", "duplicate-url-discarder", baselines.duplicate_url_discarder),
    ):
        problem = missing(needed)
        if problem:
            notes.append(f"{name}: {problem}")
        else:
            methods[name] = partial(fixed, make)
    return methods, notes


def missing(module: str, name: str | None = None) -> str | None:
    """Why something cannot be used, None where it can."""
    try:
        found = import_module(module)
    except ImportError as error:
        return f"not installed ({error})"
    return f"{module} has no {name}" if name is not None and not hasattr(found, name) else None


def asked_for(text: str | None, extra: Mapping[str, Learn] | None = None) -> tuple[dict[str, Learn], list[str]]:
    """(methods that ``--methods`` names, notes on what is left out); none are named by None, all by "all".

    Names are parted by semicolons or, where no name has one, by commas ("pattern tree, graph" is one).
    Raises ValueError for a name that no method has.
    """
    if text is None:
        return {}, []
    methods, notes = available()
    methods |= extra or {}
    if text == "all":
        return methods, notes
    names = [name.strip() for name in text.split(";")]
    wanted: list[str] = []
    for name in names:
        wanted += [name] if name in methods else parted(name, methods)
    if unknown := [name for name in wanted if name not in methods]:
        raise ValueError(f"no method is called {', '.join(unknown)}; there are: {'; '.join(methods)}")
    return {name: methods[name] for name in wanted}, notes


def parted(text: str, methods: Mapping[str, Learn]) -> list[str]:
    """The names in a list with commas; a name with a comma in it is taken whole."""
    found = []
    parts = [part.strip() for part in text.split(",")]
    while parts:
        pair = ", ".join(parts[:2])
        length = 2 if pair in methods else 1
        found.append(", ".join(parts[:length]))
        parts = parts[length:]
    return found
