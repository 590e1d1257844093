"""Choice of pages to fetch again: those that most decide which content of a site is transient.

"transient-content" (detailed description, FIG. 2) compares two versions of a page that it has. Here each of them costs
a request; but a few controls do for a site, if they are the right ones. They are chosen one after the other: first the
page that was fetched first, where nothing has moved on it yet, since whatever stands on all pages stands on it; then
where rules have merged pages that differ in what no control has shown not to last; else where most like pages differ, and
fewest controls say why. Where nothing suggests that a control would help, none is chosen.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING

from ...urls.acting import acts
from ..opinions.belief import is_uncertain
from .controls import SeenPage, UnequalPair, settled_kinds

if TYPE_CHECKING:
    from ..data.judgement import Judgement

MOST_REFETCHES_AT_ONCE = 4
"""Pages that are chosen at once: what each one shows changes what the next one should be."""
MOST_REFETCHES_OF_PAGE = 2
"""Times that a page is fetched again in one crawl at most."""


def refetches(pages: Sequence[SeenPage], undecided: Sequence[UnequalPair]) -> tuple[str, ...]:
    """Return the URLs of at most MOST_REFETCHES_AT_ONCE pages to fetch again, the one that decides most first.

    *undecided* are like pairs of *pages* that may be equal but for what does not last.
    """
    found: dict[str, None] = {}
    if undecided and (start := _start(pages)) is not None:
        found[start.url] = None
    for page in chain(_merged(pages), _alike(pages, undecided)):
        if len(found) == MOST_REFETCHES_AT_ONCE:
            break
        found.setdefault(page.url)
    return tuple(found)


def odd_responses(judgement: "Judgement", answered: AbstractSet[str]) -> tuple[str, ...]:
    """Return the URLs whose responses decide most whether URLs that rules make one are one page.

    Each is the only one of the site with what it shows, beside others of its group, and may be a page as well as an odd
    response. Those that were *answered* twice already have said which.
    """
    sample, found = judgement.sample, []
    for members, bad in zip(judgement.merged, judgement.verdict().bad.tolist(), strict=True):
        shown = Counter(sample.content[i] for i in members)
        if len(shown) > 1 and is_uncertain(bad):
            odd = [i for i in members if sample.content[i] in sample.lone and sample.urls[i] not in answered]
            most = max(shown.values())
            asked = [i for i in odd if most == 1 or shown[sample.content[i]] < most]
            found += [
                (abs(bad - 0.5), sample.urls[i]) for i in asked[:MOST_REFETCHES_OF_PAGE] if not acts(sample.urls[i])
            ]
    return tuple(url for _, url in sorted(found)[:MOST_REFETCHES_AT_ONCE])


def _may_be_asked(page: SeenPage) -> bool:
    """Return whether a page may be fetched again: one that this crawl has fetched, and not too often."""
    return 1 <= page.late and (page.merged or page.late <= MOST_REFETCHES_OF_PAGE) and not acts(page.url)


def _start(pages: Iterable[SeenPage]) -> SeenPage | None:
    """Return the page that was fetched first in this crawl, unless it is a control already."""
    first = min(
        (page for page in pages if page.late), key=lambda page: (page.seen[-page.late][0], page.url), default=None
    )
    return first if first is not None and not first.is_control and _may_be_asked(first) else None


def _merged(pages: Sequence[SeenPage]) -> Iterator[SeenPage]:
    """Yield a merged page of each kind of which no control says that what it was merged without does not last, most such pages first."""
    controlled = {page.kind for page in pages if page.is_control}
    kinds: defaultdict[str, list[SeenPage]] = defaultdict(list)
    for page in pages:
        if page.merged and page.kind not in controlled and _may_be_asked(page):
            kinds[page.kind].append(page)
    for _, some in sorted(kinds.items(), key=lambda each: (-len(each[1]), each[0])):
        yield min(some, key=lambda page: page.url)


def _alike(pages: Sequence[SeenPage], undecided: Iterable[UnequalPair]) -> Iterator[SeenPage]:
    """Yield pages of undecided pairs, each of the kind that has the most pairs then for the controls that it has."""
    settled, _ = settled_kinds(pages)
    controls = Counter([page.kind for page in pages if page.is_control])
    pairs: Counter[str] = Counter()
    members: defaultdict[str, dict[str, SeenPage]] = defaultdict(dict)
    for pair in undecided:
        # Of a pair within one kind the first page.
        for kind, page in {page.kind: page for page in (pair.other, pair.one)}.items():
            pairs[kind] += 1
            if kind not in settled and not page.is_control and _may_be_asked(page):
                members[kind].setdefault(page.url, page)
    while members:
        kind = min(members, key=lambda each: (-pairs[each] / (1 + controls[each]) ** 2, each))
        yield members[kind].pop(next(iter(members[kind])))
        controls[kind] += 1
        if not members[kind]:
            del members[kind]
