import argparse
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from scrapy.exceptions import UsageError

from .base import DONE, NOTHING, DedupCommand, Mistake, Nothing

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings

#: Requests that the probe of a parameter on one page takes.
LEAST_PROBE = 3


class LearnRules(DedupCommand):
    """``scrapy learn-rules``: learn from what crawls have recorded, show it, and write the rule files.

    Exit codes: 0 done; 1 nothing to learn from, or (``--check``) a faulty rule file; 2 a mistake in what was asked.
    """

    name = "learn-rules"

    def syntax(self) -> str:
        return "[options] [SITE...]"

    def short_desc(self) -> str:
        return "Learn deduplication rules from what crawls have recorded"

    def long_desc(self) -> str:
        return (
            "Learn, for every recorded site or for those named, which URLs lead to the same page, and write the rules "
            "to DEDUP_DIR, one file per site. Hand edits in these files are kept. "
            "Exit codes: 0 done; 1 nothing to learn from, or a faulty rule file (--check); 2 a mistake in what was asked."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--dry-run", action="store_true", help="show what would be learned and write nothing")
        parser.add_argument(
            "--from",
            dest="file",
            metavar="FILE",
            help="learn from FILE instead of the store: JSON lines with url and fingerprint, plain or .gz",
        )
        parser.add_argument(
            "--import",
            dest="imported",
            metavar="FILE",
            help="add the rules of another tool's FILE as manual rules, for SITE where the file names none",
        )
        parser.add_argument("--format", dest="form", help="of --import: url-discarder, no-vary-search or clean-param")
        parser.add_argument(
            "--forget",
            metavar="SITE",
            action="append",
            default=[],
            help="remove all that was recorded of SITE (may be repeated) and do nothing else",
        )
        parser.add_argument(
            "--check", action="store_true", help="check the rule files, for instance in a CI, and do nothing else"
        )

        parser.add_argument(
            "--prune",
            action="store_true",
            help="also remove the learned rules that what is recorded does not support any more",
        )
        parser.add_argument(
            "--method",
            metavar="NAME",
            help="what decides, instead of DEDUP_METHOD: judge, or one of the published methods alone, as its document "
            "decides: entropy, equivalence, pattern-tree; list shows them with their options",
        )
        parser.add_argument(
            "--method-option",
            dest="method_options",
            metavar="KEY=VALUE",
            action="append",
            default=[],
            help="an option of that method (may be repeated), such as --method equivalence --method-option min_urls=20",
        )
        parser.add_argument(
            "--probe",
            metavar="N",
            type=int,
            help="first ask the sites about the parameters that are in doubt, by at most N requests to each",
        )

    def process_options(self, args: list[str], opts: argparse.Namespace) -> None:
        # Without probes there is nothing to crawl, and no reactor to install.
        self.requires_crawler_process = opts.probe is not None
        super().process_options(args, opts)

    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        exclusive = (
            *(("--check", opts.check), ("--forget", opts.forget)),
            *(("--from", opts.file), ("--import", opts.imported), ("--probe", opts.probe is not None)),
        )
        asked = [name for name, given in exclusive if given]
        if len(asked) > 1:
            raise UsageError(f"{asked[0]} and {asked[1]} do not go together")
        if opts.method == "list":
            from .methods import print_methods

            print_methods()
            return DONE
        settings = with_method(self.dedup_settings(opts.spider), opts.method, opts.method_options)
        if opts.imported:
            from .importing import import_rules

            return import_rules(settings, args, opts.imported, opts.form, dry_run=opts.dry_run)
        if opts.check:
            return check(settings)
        if opts.forget:
            if args:
                raise UsageError("--forget and SITE do not go together; repeat --forget for more sites")
            return forget(settings, opts.forget)
        if opts.probe is None:
            return learn(settings, args, opts.file, dry_run=opts.dry_run, prune=opts.prune)
        if opts.prune:
            raise UsageError("--prune and --probe do not go together")
        if opts.probe < LEAST_PROBE or opts.dry_run:
            raise UsageError(f"--probe needs at least {LEAST_PROBE} requests, for one page, and --dry-run makes none")
        return self._probe_and_learn(settings, args, opts)

    def _probe_and_learn(self, settings: "DedupSettings", args: list[str], opts: argparse.Namespace) -> int:
        from ..crawl.own_requests.idle_work import note_probes
        from .probing import in_doubt, print_probes, probe

        spider = self._spider_class(opts.spider) if opts.spider else None
        found = in_doubt(settings, args)
        tried = probe(self.crawler_process, spider, found, opts.probe) if found else []
        print_probes(tried)
        exitcode = learn(settings, args, None, dry_run=False)
        if tried:
            note_probes(tried, settings, settings.learned_directory)
        return exitcode


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
        policy = policy_of(settings.method, options)
    except WrongOption as wrong:
        raise Mistake(f"{wrong} (--method list shows all)") from None
    if policy is not None and settings.learners is not None:
        raise Mistake(f"DEDUP_LEARNERS is set, and the method {policy.method} has no learners; leave one of them out")
    return settings


def learn(settings: "DedupSettings", sites: list[str], file: str | None, *, dry_run: bool, prune: bool = False) -> int:
    """Learn, show, and write unless *dry_run*; return the exit code.

    With *prune* learned rules of before stay only where what is recorded supports them.
    """
    from ..learning.alternation import LearnedRulesAndMasks, learn_rules_and_masks
    from ..learning.learn import learn as learn_from
    from ..learning.learn import pruned, without_learned
    from ..learning.learners.registry import chosen_learners
    from ..learning.learning_options import LearningOptions
    from ..learning.methods.policy import policy_of
    from ..learning.saving import save
    from ..masks.mask_files import load_masks
    from .observation_sources import evidence_in_store, observations_in_file
    from .progress import progress
    from .summary import print_summary

    known = settings.load_rules()
    with progress() as report:
        options = LearningOptions(
            max_loss=settings.max_loss,
            groups=settings.site_groups,
            learners=chosen_learners(settings.learners),
            names=settings.names,
            policy=policy_of(settings.method, settings.method_options),
            diagnose=True,
            progress=report,
        )
        staying = without_learned(known) if prune else known
        if file:
            both = LearnedRulesAndMasks(learn_from(observations_in_file(settings, sites, file), options, known=staying))
        else:
            with evidence_in_store(settings, sites) as evidence:
                before = load_masks(settings.rule_directories)
                both = learn_rules_and_masks(
                    evidence, options, known=staying, masks=before, thresholds=settings.seed_thresholds
                )
    if prune:
        both = replace(both, learned=pruned(both.learned, known))
    learned = both.learned
    if not learned.reports:
        raise Nothing("nothing to learn: no URL of what was observed belongs to a site")
    print_summary(learned, both.masks)
    if dry_run:
        print("Nothing was written (--dry-run).")
        return DONE
    written = save(both, settings.learned_directory, settings.rules)
    for each in learned.departures:
        if each.is_loss:
            print(f"WARNING: {each}")
    print(
        f"The rules are in {settings.learned_directory}."
        if both.masks or any(site.rules for site in written)
        else "There are no rules to write."
    )
    return DONE


def forget(settings: "DedupSettings", names: list[str]) -> int:
    """Remove what the store holds of the sites; their rule files stay."""
    from .observation_sources import known_site, open_store

    with open_store(settings, readonly=False) as store:
        known = {count.site for count in store.sites()}
        for site in [known_site(name, known, settings) for name in names]:
            print(f"{site}: {store.forget(site)} recorded responses removed. Its rules and its mask are kept.")
    return DONE


def check(settings: "DedupSettings") -> int:
    """Read every rule file and mask file and print what is wrong with it; 1 if something is."""
    from ..learning.phrases import counted
    from ..masks.mask_files import check_masks
    from ..rules.files import check as faults_of

    faults = [
        fault for directory in settings.rule_directories for fault in (*faults_of(directory), *check_masks(directory))
    ]
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        return NOTHING
    book = settings.load_rules()
    print(f"{counted(len(book), 'rule')} for {counted(len(book.sites), 'site')}: all files are right.")
    return DONE
