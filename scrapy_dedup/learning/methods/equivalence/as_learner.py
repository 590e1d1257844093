"""The document's method as one of the learners of the pipeline.

The same steps as :func:`.inference.inferred`, on key-value views of one site, with three remedies: rules
that are refuted are made less general (:mod:`.refinement`), URLs that are brought together by different
rules count as evidence, and what the rules drop is said once for all forms (:mod:`.pooling`). What
noise explains is no counterexample here; what is proposed passes the shared validation.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence

from ....urls import DeepSplit
from ...data.judgement import SiteUrls
from ...data.url_table import Table
from ...evidence.shares import worth_asking
from ...proposals.proposal import Proposal
from .class_rules import ClassRules, rules_of_classes
from .expression import Accepted, Expressed, expressed
from .refinement import refined
from .rewriting import RewriteRule
from .testing import Groups, Index, groups_of, joined
from .views import views_of

MAX_FORMS = 24
"""Forms per shape of left sides that are tested, those with the most classes: each costs a pass."""
MIN_GROUPS = 2
MIN_URLS = 30


def proposals(sample: SiteUrls, deep: Mapping[str, DeepSplit], plain: Table | None = None) -> list[Proposal]:
    """Return what the rewrite rules of the site say, in the common representation.

    None where there is nothing to learn. *plain* are the URLs encoded without deep tokens, made where it is
    not given. Linear in the URLs of the sample.
    """
    return expressed_rules(sample, deep, plain).proposals


def expressed_rules(sample: SiteUrls, deep: Mapping[str, DeepSplit], plain: Table | None = None) -> Expressed:
    """Return the proposals, and how many rules the common representation cannot say."""
    if len(set(sample.content)) == len(sample.content):
        return Expressed([], {})
    members, table = views_of(sample, deep, plain)
    index = Index(members, sample.content)
    families: defaultdict[tuple[str, ...], list[RewriteRule]] = defaultdict(list)
    for rules in _bounded(rules_of_classes(members, sample.content, fold_case=True)):
        for rule in refined(rules, index):
            families[rule.form.right_keys].append(rule)
    accepted = [one for family in families.values() for one in _accepted(family, index)]
    return expressed(accepted, table, deep)


def _bounded(every: Sequence[ClassRules]) -> list[ClassRules]:
    """Return the forms with the most classes, of each shape of left sides."""
    taken: Counter[tuple[str, ...]] = Counter()
    found = []
    for rules in sorted(every, key=lambda rules: (-rules.support, -len(rules.rows))):
        taken[rules.form.keys] += 1
        if taken[rules.form.keys] <= MAX_FORMS:
            found.append(rules)
    return found


def _accepted(family: Sequence[RewriteRule], index: Index) -> list[Accepted]:
    """Return the rules, all with right sides of one shape, that hold when all of them are applied."""
    rules = list(dict.fromkeys(family))
    taken = [groups_of(rule, index) for rule in rules]
    while rules:
        together = joined(rules, taken, index)
        counts = [_counted(own, together, index) for own in taken]
        wrong = [
            (bad / (good + bad), number)
            for number, (good, bad, _) in enumerate(counts)
            if not worth_asking(bad, good + bad)
        ]
        if not wrong:
            break
        share = max(wrong)[0]
        for _, number in sorted((one for one in wrong if one[0] == share), reverse=True):
            del rules[number], taken[number]
    found = []
    for rule, own, (good, _, urls) in zip(rules, taken, counts if rules else [], strict=True):
        if good >= MIN_GROUPS or (good and not rule.variables and urls >= MIN_URLS):
            confirmed = [row for right, members in own.items() if _is_clean(together[right], index) for row in members]
            found.append(Accepted(rule, confirmed, good))
    return found


def _is_clean(members: Sequence[int], index: Index) -> bool:
    return len(members) > 1 and len({index.content[row] for row in members}) == 1


def _counted(own: Groups, together: Groups, index: Index) -> tuple[int, int, int]:
    """Return the informative groups of one content that a rule has a part in, the others, and the URLs of the first."""
    good = bad = urls = 0
    for right in own:
        members = together[right]
        if len(members) > 1:
            if _is_clean(members, index):
                good, urls = good + 1, urls + len(members)
            else:
                bad += 1
    return good, bad, urls
