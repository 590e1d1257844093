"""What a rule is, how it acts, and its files."""

from ..files.errors import FormError, RuleFileError, RuleWriteError
from .book import RuleBook
from .explanation import Explanation
from .files import check, load_file, path_of_site, save_site, update_site
from .forms import operation_form, operation_of, predicate_form, predicate_of
from .lifecycle import Departure, Reason, merge
from .model import Evidence, Rule, SiteRules, Status, content_id
from .operations import (
    Anchored,
    AnyOrder,
    Declared,
    Ignore,
    IgnoreValue,
    Keep,
    Lower,
    Nested,
    Operation,
    Replace,
    Set,
    SetOfValues,
)
from .predicates import Absent, Literal, OfClass, OneOf, Predicate
from .redaction import redact

__all__ = [
    "Absent",
    "Anchored",
    "AnyOrder",
    "Declared",
    "Departure",
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
    "Reason",
    "Replace",
    "Rule",
    "RuleBook",
    "RuleFileError",
    "RuleWriteError",
    "Set",
    "SetOfValues",
    "SiteRules",
    "Status",
    "check",
    "content_id",
    "load_file",
    "merge",
    "operation_form",
    "operation_of",
    "path_of_site",
    "predicate_form",
    "predicate_of",
    "redact",
    "save_site",
    "update_site",
]
