"""Counts of witness groups: how many speak for a proposal, here and in the files of rules."""

from collections.abc import Mapping, Sequence

from ...rules import Evidence
from ..data.judgement import Deep, SiteUrls, book_of, judged
from ..proposals.blame import MAX_CLEAN, blamed
from ..proposals.combining import rules_of
from ..proposals.proposal import Proposal


def counted_with_files(filed: Mapping[Proposal, Evidence], sample: SiteUrls, deep: Deep) -> dict[Proposal, int]:
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


def pages_for(proposals: Sequence[Proposal], sample: SiteUrls, deep: Deep) -> dict[Proposal, int]:
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
