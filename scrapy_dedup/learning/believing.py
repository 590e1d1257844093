"""How much evidence a rule needs: more where something speaks against it, less where the site says so itself.

Source: url-parameter-relevance, the passages on combining sources; the probability is that of :mod:`.belief`. A rule
acts once the parameter is as likely to be irrelevant as one of which nobody says anything and ten groups of pages
speak. So a list of names, the entropies or canonical links that call it relevant ask for more pages; No-Vary-Search
and Clean-param for fewer, but never for none. What lacks them is a candidate, which is shown and does not act. No
prior can let a rule pass that a counterexample refutes: that is asked apart, and before.
"""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, exp, log

import numpy as np

from ..rules import Evidence, Ignore, IgnoreValue, Keep
from .belief import Opinion, Source, belief, log_odds
from .blame import blamed
from .combining import rules_of
from .declared import Declarations, linked_opinions, stated_opinions
from .emission import Proposal
from .entropy import KNOWN_NAMES, Information, ParameterRule, Priors, Relevance, Thresholds, conditional_entropy
from .evidence import CONFIDENCE, MIN_GROUPS, MIN_STATED, upper_bound
from .judgement import Deep, Sample, book_of, judged
from .scope import matching
from .table import Rows, Table
from .validation import MAX_CLEAN

MOST_GROUPS = 300
"""Groups of pages that are enough, whoever objects: at most one in a hundred was missed."""
MAX_URLS = 5_000
"""URLs of which the entropies of a parameter are computed, whole duplicate clusters of them."""
UNIQUE = 0.9
"""Distinct values per URL from which on a value that tells the page is no finding: so would a random number."""
SOME = 100
"""URLs that a header or a line of a robots.txt is asked about."""
STATED = frozenset((Source.NO_VARY_SEARCH, Source.CLEAN_PARAM))
SETTLED = log_odds(1 - upper_bound(0, MIN_GROUPS))
"""The log-odds that MIN_GROUPS groups give."""


def groups_needed(prior: float, *, stated: bool = False) -> int:
    """Return how many groups of pages a rule needs, where *prior* are the log-odds that its parameter is relevant.

    *stated* tells whether the site itself calls it irrelevant.

    >>> groups_needed(0.0), groups_needed(log_odds(0.8)), groups_needed(log_odds(0.9))
    (10, 36, 79)
    >>> groups_needed(-log_odds(0.95), stated=True), groups_needed(-log_odds(0.95))
    (3, 10)
    """
    accuracy = 1 / (1 + exp(-SETTLED - prior))
    groups = ceil(round(log(1 - CONFIDENCE) / log(accuracy), 6))
    return min(MOST_GROUPS, max(MIN_STATED if stated else MIN_GROUPS, groups))


def needed(
    proposals: Iterable[Proposal],
    table: Table,
    declarations: Declarations,
    groups: Mapping[str, Sequence[str]] | None = None,
    priors: Priors | None = None,
) -> dict[Proposal, int]:
    """Return how many groups of pages each of some proposals needs.

    *priors* are what names mean on other sites. That ``page`` is relevant there says nothing of ``page=1``, so that they
    are asked where a parameter is dropped whatever its value.

    O(parameters) beside a look at some URLs for each proposal that drops one.
    """
    found = {}
    linked = linked_opinions(declarations, groups)
    for proposal in proposals:
        found[proposal] = MIN_GROUPS
        if _is_asked(proposal):
            rows = np.flatnonzero(matching(table, proposal.match))
            opinions = _declared(proposal.key, table, rows, declarations, linked)
            believed = belief(
                proposal.key,
                entropy=_entropy(proposal.key, table, rows),
                names=KNOWN_NAMES,
                priors=None if _is_of_values(proposal) else priors,
                declared={proposal.key: opinions},
            )
            stated = any(each.source in STATED and each.relevance is Relevance.IGNORE for each in opinions)
            found[proposal] = groups_needed(believed.prior, stated=stated)
    return found


def contradicted(
    proposals: Sequence[Proposal],
    sample: Sample,
    table: Table,
    deep: Deep,
    declarations: Declarations,
    *,
    counted: Mapping[Proposal, int] | None = None,
) -> bool:
    """Tell whether the site itself calls content what a rule drops, and too few pages outweigh that.

    *proposals* are what the rule says, *counted* the witness groups that are known of. Lists of names and entropies are not asked: they are no news to a rule that
    acts, and were outweighed by pages of which it lets no more be seen.
    """
    if not declarations:
        return False
    linked = linked_opinions(declarations, sample.groups)
    least = {}
    for proposal in filter(_is_asked, proposals):
        rows = np.flatnonzero(matching(table, proposal.match))
        opinions = _declared(proposal.key, table, rows, declarations, linked)
        least[proposal] = groups_needed(belief(proposal.key, declared={proposal.key: opinions}).prior)
    if all(groups <= MIN_GROUPS for groups in least.values()):
        return False
    pages = pages_for(proposals, sample, deep)
    known = counted or {}
    return any(
        max(pages[proposal], known.get(proposal, 0)) < groups
        for proposal, groups in least.items()
        if groups > MIN_GROUPS
    )


def counted_with_files(filed: Mapping[Proposal, Evidence], sample: Sample, deep: Deep) -> dict[Proposal, int]:
    """Return how many witness groups speak for what rules of before say: those in their files, and those seen since.

    *filed* is the evidence in the files. What was seen up to the time that it names stands there already.
    """
    found = {proposal: evidence.groups for proposal, evidence in filed.items()}
    for until in {evidence.until for evidence in filed.values() if evidence.until and sample.times is not None}:
        later = [row for row, at in enumerate(sample.times or ()) if at > until]
        if later:
            pages = pages_for(list(filed), sample.part(later), deep)
            for proposal, evidence in filed.items():
                if evidence.until == until:
                    found[proposal] += pages[proposal]
    return found


def pages_for(proposals: Sequence[Proposal], sample: Sample, deep: Deep) -> dict[Proposal, int]:
    """Return how many pages speak for each proposal: those of the groups that it brings together.

    Groups of one and the same page are one witness: an error page may answer anywhere.
    """
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    judgement = judged(book, sample)
    clean = judgement.clean
    step = len(clean) // MAX_CLEAN + 1
    asked = clean[::step]
    speaking = blamed(proposals, book, judgement, asked)
    return {
        proposal: step * len({sample.content[asked[number][0]] for number in speaking.get(proposal, ())})
        for proposal in proposals
    }


def with_witnesses(
    proposals: Sequence[Proposal], sample: Sample, deep: Deep, counted: Mapping[Proposal, int] | None = None
) -> list[Proposal]:
    """Return the proposals less those for which no witness group speaks, here or among those that are *counted*.

    What only holds together has its witnesses together. What only keeps is no proposal to merge, and is not asked.
    """
    if not proposals:
        return []
    book = book_of(rules_of(sample.site, proposals), sample, deep)
    judgement = judged(book, sample)
    clean = judgement.clean
    some = blamed(proposals, book, judgement, clean[:: len(clean) // MAX_CLEAN + 1])
    spoken = some.keys() | {one for one, groups in (counted or {}).items() if groups}
    if any(one not in spoken for one in proposals if not isinstance(one.operation, Keep)):
        spoken |= blamed(proposals, book, judgement, clean).keys()  # some of the groups may be too few
    joint = {one.match for one in spoken if one.joint}
    return [
        one
        for one in proposals
        if one in spoken or isinstance(one.operation, Keep) or (one.joint and one.match in joint)
    ]


def still_supported(
    proposals: Sequence[Proposal], before: Sequence[Proposal], sample: Sample, deep: Deep
) -> list[Proposal]:
    """Return those of *proposals* that have as many pages as any rule needs, or had no more of them *before*.

    What spoke for a proposal may have done so only together with another one, which is gone.
    """
    if len(proposals) == len(before):
        return list(proposals)
    had, have = pages_for(before, sample, deep), pages_for(proposals, sample, deep)
    return [proposal for proposal in proposals if have[proposal] >= min(had[proposal], MIN_GROUPS)]


def doubtful(
    proposals: Sequence[Proposal],
    sample: Sample,
    table: Table,
    deep: Deep,
    declarations: Declarations,
    *,
    priors: Priors | None = None,
    counted: Mapping[Proposal, int] | None = None,
) -> list[Proposal]:
    """Return the proposals against which more speaks than the pages for them outweigh.

    *counted* are the witness groups that are known of some of them. What is all one page (:mod:`.constant_pages`, :mod:`.token_pages`) rests on its URLs, and is not asked.
    """
    asked = {
        proposal: least
        for proposal, least in needed(proposals, table, declarations, sample.groups, priors).items()
        if least > MIN_GROUPS
    }
    if not asked:
        return []
    pages = pages_for(proposals, sample, deep)
    known = counted or {}
    return [proposal for proposal, least in asked.items() if 1 < max(pages[proposal], known.get(proposal, 0)) < least]


def _is_asked(proposal: Proposal) -> bool:
    """Tell whether a proposal drops a parameter, which is what lists and declarations speak of."""
    return proposal.key.startswith("q.") and isinstance(proposal.operation, Ignore | IgnoreValue)


def _is_of_values(proposal: Proposal) -> bool:
    """Tell whether a proposal drops single values of a parameter."""
    return isinstance(getattr(proposal.operation, "only", None), frozenset)


def _declared(
    key: str, table: Table, rows: Rows, declarations: Declarations, linked: Mapping[str, tuple[Opinion, ...]]
) -> tuple[Opinion, ...]:
    """Return what the site declares of a parameter of some URLs."""
    some = [table.urls[row] for row in rows[:: len(rows) // SOME + 1]]
    return (*linked.get(key, ()), *stated_opinions(declarations, key, some))


def _entropy(key: str, table: Table, rows: Rows) -> Mapping[str, ParameterRule]:
    """Return the entropies' rule of a parameter on some URLs, empty where they say nothing."""
    codes = table.columns.get(key)
    if codes is None or not len(rows):
        return {}
    some = rows[np.argsort(table.content[rows], kind="stable")[:MAX_URLS]]
    values, contents = codes[some].tolist(), table.content[some].tolist()
    if len(set(values)) >= UNIQUE * len(values):
        return {}
    said = Information(conditional_entropy(contents, values), conditional_entropy(values, contents))
    return {key: ParameterRule(key, Thresholds().relevance(said), said)}
