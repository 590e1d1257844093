"""Which parameters of a URL are relevant, by the entropies of values and fingerprints.

Source: url-parameter-relevance. :func:`host_rules` is the document's method in its own terms, :func:`decide` what it
says of a site.
"""

from .analysis import ParameterRule, analysed, case_information, holds_urls, relevant_tuples
from .cluster_merging import Conflict, HostRules, merged
from .columns import HOST, PATH, QUERY, FingerprintedUrl, columns, keys_inside, settled_keys
from .headers import HeadFingerprint, Strength, head_fingerprint
from .host import EntropyChoices, canonical_rules, host_rules, proposals_of
from .information import UNUSED, Information, conditional_entropy, entropy, information
from .name_lists import DOCUMENT_NAMES, KNOWN_NAMES, NameList, name_of
from .priors import Priors, learned_priors
from .published import decide, in_own_terms
from .relevance import Relevance, RelevanceThresholds
from .scopes import MINIMUM_SIZE, Scope, cluster_name, clusters

__all__ = [
    "DOCUMENT_NAMES",
    "HOST",
    "KNOWN_NAMES",
    "MINIMUM_SIZE",
    "PATH",
    "QUERY",
    "UNUSED",
    "Conflict",
    "EntropyChoices",
    "FingerprintedUrl",
    "HeadFingerprint",
    "HostRules",
    "Information",
    "NameList",
    "ParameterRule",
    "Priors",
    "Relevance",
    "RelevanceThresholds",
    "Scope",
    "Strength",
    "analysed",
    "canonical_rules",
    "case_information",
    "cluster_name",
    "clusters",
    "columns",
    "conditional_entropy",
    "decide",
    "entropy",
    "head_fingerprint",
    "holds_urls",
    "host_rules",
    "in_own_terms",
    "information",
    "keys_inside",
    "learned_priors",
    "merged",
    "name_of",
    "proposals_of",
    "relevant_tuples",
    "settled_keys",
]
