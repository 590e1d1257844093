"""Rewrite rules from the URLs of equivalence classes (method of "url-normalization-rule-inference").

>>> from scrapy_dedup.learning.methods.equivalence import Observed, inferred, Policy
>>> seen = [Observed(f"http://a.example/x?id={i}&sid={i * 31 + s}", i) for i in range(5) for s in range(3)]
>>> found = inferred(seen, Policy(min_urls=10))
>>> for rule in found.active:
...     print(rule)
http://a.example/x?id=a&sid=* -> http://a.example/x?id=a
>>> found.normalized("http://a.example/x?id=77&sid=9")
'http://a.example/x?id=77'
"""

from .class_rules import ClassRules, rules_of_classes
from .generalization import generalised, spread_of
from .inference import Inference, Policy, inferred
from .page_comparison import Comparison, observed_pages
from .published import decide, in_own_terms
from .representatives import by_intersection, by_prefix_and_suffix, representative, shared_ends, shared_segments
from .rewriting import Anything, Fixed, Form, RewriteRule, Slot, Variable, VariableKind, kind_of
from .segments import Segment, SegmentedUrl, composed, segmented
from .stored_pages import near_identical
from .testing import Index, Observed, RuleVerdict, Tested, tested, tested_together, within_window

__all__ = [
    "Anything",
    "ClassRules",
    "Comparison",
    "Fixed",
    "Form",
    "Index",
    "Inference",
    "Observed",
    "Policy",
    "RewriteRule",
    "RuleVerdict",
    "Segment",
    "SegmentedUrl",
    "Slot",
    "Tested",
    "Variable",
    "VariableKind",
    "by_intersection",
    "by_prefix_and_suffix",
    "composed",
    "decide",
    "generalised",
    "in_own_terms",
    "inferred",
    "kind_of",
    "near_identical",
    "observed_pages",
    "representative",
    "rules_of_classes",
    "segmented",
    "shared_ends",
    "shared_segments",
    "spread_of",
    "tested",
    "tested_together",
    "within_window",
]
