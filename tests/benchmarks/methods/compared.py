"""The methods that the benchmarks compare: each learns from observations and gives keys.

``pipeline`` is the package as it is. The published methods decide as
``scrapy learn-rules --method NAME`` has them decide, alone; by its own functions of URLs, or, with ", in rule files" after
the name, by what rule files say of these. The others are baselines.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import Any

from w3lib.url import canonicalize_url

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.data.clusters import Clusters, clusters
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.methods.policy import policy_of
from scrapy_dedup.urls import normal_form, site_of_url

from . import baselines
from .baselines import Key

PUBLISHED: dict[str, tuple[str, dict[str, Any]]] = {
    "pattern tree, graph": ("pattern-tree", {}),
    "pattern tree, naive": ("pattern-tree", {"selection": "naive"}),
    "pattern tree, naive by fpr": ("pattern-tree", {"selection": "naive by fpr"}),
    "entropy, as published": ("entropy", {}),
    "entropy, relevant anywhere": ("entropy", {"conflict": "relevant-anywhere"}),
    "entropy, by ratio": ("entropy", {"conflict": "ratio"}),
    "entropy, by host": ("entropy", {"scope": "host", "parts": "query,path,host", "prefixes": True}),
    "equivalence, as published": ("equivalence", {}),
    "equivalence, by ends": ("equivalence", {"representative": "ends"}),
    "equivalence, any case": ("equivalence", {"fold_case": True}),
}
"""Name of a row -> method and options, as ``scrapy learn-rules --method`` has them: what the documents describe."""
IN_FILES = ", in rule files"
"""After the name of a row: what rule files say of it."""
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


def pipeline(observations: Sequence[Observation]) -> Keys:
    """What the package learns."""
    book = learn_rules(observations)
    return Keys(book.canonical_key, deployed=sum(rule.status.acts for rule in book))


def fixed(make: Callable[[], Key], observations: Sequence[Observation]) -> Keys:
    """A key that nothing is learned for."""
    return Keys(make())


def maybedont(observations: Sequence[Observation]) -> Keys:
    """The learner of the practice."""
    return Keys(baselines.MaybeDont(observations))


def published(
    method: str, options: Mapping[str, Any], fpr_max: float, observations: Sequence[Observation], *, files: bool = False
) -> Keys:
    """What a published method decides by itself: its own function of URLs, or with *files* what its rule files say."""
    options = {"fpr_max": fpr_max, **options} if method == "pattern-tree" else options
    if files:
        book = learn_rules(observations, method=method, options=options)
        return Keys(book.canonical_key, deployed=len(book))
    policy = policy_of(method, options)
    assert policy is not None
    return by_site(observations, lambda site, seen: policy.decide(SiteUrls.of(site, seen, None)))


def fan_out(fan: int, fpr_max: float, observations: Sequence[Observation]) -> Keys:
    """Pairwise rules, generalised by fan-out."""
    module = import_module("tests.benchmarks.methods.fanout")
    return by_site(
        observations, lambda _, seen: module.learn_fanout(seen.urls, seen.content, fan_out=fan, fpr_max=fpr_max)
    )


def sites(observations: Sequence[Observation]) -> dict[str, list[Observation]]:
    """The observations of each site."""
    groups: dict[str, list[Observation]] = {}
    for observation in observations:
        groups.setdefault(site_of_url(observation.url), []).append(observation)
    return groups


def by_site(observations: Sequence[Observation], learn: Callable[[str, Clusters], Any]) -> Keys:
    """What a method learns that takes the duplicate clusters of one site at a time."""
    found = {site: learn(site, clusters(seen)) for site, seen in sites(observations).items()}

    def key(url: str) -> str:
        rules = found.get(site_of_url(url))
        return normal_form(url) if rules is None else str(rules.canonical(url))

    def of_all(name: str) -> int | None:
        counts = [getattr(rules, name) for rules in found.values()]
        return None if None in counts else sum(counts)

    return Keys(key, raw=of_all("raw"), qualified=of_all("qualified"), deployed=of_all("deployed"))


def available(fpr_max: float = FPR_MAX) -> tuple[dict[str, Learn], list[str]]:
    """(methods by name, notes on those that are left out)."""
    methods: dict[str, Learn] = {"pipeline": pipeline}
    notes = []
    for name, (method, options) in PUBLISHED.items():
        methods[name] = partial(published, method, options, fpr_max)
    for fan in (5, 10):
        methods[f"fan-out {fan}"] = partial(fan_out, fan, fpr_max)
    problem = missing("maybedont")
    if problem:
        notes.append(f"MaybeDont: {problem}")
    else:
        methods["MaybeDont"] = maybedont
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


def missing(module: str) -> str | None:
    """Why something cannot be used, None where it can."""
    try:
        import_module(module)
    except ImportError as error:
        return f"not installed ({error})"
    return None


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
    for name, (method, options) in PUBLISHED.items():
        methods[f"{name}{IN_FILES}"] = partial(published, method, options, FPR_MAX, files=True)
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
        length = next((n for n in (3, 2) if ", ".join(parts[:n]) in methods), 1)
        found.append(", ".join(parts[:length]))
        parts = parts[length:]
    return found
