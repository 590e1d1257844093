"""Directories that are one: a symbolic link, a mirror, ``/docs/current/`` that is ``/docs/16/``.

Such directories are a few among many, often with a few pages each, so that two values of the segment are not compared
one with another (:mod:`.recoding`), or show too few pages to be believed by themselves. That some pages of two directories
are equal says little: sisters share a licence and a change log, and differ in the next file. Two that hold the same
names, and under each name the same page (:mod:`.alike_directories`), may be one. From how many pages on they are is asked of the
site: where one page is left out, directories with the same names that are equal in all others must be equal in it, too. The least
number for which that holds on enough pages, with no more exceptions than noise explains, is what directories are
taken for one by.

They are looked for twice. Before anything is known of a site, its URLs as they came tell which files that all directories have
are no soft errors. Once rules were found, URLs as these show them are compared, so that a session id hides no directory; and
these rules need to know what is no soft error.

What directories that show little by themselves are one in is what was seen: the rule asks for the names that each of
them has. What is in others beside them may be in these, too, and another page there. Files with other extensions, and
with parameters that none was seen with, are kept.
"""

from collections import defaultdict
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import replace

import numpy as np

from ...rules import Absent, Literal, OneOf, Predicate, Set
from ...urls import values_of
from ..config import current
from ..data.frame import Frame
from ..data.judgement import Deep, Judgement
from ..data.url_table import Table, encode
from ..evidence.arrays import Flags
from ..evidence.shares import worth_asking
from ..proposals.matching import concerned, matching
from ..proposals.proposal import Proposal
from .alike_directories import MIN_SHARED, TRAIL, AlikeDirectories, Missed, alike_directories

MAX_NAMES = 100
"""Names of pages that a rule asks for one by one."""
MAX_DIRECTORIES = 1_000
"""Directories that one rule shows as others."""
MAX_RULES = 20
"""Rules at most, those that save most first."""
MAX_ABSENT = 24
"""Parameters that a rule may ask not to be there."""


def linked_directories(judgement: Judgement, table: Table, deep: Deep) -> list[Proposal]:
    """Return proposals that show directories as those that they are the same as.

    *judgement* is that of the rules that were found before, on the URLs of *table*.
    """
    sample = judgement.sample
    if not _is_worthwhile(len(judgement.by_key), len(set(sample.content))):
        return []
    # Keys with several pages are noise, or wrong: they say nothing.
    pages = {key: {sample.content[i] for i in members} for key, members in judgement.by_key.items()}
    urls = [key for key, contents in pages.items() if len(contents) == 1]
    keys = encode(urls, (values_of(url, groups=sample.site_groups) for url in urls), [min(pages[url]) for url in urls])
    return [one for one in _proposals(keys.with_deep(deep) if deep else keys) if _says_something(one, table)]


def in_linked_directories(table: Table) -> Flags:
    """Return which URLs of *table* lie in directories that are one, where nothing is known of the site but these URLs."""
    inside = np.zeros(len(table), dtype=np.bool_)
    if not _is_worthwhile(len(table), len(np.unique(table.content))):
        return inside
    for proposal in _proposals(table):
        assert isinstance(proposal.operation, Set)
        shown = dict(proposal.operation.values)
        names = [table.numbers[name] for name in {*shown, *shown.values()} if name is not None]
        inside |= matching(table, proposal.match) & np.isin(table.columns[proposal.key], names)
    return inside


def _is_worthwhile(urls: int, pages: int) -> bool:
    """Return whether there are so many more URLs than pages that a proposal may come of it."""
    return urls - pages >= 2 * current().proposed_groups


def _proposals(table: Table) -> list[Proposal]:
    """Return proposals that show directories as others, of the URLs of *table*, each of one page."""
    frame = Frame(table, np.arange(len(table)))
    found, missed = alike_directories(frame)
    shared = _shared_by_one(found, missed)
    if shared is None:
        return []
    together: defaultdict[tuple[object, ...], list[AlikeDirectories]] = defaultdict(list)
    for each in found:
        if len(each.pages) > shared and (each.is_large or 0 < len(each.names) <= MAX_NAMES):
            asked = None if each.is_large else each.names
            together[each.key, each.parents, each.trail, asked].append(each)
    ranked = sorted(map(_proposal, together.values()), key=lambda item: (-item[0], repr(item[1])))
    some = (_without_parameters(proposal, frame) for _, proposal in ranked[:MAX_RULES])
    return [one for one in some if one is not None]


def _without_parameters(proposal: Proposal, frame: Frame) -> Proposal | None:
    """Return a proposal that asks for no parameter with which other URLs of the kind were seen, and these never."""
    kind = matching(frame.table, proposal.match)
    own = kind & concerned(frame.table, proposal.key, proposal.operation)
    keys = [key for key in frame.columns if key.startswith(("q.", "m.", "s."))]
    missing = sorted(key for key in keys if frame.columns[key][kind].any() and not frame.columns[key][own].any())
    if len(missing) > MAX_ABSENT:
        return None
    return replace(proposal, match=(*proposal.match, *((key, Absent()) for key in missing)))


def _says_something(proposal: Proposal, table: Table) -> bool:
    """Return whether a proposal changes URLs as they came: where segments are cut, keys have other paths."""
    changed = matching(table, proposal.match) & concerned(table, proposal.key, proposal.operation)
    return int(np.count_nonzero(changed)) >= current().proposed_groups


def _shared_by_one(found: Sequence[AlikeDirectories], missed: Sequence[Missed]) -> int | None:
    """Return how many equal pages tell that the next one is equal, too; None where no number does on this site."""
    for shared in sorted({MIN_SHARED, *(miss.shared + 1 for miss in missed if miss.shared >= MIN_SHARED)}):
        pages = len(frozenset[int]().union(*(each.pages for each in found if len(each.pages) > shared)))
        if pages < 2 * current().proposed_groups:
            return None
        lost = sum(miss.lost for miss in missed if miss.shared >= shared)
        if worth_asking(lost, pages + lost):
            return shared
    return None


def _proposal(alike: Sequence[AlikeDirectories]) -> tuple[int, Proposal]:
    """Return the number of URLs saved by directories under the same parents, with their proposals.

    Those that are not large have the same names in them, which are asked for.
    """
    first = alike[0]
    shown: dict[str | None, str | None] = {}
    kept = []
    for each in sorted(alike, key=lambda each: (-len(each.others) * len(each.pages), each.others)):
        if len(shown) + len(each.others) <= MAX_DIRECTORIES:
            shown.update(dict.fromkeys(each.others, each.target))
            kept.append(each)
    match: list[tuple[str, Predicate]] = [(key, Literal(value)) for key, value in first.parents]
    match.append(("path.len", _one_of({length for each in kept for length in each.lengths})))
    match.append((TRAIL, Literal("/") if first.trail else Absent()))
    match.append(("ext", _one_of({extension for each in kept for extension in each.extensions})))
    if not first.is_large:
        match.append((f"path.{len(first.parents) + 1}", _one_of({name for name, _ in first.names})))
    return sum(len(each.others) * len(each.pages) for each in kept), Proposal(tuple(match), first.key, Set(shown))


def _one_of(values: AbstractSet[str | None]) -> Predicate:
    """Return what asks for one of some values; None is that there is none."""
    texts = frozenset(value for value in values if value is not None)
    if not texts:
        return Absent()
    return Literal(min(texts), None in values) if len(texts) == 1 else OneOf(texts, None in values)
