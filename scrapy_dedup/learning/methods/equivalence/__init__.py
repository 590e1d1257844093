"""Rewrite rules from the URLs of equivalence classes (method of "url-normalization-rule-inference").

>>> from scrapy_dedup.learning.methods.equivalence import Observed, inferred
>>> seen = [Observed(f"http://a.example/x?id={i}&sid={i * 31 + s}", i) for i in range(5) for s in range(3)]
>>> found = inferred(seen)
>>> for rule in found.active:
...     print(rule)
http://a.example/x?id=a&sid=* -> http://a.example/x?id=a
>>> found.normalized("http://a.example/x?id=77&sid=9")
'http://a.example/x?id=77'
"""

from .published import decide
from .rewriting import (
    Anything,
    ClassRules,
    Fixed,
    Form,
    RewriteRule,
    Slot,
    Variable,
    VariableKind,
    generalised,
    kind_of,
    rule_of_class,
    rules_of_classes,
    spread_of,
)
from .segments import (
    Method,
    Segment,
    SegmentedUrl,
    by_intersection,
    by_prefix_and_suffix,
    composed,
    representative,
    segmented,
    shared_ends,
    shared_segments,
)
from .shingles import near_identical
from .testing import Index, Inference, Observed, RuleVerdict, Tested, inferred, tested, tested_together, within_window

__all__ = [
    "Anything",
    "ClassRules",
    "Fixed",
    "Form",
    "Index",
    "Inference",
    "Method",
    "Observed",
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
    "inferred",
    "kind_of",
    "near_identical",
    "representative",
    "rule_of_class",
    "rules_of_classes",
    "segmented",
    "shared_ends",
    "shared_segments",
    "spread_of",
    "tested",
    "tested_together",
    "within_window",
]
