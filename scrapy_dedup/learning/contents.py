"""The content of a response: what tells its page from the other pages of its site, or why nothing does.

A page is what a spider can read of it, less what does not last (the site's mask). That are two layers: what is seen, and what
is not: the data in scripts, the addresses of pictures and downloads, the values of forms. Which of them tells pages apart is
measured at each *template*, the form of a URL without its values, and never assumed:

- Where different pages are seen to show different texts, the text is the content.
- Where many URLs show one text, as those of an application's frame or of an end point that says ``true`` do, the text tells
  nothing there. If a second response to a URL of the template has shown that the unseen layer lasts, that is part of the content;
  else nobody knows whether the URLs are one page.

*Contrast* decides: a text that n URLs of a template show tells a page if there are other texts beside it, not many times fewer
than n, since URLs of one page are mostly fewer than there are pages.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from enum import Enum
from math import expm1, inf
from typing import Final, NamedTuple

from ..masks.model import Mask
from ..observation import AT_ONCE, Observation
from ..pages.sketch import Sketch
from ..rules.exchange import CLEAN_PARAM
from ..urls import normal_form
from ..urls.templates import template_of

__all__ = [
    "LEAST_WORDS",
    "Comparison",
    "Content",
    "Contents",
    "Difference",
    "NoEvidence",
    "plain_identity",
    "why_no_page",
]

LEAST_WORDS: Final = 6
"""Words of which a page has fewer are hardly any content: that two such pages are equal says nothing."""
FRAME: Final = 0.8
"""Share of a site's different pages that show a text from which on it belongs to the site's frame: navigation, footer."""
RARE: Final = 0.1
"""Share of them up to which it is the pages' own."""
SEVERAL: Final = 3
"""Pages from which on a text may be the site's, however many there are."""
FEW_PAGES: Final = 8
"""Different pages below which nothing is known of a site's frame."""
ENOUGH_PAGES: Final = 300
"""Different pages from which on all of it is."""
LEAST_OWN: Final = 1
"""Words that are no part of the frame of which a page has fewer are no content, either."""
TOLD: Final = 0.5
"""Contrast from which on a text tells its page."""
COMMON: Final = 0.5
"""Share of their own words that two pages have in common at least if they may be one page that has changed."""


class Content(NamedTuple):
    """What tells a page from others: equal for the responses of one page."""

    identity: str
    #: Whether its text, or what is unseen, was found to tell pages apart where it stands.
    is_told: bool = True


class NoEvidence(NamedTuple):
    """Why a response says nothing of which page it is."""

    why: str


class Difference(Enum):
    """What is known of two responses: of one page, of two pages, or nothing."""

    SAME = "same"
    DIFFERENT = "different"
    UNDECIDED = "undecided"


class Comparison(NamedTuple):
    """What is known of two responses, and why."""

    difference: Difference
    why: str = ""


class _Page(NamedTuple):
    """What lasts of a response: what tells it by what is seen and by what is unseen ("" where nothing does), and its sketch."""

    seen: str
    unseen: str
    sketch: Sketch | None


Known = dict[tuple[str, str, str, str], _Page | NoEvidence]
"""Version of a mask, URL and fingerprints of a response -> what lasts of it."""


class Contents:
    """The contents of the responses of a site, under its mask; what is known of the site is known by *responses*.

    O(the blocks of the responses). *known* is remembered from one object to the next: what lasts of responses.
    """

    def __init__(
        self, responses: Iterable[Observation], mask: Mask | None = None, known: "Known | None" = None
    ) -> None:
        self._mask = mask if mask is not None and mask.version else None
        self._known = {} if known is None else known
        # A response counts once, however often it is handed over.
        single = {(each.url, each.time, each.fingerprint): each for each in responses if why_no_page(each) is None}
        some = sorted(single.values(), key=lambda each: each.time or 0.0)
        self._ending = {template_of(each.url) for each in some if each.ends}
        #: The blocks of pages as they last, and as they were shown.
        self._frames = _Frame(), _Frame()
        for each in some:
            page = self._lasting(each)
            if isinstance(page, _Page):
                self._frames[0].add(page.seen, page.sketch)
                self._frames[1].add(page.seen, each.sketch)
        #: Template -> what is seen -> the URLs that show it.
        self._urls: defaultdict[object, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
        #: What is seen -> the templates that show it.
        self._templates: defaultdict[str, set[object]] = defaultdict(set)
        self._controls = _Controls()
        last: dict[str, tuple[Observation, _Page]] = {}
        for each in some:
            page = self._page(each)
            if isinstance(page, _Page):
                url, template = normal_form(each.url), template_of(each.url)
                self._urls[template][page.seen].add(url)
                self._templates[page.seen].add(template)
                if url not in last or _seconds_between(last[url][0], each) >= AT_ONCE:
                    if url in last:
                        self._controls.add(template, last[url], (each, page))
                    last[url] = each, page

    def of(self, response: Observation) -> Content | NoEvidence:
        """Return what tells the page of a response from others, or why nothing does."""
        page = self._page(response)
        if isinstance(page, NoEvidence):
            return page
        if self._contrast(page.seen) >= TOLD:
            return Content(page.seen)
        if page.unseen and self._controls.unseen_lasts(self._templates.get(page.seen, ())):
            return Content(f"{page.seen}+{page.unseen}")
        return Content(page.seen, is_told=bool(response.password))

    def compare(self, one: Observation, other: Observation) -> Comparison:
        """Return whether two responses are of one page, of two, or nobody knows.

        The contents of one page are equal, and those of two are not.
        """
        first, second = self.of(one), self.of(other)
        if isinstance(first, NoEvidence):
            return Comparison(Difference.UNDECIDED, first.why)
        if isinstance(second, NoEvidence):
            return Comparison(Difference.UNDECIDED, second.why)
        if first.identity == second.identity:
            if first.is_told or second.is_told:
                return Comparison(Difference.SAME)
            return Comparison(Difference.UNDECIDED, f"{self._shown_by(first.identity)} URLs like these show one answer")
        if self._controls.are_settled(one, other):
            return Comparison(Difference.DIFFERENT)
        return Comparison(Difference.UNDECIDED, "they differ, and no page like them was fetched again and has lasted")

    def equal(self, one: Observation, other: Observation) -> bool | None:
        """Return whether two responses have the same content; None where one has none."""
        first, second = self.of(one), self.of(other)
        if isinstance(first, NoEvidence) or isinstance(second, NoEvidence):
            return None
        return first.identity == second.identity

    def differ_unseen(self, one: Observation, other: Observation) -> bool:
        """Return whether two responses show one text that tells no page, and differ in what is not seen."""
        first, second = self._page(one), self._page(other)
        if isinstance(first, NoEvidence) or isinstance(second, NoEvidence):
            return False
        return first.seen == second.seen and first.unseen != second.unseen and self._contrast(first.seen) < TOLD

    def _page(self, response: Observation) -> _Page | NoEvidence:
        """Return what lasts of a response, if that is enough to tell its page."""
        page = self._lasting(response)
        if isinstance(page, NoEvidence):
            return page
        if page.sketch is None or response.sketch is None:
            return page
        lasting = self._frames[0].own_words(page.sketch)
        if response.words is not None and lasting < LEAST_OWN:
            return NoEvidence("hardly any text of its own")
        # What few pages show is theirs: a large advertisement that many show is no loss.
        gone = self._frames[1].rare_words(response.sketch) - self._frames[0].rare_words(page.sketch)
        return page if lasting >= gone else NoEvidence("most of what is its own does not last")

    def _lasting(self, response: Observation) -> _Page | NoEvidence:
        mask = "" if self._mask is None else self._mask.version
        key = mask, response.url, response.fingerprint, response.unseen or ""
        if key not in self._known:
            self._known[key] = self._lasting_of(response)
        return self._known[key]

    def _lasting_of(self, response: Observation) -> _Page | NoEvidence:
        why = why_no_page(response)
        if why is not None:
            return NoEvidence(why)
        if response.ends is False and template_of(response.url) in self._ending:
            return NoEvidence("cut off")
        plain = plain_identity(response)
        if self._mask is None or not self._mask.comparing.applies_to(response.url):
            return _Page(plain, response.unseen or "", response.sketch)
        if response.version is None:
            return NoEvidence("its texts are not kept")
        sketch = self._mask.sketch(response.version, response.url)
        if not sketch.blocks or (sketch.words is not None and sketch.words < LEAST_WORDS):
            return _Page(plain, response.unseen or "", response.sketch)  # told apart by all that it shows
        return _Page(f"{self._mask.version}:{sketch.bag}", sketch.unseen, sketch)

    def _contrast(self, seen: str) -> float:
        """Return how surely a text tells its page, by the other texts of the templates that show it (0 to 1)."""
        urls = self._shown_by(seen)
        others = sum(len(self._urls[template]) - 1 for template in self._templates.get(seen, ()))
        return 1.0 if urls < 2 else -expm1(-others / 2) * min(1.0, others / (urls - 1))

    def _shown_by(self, seen: str) -> int:
        """Return the number of URLs that show a text."""
        return sum(len(self._urls[template][seen]) for template in self._templates.get(seen, ()))

    def are_unlike(self, one: Observation, other: Observation) -> bool:
        """Return whether two pages have less than half of their own words in common."""
        first, second = self._lasting(one), self._lasting(other)
        if isinstance(first, NoEvidence) or isinstance(second, NoEvidence):
            return False
        if first.sketch is None or second.sketch is None:
            return False
        return self._frames[0].share(first.sketch, second.sketch) < COMMON


class _Frame:
    """The blocks of a site, and how many of its pages have them."""

    def __init__(self) -> None:
        self._met: defaultdict[str, set[int]] = defaultdict(set)
        self._pages: Counter[int] = Counter()

    def add(self, page: str, sketch: Sketch | None) -> None:
        """Take in a response; each page counts once for a block, and enough of them tell."""
        if sketch is not None and (page in self._met or len(self._met) < ENOUGH_PAGES):
            fresh = set(sketch.blocks) - self._met[page]
            self._met[page] |= fresh
            self._pages.update(fresh)

    def rare_words(self, sketch: Sketch) -> int:
        """Return the number of words of a page that hardly another page shows."""
        most = max(SEVERAL - 1, RARE * len(self._met))
        return sum(words for block, words in sketch.counted().items() if self._pages[block] <= most)

    def own_words(self, sketch: Sketch) -> int:
        """Return the number of words of a page that are no part of the frame."""
        return self._own(sketch).total()

    def share(self, one: Sketch, other: Sketch) -> float:
        """Return the share of their own words that two pages have in common."""
        first, second = self._own(one), self._own(other)
        total, common = (first | second).total(), (first & second).total()
        return common / total if total else 1.0

    def _own(self, sketch: Sketch) -> Counter[int]:
        many = inf if len(self._met) < FEW_PAGES else FRAME * len(self._met)
        return Counter({block: words for block, words in sketch.counted().items() if self._pages[block] < many})


class _Controls:
    """What URLs that were fetched twice have shown, by template and by whether that was in one crawl."""

    def __init__(self) -> None:
        #: Template -> the first and the last moment of each control, whether these are of one crawl, and whether what is seen has lasted.
        self._seen: defaultdict[object, list[tuple[float, float, bool, bool]]] = defaultdict(list)
        self._unseen: Counter[tuple[object, bool]] = Counter()

    def add(self, template: object, one: tuple[Observation, _Page], other: tuple[Observation, _Page]) -> None:
        """Take in two responses to one URL."""
        is_same = one[1].seen == other[1].seen
        self._seen[template].append((*_span(one[0], other[0]), _are_of_one_crawl(one[0], other[0]), is_same))
        if is_same:
            self._unseen[template, one[1].unseen == other[1].unseen] += 1

    def unseen_lasts(self, templates: Collection[object]) -> bool:
        """Return whether what is unseen was seen to last on pages of some templates, and never to change."""
        lasted, changed = (sum(self._unseen[each, is_same] for each in templates) for is_same in (True, False))
        return lasted > 0 and not changed

    def are_settled(self, one: Observation, other: Observation) -> bool:
        """Return whether pages of the templates of two responses were seen to last for as long as these are apart.

        What lasts from crawl to crawl lasts within one. Where a page has changed between their moments, time may explain what differs,
        but for more others that lasted over both.
        """
        start, end = _span(one, other)
        within = _are_of_one_crawl(one, other)
        controls = [
            control
            for template in {template_of(one.url), template_of(other.url)}
            for control in self._seen[template]
            if within or not control[2]
        ]
        changed = sum(not is_same and first < end and last > start for first, last, _, is_same in controls)
        lasted = sum(is_same and (not changed or first <= start <= end <= last) for first, last, _, is_same in controls)
        return lasted > changed


def _span(one: Observation, other: Observation) -> tuple[float, float]:
    """Return the first and the last moment of two responses: of all time where one is not known."""
    if one.time is None or other.time is None:
        return -inf, inf
    return min(one.time, other.time), max(one.time, other.time)


def _seconds_between(one: Observation, other: Observation) -> float:
    start, end = _span(one, other)
    return end - start


def _are_of_one_crawl(one: Observation, other: Observation) -> bool:
    return one.crawl == other.crawl


def plain_identity(response: Observation) -> str:
    """Return the fingerprint of all that a page shows: of its words in any order, where there is one."""
    return response.bag or response.fingerprint


def why_no_page(response: Observation) -> str | None:
    """Return why a response is no page; None where it is one."""
    if response.headers and CLEAN_PARAM in response.headers:
        return "robots.txt"
    if response.status != 200:
        return "redirect" if response.redirect is not None else "status"
    if not response.fingerprint:
        return "no content"
    if response.words is not None and response.words < LEAST_WORDS:
        return "hardly any text"
    return None
