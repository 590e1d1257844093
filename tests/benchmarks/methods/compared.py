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
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from w3lib.url import canonicalize_url

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.learning.data.clusters import Clusters, clusters
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.methods.policy import policy_of
from scrapy_dedup.urls import normal_form, site_of_url

from .peers import patch_maybedont

Key = Callable[[str], str]

TRACKERS = frozenset(
    "gclid gclsrc gbraid wbraid dclid fbclid msclkid twclid ttclid li_fat_id igshid yclid _openstat mc_cid mc_eid "
    "oly_anon_id oly_enc_id __s vero_id vero_conv mkt_tok _hsenc _hsmi hsctatracking wickedid zanpid irclickid "
    "s_cid icid ncid cmpid spm scm ref ref_ referrer source".split()
)
"""Names that the services which set them document, and that public lists of trackers (ClearURLs, AdGuard's
tracking protection, the query stripping of browsers) have in common; some stand on lists with exceptions
for the sites where they mean something, as ``ref`` and ``source`` do."""
TRACKER_PREFIXES = ("utm_", "pk_", "mtm_", "hsa_", "itm_", "at_")
SESSIONS = frozenset("phpsessid jsessionid aspsessionid sid sessionid session_id cfid cftoken oscsid zenid".split())
"""Names of session ids of well-known servers and frameworks."""


def unchanged(url: str) -> str:
    """The URL itself: no rules."""
    return url


def without_trackers(url: str) -> str:
    """The URL without the parameters that the static list names, in its path's ``;`` as well."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return url
    query = [pair for pair in parse_qsl(parts.query, keep_blank_values=True) if not is_tracker(pair[0])]
    head, mark, tail = parts.path.partition(";")
    path = head if mark and is_tracker(tail.partition("=")[0]) else parts.path
    return urlunsplit((parts.scheme, parts.netloc, path, urlencode(query), ""))


def is_tracker(name: str) -> bool:
    """Whether the static list names a parameter."""
    name = name.lower()
    return name in TRACKERS or name in SESSIONS or name.startswith(TRACKER_PREFIXES)


def courlan() -> Key:
    """courlan's ``clean_url``; raises ImportError where it is not installed."""
    from courlan import clean_url

    return lambda url: clean_url(url) or url


def url_normalizer() -> Key:
    """url-normalize; raises ImportError where it is not installed."""
    from url_normalize import url_normalize

    return lambda url: url_normalize(url) or url


def duplicate_url_discarder() -> Key:
    """duplicate-url-discarder with the rules it ships; raises ImportError where it is not installed."""
    from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer
    from duplicate_url_discarder_rules import RULE_PATHS

    canonicalizer = UrlCanonicalizer([str(path) for path in RULE_PATHS or ()])
    return lambda url: str(canonicalizer.process_url(url))


class MaybeDont:
    """MaybeDont 0.1.1 (the last release, of 2018), as a key.

    Its hypotheses are of a parameter, of one under a path, of a value, and of a whole path. A
    parameter is dropped that one of them holds for, with the probability it asks for before it drops
    a request. What it knows only of URLs it has seen (the hypothesis with the rest of the query) is
    no key and is left out.

    The text it compares is made of the fingerprint, so equal pages are equal to it and others are
    not. Raises ImportError where it is not installed.
    """

    threshold = 0.98

    def __init__(self, observations: Sequence[Observation]) -> None:
        from w3lib.url import canonicalize_url

        predict = patch_maybedont()
        self._model = predict.DupePredictor()
        self._canonicalize = canonicalize_url
        for observation in observations:
            if observation.status == 200:
                page = observation.fingerprint
                self._model.update_model(observation.url, " ".join(page[i : i + 4] for i in range(len(page) - 3)))

    def __call__(self, url: str) -> str:
        model = self._model
        url = self._canonicalize(url)
        parts = urlsplit(url)
        path = parts.netloc + parts.path
        if self._holds(model.path_dupstats, path):
            return urlunsplit(parts._replace(query=""))
        query = [
            (name, value)
            for name, value in parse_qsl(parts.query, keep_blank_values=True)
            if not (
                self._holds(model.param_dupstats, name)
                or self._holds(model.path_param_dupstats, (path, name))
                or self._holds(model.param_value_dupstats, (name, value))
                or self._holds(model.path_param_value_dupstats, (path, name, value))
            )
        ]
        return urlunsplit(parts._replace(query=urlencode(query)))

    def _holds(self, statistics: Any, key: Any) -> bool:
        found = statistics.get(key)
        return found is not None and found.get_prob() > self.threshold


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
    return Keys(MaybeDont(observations))


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
    methods["no rules"] = partial(fixed, lambda: unchanged)
    methods["normal form"] = partial(fixed, lambda: normal_form)
    methods["w3lib"] = partial(fixed, lambda: canonicalize_url)
    methods["tracker list"] = partial(fixed, lambda: without_trackers)
    for needed, name, make in (
        ("courlan", "courlan", courlan),
        ("url_normalize", "url-normalize", url_normalizer),
        ("duplicate_url_discarder_rules", "duplicate-url-discarder", duplicate_url_discarder),
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
