"""The document's own decision for one site: what two entropies against thresholds say of each parameter."""

from collections import Counter

from ....rules import RuleBook
from ....rules.model import operation_problem
from ...data.clusters import NO_EVIDENCE
from ...data.judgement import SiteUrls
from ...proposals.combining import rules_of
from ..method_decision import Decision, Formation
from ..options import EntropyOptions
from ..written import flags
from .cluster_merging import Conflict
from .columns import HOST, PATH, QUERY, FingerprintedUrl
from .host import EntropyChoices, host_rules, proposals_of
from .name_lists import NameList
from .relevance import RelevanceThresholds
from .scopes import Scope

_PARTS = {"query": QUERY, "path": PATH, "host": HOST}


def in_own_terms(options: EntropyOptions) -> EntropyChoices:
    """Return the options in the document's own terms."""
    return EntropyChoices(
        scope=Scope(options.scope),
        thresholds=RelevanceThresholds(
            options.fingerprint_given_value, options.value_given_fingerprint, options.case, options.relative
        ),
        minimum=options.minimum,
        conflict=Conflict(options.conflict),
        ratio=options.ratio,
        largest_tuple=options.largest_tuple,
        kinds=tuple(kind for part in options.parts for kind in _PARTS[part]),
        manual=NameList(options.relevant, options.irrelevant) if options.relevant or options.irrelevant else None,
        prefixes=options.prefixes,
    )


def decide(sample: SiteUrls, options: EntropyOptions) -> Decision:
    """Return what the document's method decides of a site; all rules that match a URL act, those of its path first."""
    rows = [number for number, content in enumerate(sample.content) if content != NO_EVIDENCE]
    pages = [FingerprintedUrl(sample.urls[number], sample.content[number]) for number in rows]
    found = proposals_of(host_rules(pages, in_own_terms(options), groups=sample.site_groups))
    # No rule speaks of one repeat of a parameter alone.
    sayable = [one for one in found if operation_problem(one.key, one.operation) is None]
    rules = rules_of(sample.site, sayable)
    book = RuleBook(rules, groups=sample.site_groups)
    if sample.others is not None:
        book = book.beside(sample.others)
    left_out = Counter({"one repeat of a parameter": len(found) - len(sayable)})
    everywhere = flags(range(len(sample.urls)), len(sample.urls))
    return Decision(
        canonical=book.canonical_key,
        formations=[Formation(one.match, {one.key: one.operation}, everywhere) for one in sayable],
        left_out=left_out,
        exclusive=False,
        deployed=len(rules),
    )
