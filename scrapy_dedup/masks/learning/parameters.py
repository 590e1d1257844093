"""The numbers on which learning masks rests: one class, each field with what it is, its unit, and what it moves.

The weights of features are fitted (``judging/place_weights.toml``), and limits of memory and time, which say how much is looked
at, stand where they act. Each number was halved and doubled: what moved no mask of the transient benchmark (its quick parts)
or of 20 sites of the place benchmark has gone. Those of carry-over and of single crawls are not measured there; tests hold them.
"""

from dataclasses import dataclass

from ...overridable import Overridable


@dataclass(frozen=True, slots=True)
class MaskParameters:
    """The numbers of the learner of masks; shares are from 0 to 1, times in seconds."""

    # Of everything.
    several: int = 3
    """Pages, URL templates, pairs of URLs or other texts from which on something is taken for no accident."""
    nearly_all: float = 0.9
    """Share that counts as nearly all: of values that are numbers or times of day, of texts that a slot must fit to act on a URL
    template, of pages that have what stands all over a site, of pairs of visits that must be equal without what depends on them."""

    # Versions: what they say of each place.
    redesign: float = 0.5
    """Likeness (Jaccard) of the places of two versions below which they are of different designs and say nothing of each other."""
    returned: float = 0.1
    """Share of the pages that turned to another design and back up to which it was a redesign all the same."""
    dynamic: float = 0.8
    """Share of a page's own words that change on a page that is all new each time, as a front page of news; it teaches nothing."""
    own_text: float = 0.1
    """Share of the pages that a text stands on at most to be theirs and not the site's."""
    rotating: float = 0.2
    """Share of the texts seen on several pages that stand on several at once where they rotate, and do not move on."""

    # Judgement of a place.
    confidence: float = 0.9
    """Probability that a share is over, or under, a threshold, from which on that is taken to be so."""
    often: float = 0.25
    """Share of changes over which pages are compared without what is no matter of theirs, and under which a place lasts."""
    alone: float = 0.4
    """The same where one page is all there is: two changes out of two."""
    theirs: float = 2.0
    """Log-likelihood ratio over which a place is a matter of the page, or is drawn anew, or counts visits."""
    own: float = -5.0
    """Evidence (a log-likelihood ratio) below which what a kind of pages shows is the pages' own."""
    literal_texts: int = 8
    """Different texts of a slot after which a word between two gaps is literal, and no chance."""
    own_words: float = 0.3
    """Share of the pages whose own words stand among the changing ones from which on the place is theirs."""

    # Features of a place.
    one_time: float = 3600.0
    """Seconds between two responses that are of about one time."""
    of_page: float = 2.0
    """Trials of one page that count: they say nearly the same."""
    of_time: float = 4.0
    """Trials of one time that count."""
    drawn: tuple[float, float] = (4.0, 1.0)
    """How often fetches within moments differ where a text is drawn anew for each (Beta distribution)."""
    kept: tuple[float, float] = (0.3, 3.0)
    """How often they differ where it is not."""
    nearer: tuple[float, float] = (5.0, 1.0)
    """How often two responses of one time, or page, are the nearer ones where the place is a matter of it (Beta distribution);
    else half of them are."""
    foreign: float = 3.0
    """Log-likelihood ratio of no matter of the page, at most: of all that is new each time, some is the page's own."""
    own_too: float = 0.03
    """How often what is the page's own is drawn anew, too, or goes with the time: views of the page, quotes."""
    numbers_apart: float = 3.0
    """Distance of two numbers over the share of the numbers in between them: a third of them all is as far as any."""

    # Carry-over to URL templates of which no page was seen twice.
    nearly_always: float = 0.75
    """Share of the responses that show a page again in which a slot must have changed to act elsewhere."""
    luck: float = 0.05
    """Probability from which on it may be luck that as many of them have shown the same; of the URL templates that are found to
    show their own, the share that do so by luck."""
    alike: float = 0.05
    """Share of the pages, fetched at different times, that show the same where what stands all over a site is a matter of time."""
    common: float = 0.5
    """Share of the pages from which on what they have in common is no luck."""

    # Visits: pairs of pages of a single crawl that may be one.
    visited_pages: int = 10
    """Pages on which a place must differ between two visits before anything is said of it."""
    beside_pages: int = 4
    """The same of a place that stands beside transient ones: a heading that comes and goes with its list."""
    one_page: float = 0.7
    """Likeness (Jaccard) of the blocks of two pages that may be one."""
    margin: float = 0.15
    """How much more alike (Jaccard) neighbours must be at a place than visits are."""


_parameters = Overridable(MaskParameters)
current, using = _parameters.current, _parameters.using
