"""What others do: keys without learning, and the one learner of the practice.

Libraries are the ``bench`` extra, never dependencies of the package: each is imported when it is asked
for, and left out, with a note, where it is not installed.
"""

from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit, urlunsplit

from scrapy_dedup import Observation

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
    no key and is left out. It is patched for Python 3.11 and later, where ``random.sample`` takes no
    set, and for releases of Scrapy without ``canonicalize_url``.

    The text it compares is made of the fingerprint, so equal pages are equal to it and others are
    not. Raises ImportError where it is not installed.
    """

    threshold = 0.98

    def __init__(self, observations: Sequence[Observation]) -> None:
        import random

        from maybedont import predict  # type: ignore[import-untyped]
        from w3lib.url import canonicalize_url

        class Sampling:
            """``random`` as it was: ``sample`` takes a set."""

            rng = random.Random(0)

            @classmethod
            def sample(cls, population: Any, count: int) -> list[Any]:
                return cls.rng.sample(sorted(population), count)

        predict.random = Sampling
        predict.canonicalize_url = lambda url: canonicalize_url(url, keep_fragments=True)
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
