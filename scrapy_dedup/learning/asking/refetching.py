"""Choice of pages to fetch again: those that most decide which content of a site is transient.

"transient-content" (detailed description, FIG. 2) compares two versions of a page that it has. Here each of them costs
a request; but a few controls do for a site, if they are the right ones. They are chosen one after the other: first the
page that was fetched first, where nothing has moved on it yet, since whatever stands on all pages stands on it; then
where pages are equal if what was carried over to them is transient on them, too; else where most like pages differ, and
fewest controls say why. Where nothing suggests that a control would help, none is chosen.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING

from ...urls.acting import acts
from ...urls.templates import template_of
from ..opinions.belief import is_uncertain
from .controls import SeenPage, UnequalPair, settled_templates

if TYPE_CHECKING:
    from ...masks.model import Template
    from ..data.judgement import Judgement

MOST_REFETCHES_AT_ONCE = 4
"""Pages that are chosen at once: what each one shows changes what the next one should be."""
MOST_REFETCHES_OF_PAGE = 2
"""Times that a page is fetched again in one crawl at most."""


def refetches(pages: Sequence[SeenPage], undecided: Sequence[UnequalPair]) -> tuple[str, ...]:
    """Return the URLs of at most MOST_REFETCHES_AT_ONCE pages to fetch again, the one that decides most first.

    *undecided* are like pairs of *pages* that may be equal but for what is transient.
    """
    found: dict[str, None] = {}
    if undecided and (start := _start(pages)) is not None:
        found[start.url] = None
    for page in chain(_waiting(pages), _unproven(pages), _alike(pages, undecided)):
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
    """Return whether a page may be fetched again: one that this crawl has fetched, and not too often.

    None of its URLs was, where it is unproven, however many of them were fetched.
    """
    return page.late >= 1 and (page.late <= MOST_REFETCHES_OF_PAGE or page.unproven) and not acts(page.url)


def _start(pages: Iterable[SeenPage]) -> SeenPage | None:
    """Return the page that was fetched first in this crawl, unless it is a control already."""
    first = min(
        (page for page in pages if page.late), key=lambda page: (page.seen[-page.late][0], page.url), default=None
    )
    return first if first is not None and not first.is_control and _may_be_asked(first) else None


def _waiting(pages: Iterable[SeenPage]) -> Iterator[SeenPage]:
    """Yield a page of each template in which pages wait to be verified before they are merged, where most wait first."""
    groups: defaultdict[Hashable, list[SeenPage]] = defaultdict(list)
    for page in pages:
        groups[page.carried].append(page)
    waiting: defaultdict[Template, list[SeenPage]] = defaultdict(list)
    for group in groups.values():
        if len({page.verified for page in group}) > 1:
            for page in group:
                if page.waits and not page.unproven:
                    waiting[template_of(page.url)].append(page)
    for _, some in sorted(waiting.items(), key=lambda each: (-len(each[1]), repr(each[0]))):
        layouts = Counter(map(_layout, some))
        # One control speaks for all pages with its places: the most common ones.
        asked = [page for page in some if _may_be_asked(page)]
        if asked:
            yield min(asked, key=lambda page: (-layouts[_layout(page)], len(page.seen), page.url))


def _unproven(pages: Iterable[SeenPage]) -> Iterator[SeenPage]:
    """Yield an unproven page of each set of places, that of most such pages first: one control speaks for all of these."""
    layouts: defaultdict[frozenset[str], list[SeenPage]] = defaultdict(list)
    for page in pages:
        if page.unproven and _may_be_asked(page):
            layouts[_layout(page)].append(page)
    for _, some in sorted(layouts.items(), key=lambda each: (-len(each[1]), sorted(each[0]))):
        yield min(some, key=lambda page: page.url)


def _alike(pages: Sequence[SeenPage], undecided: Iterable[UnequalPair]) -> Iterator[SeenPage]:
    """Yield pages of undecided pairs, each of the template that has the most pairs then for the controls that it has."""
    settled, _ = settled_templates(pages)
    controls = Counter([template_of(page.url) for page in pages if page.is_control])
    pairs: Counter[Template] = Counter()
    members: defaultdict[Template, dict[str, SeenPage]] = defaultdict(dict)
    for pair in undecided:
        # Of a pair within one template the first page.
        for template, page in {template_of(page.url): page for page in (pair.other, pair.one)}.items():
            pairs[template] += 1
            if template not in settled and not page.is_control and _may_be_asked(page):
                members[template].setdefault(page.url, page)
    while members:
        template = min(members, key=lambda each: (-pairs[each] / (1 + controls[each]) ** 2, repr(each)))
        yield members[template].pop(next(iter(members[template])))
        controls[template] += 1
        if not members[template]:
            del members[template]


def _layout(page: SeenPage) -> frozenset[str]:
    """Return the places of a page's texts."""
    return frozenset([selector for selector, attribute, _ in page.version.blocks if not attribute])
