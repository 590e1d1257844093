"""What a rule is, how it acts, and its files."""

from ..files.errors import FormError, RuleFileError, RuleWriteError
from .book import RuleBook
from .evidence import Evidence
from .explanation import Explanation
from .files import check, load_file, path_of_site, save_site, update_site
from .lifecycle import Departure, Reason, merge
from .model import Rule, SiteRules, Status, content_id
from .operation_forms import operation_form, operation_of
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
from .predicate_forms import predicate_form, predicate_of
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
