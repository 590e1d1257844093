"""The rules of a crawl or a command, from the files that its settings name."""

from typing import TYPE_CHECKING

from ...learning.lifetime.running_counts import checks_in, with_checks
from ...rules.book import RuleBook

if TYPE_CHECKING:
    from .dedup_settings import DedupSettings

__all__ = ["rules_of"]


def rules_of(settings: "DedupSettings") -> RuleBook:
    """Return the rules that apply, with their running counts.

    Raises RuleFileError for a faulty file, OSError for one that cannot be read.
    """
    book = RuleBook.load(*settings.rule_directories, groups=settings.site_groups)
    return with_checks(book, checks_in(settings.store, settings.scope)) if len(book) else book
