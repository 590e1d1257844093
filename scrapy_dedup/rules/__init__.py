"""What a rule is, how it acts, and its files. (Design, section 4.)"""

from .book import Explanation, RuleBook
from .forms import FormError, operation_form, operation_of, predicate_form, predicate_of
from .model import Evidence, Rule, SiteRules, Status, content_id, merge
from .operations import Ignore, IgnoreValue, Keep, Lower, Nested, Operation, Replace, Set, SetOfValues
from .predicates import Absent, Literal, OfClass, OneOf, Predicate

__all__ = [
    "Absent",
    "Evidence",
    "Explanation",
    "FormError",
    "Ignore",
    "IgnoreValue",
    "Keep",
    "Literal",
    "Lower",
    "Nested",
    "OfClass",
    "OneOf",
    "Operation",
    "Predicate",
    "Replace",
    "Rule",
    "RuleBook",
    "Set",
    "SetOfValues",
    "SiteRules",
    "Status",
    "content_id",
    "merge",
    "operation_form",
    "operation_of",
    "predicate_form",
    "predicate_of",
]
