"""Learning as ``scrapy learn-rules`` does it: learn, show, and write."""

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from .problems import Mistake, Nothing

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..learning.alternation import LearnedRulesAndMasks
    from ..rules.book import RuleBook
    from .observation_sources import Sources


def with_method(settings: "DedupSettings", method: str | None, given: Sequence[str]) -> "DedupSettings":
    """Return the settings with the method and the options that the command line names. Raises UsageError, Mistake."""
    if method is None and not given:
        return settings
    from ..learning.methods.options import WrongOption
    from ..learning.methods.policy import policy_of

    options: dict[str, Any] = {}
    for text in given:
        name, mark, value = text.partition("=")
        if not mark:
            raise UsageError(f"--method-option {text}: write KEY=VALUE")
        options[name.strip()] = value.strip()
    if method in (None, settings.method):
        options = {**settings.method_options, **options}
    settings = replace(settings, method=method or settings.method, method_options=options)
    try:
        policy_of(settings.method, options)
    except WrongOption as wrong:
        raise Mistake(f"{wrong} (--method list shows all)") from None
    return settings


def learn(
    settings: "DedupSettings",
    sites: list[str],
    sources: "Sources | None" = None,
    *,
    dry_run: bool = False,
    diff: bool = False,
    json: bool = False,
) -> "RuleBook":
    """Learn, show, write unless *dry_run*, and return the rules. Raises Nothing, Mistake.

    *diff* shows what changes alone.
    """
    from ..learning.saving import save
    from .showing.summary import print_changes, print_json_summary, print_summary

    known = settings.load_rules()
    both = _learned(settings, sites, sources, known)
    if not both.learned.reports:
        raise Nothing("nothing to learn: no URL of what was observed belongs to a site")
    if json:
        print_json_summary(both.learned, known)
    elif diff:
        print_changes(both.learned, known)
    else:
        print_summary(both.learned, known, both.masks)
    if dry_run:
        if not json:
            print("No file was written (--dry-run).")
        return both.learned.book
    written = save(both, settings.learned_directory, settings.rules)
    if not json:
        for each in both.learned.departures:
            if each.is_loss:
                print(f"WARNING: {each}")
        print(
            f"The rules are in {settings.learned_directory}."
            if both.masks or any(site.rules for site in written)
            else "There are no rules to write."
        )
    return both.learned.book


def _learned(
    settings: "DedupSettings", sites: list[str], sources: "Sources | None", known: "RuleBook"
) -> "LearnedRulesAndMasks":
    """Return what the store, or what is in *sources*, supports. Raises Nothing, Mistake."""
    from ..learning.alternation import learn_rules_and_masks
    from ..learning.learning_options import LearningOptions
    from ..learning.methods.policy import policy_of
    from ..masks.files import load_masks
    from .console import progress
    from .observation_sources import evidence_in_sources, evidence_in_store

    with (
        evidence_in_sources(settings, sites, sources) if sources else evidence_in_store(settings, sites) as evidence,
        progress(f"learning from {sources or 'the store'}") as report,
    ):
        return learn_rules_and_masks(
            evidence,
            LearningOptions(
                max_loss=settings.max_loss,
                site_groups=settings.site_groups,
                names=settings.names,
                policy=policy_of(settings.method, settings.method_options),
                diagnose=True,
                progress=report,
            ),
            known=known,
            masks=load_masks(settings.rule_directories),
            published=settings.published_masks,
        )
