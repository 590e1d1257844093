"""Which parameters of a URL are relevant, by the entropies of values and fingerprints.

Source: url-parameter-relevance. :func:`host_rules` is the document's method in its own terms, :func:`decide` what it
says of a site.
"""

from .analysis import (
    HOST,
    PATH,
    QUERY,
    FingerprintedUrl,
    ParameterRule,
    analysed,
    case_information,
    columns,
    holds_urls,
    keys_inside,
    relevant_tuples,
    settled_keys,
)
from .host import (
    MINIMUM_SIZE,
    HostRules,
    canonical_rules,
    cluster_name,
    clusters,
    decide,
    host_rules,
    merged,
    proposals_of,
)
from .relevance import (
    DOCUMENT_NAMES,
    KNOWN_NAMES,
    UNUSED,
    Information,
    NameList,
    Relevance,
    RelevanceThresholds,
    conditional_entropy,
    entropy,
    information,
    name_of,
)

__all__ = [
    "DOCUMENT_NAMES",
    "HOST",
    "KNOWN_NAMES",
    "MINIMUM_SIZE",
    "PATH",
    "QUERY",
    "UNUSED",
    "FingerprintedUrl",
    "HostRules",
    "Information",
    "NameList",
    "ParameterRule",
    "Relevance",
    "RelevanceThresholds",
    "analysed",
    "canonical_rules",
    "case_information",
    "cluster_name",
    "clusters",
    "columns",
    "conditional_entropy",
    "decide",
    "entropy",
    "holds_urls",
    "host_rules",
    "information",
    "keys_inside",
    "merged",
    "name_of",
    "proposals_of",
    "relevant_tuples",
    "settled_keys",
]
