"""The rules of one site, from pairs of URLs that show one page: the story of the learner that asks.

    observations -> contents -> constant pages -> what is no evidence
    pairs -> operations -> the judge -> the most valuable one acts -> again      (:mod:`.loop`)
    what decides most is fetched again, and all of it is learned once more
    operations -> rules that a file says, with what they rest on                 (:mod:`.emit`)

It decides where :func:`scrapy_dedup.learn_rules` is given a function that fetches URLs again; elsewhere :mod:`.site_rules` does.
"""

from collections.abc import Callable, Iterable

import numpy as np

from ..observation import Observation
from ..rules import RuleBook
from ..urls import normal_form
from .data.clusters import Clusters
from .data.error_rate import of_controls
from .data.judgement import SiteUrls
from .decision.weighing import with_counts
from .emit import Writer
from .evidence.witnesses import RATES
from .learning_options import Fetch, LearningOptions
from .loop import learn_operations
from .proposals.combining import rules_of
from .site_rules import LearnedSite, decided
from .views import view_of

LEARNER = "pairs"
"""The name of this learner in the evidence of rules."""


def learn_asking(
    site: str,
    found: Clusters,
    seen: Iterable[Observation],
    options: LearningOptions,
    *,
    known: RuleBook,
    others: RuleBook | None = None,
) -> LearnedSite:
    """Return the rules of one site; what decides most is fetched again by the function of *options*, at most a dozen URLs.

    *seen* are the observations of the site, of which *found* are the contents. The rules of the user in *known* stay.
    """
    sample = SiteUrls.of(site, found, options.site_groups, others, options.names)
    fetch = _asking(sample, seen, options.ask) if options.ask is not None else None
    views = [view_of(url, options.site_groups) for url in sample.urls]
    told = sum([of_controls(odd, compared) for odd, compared in found.controls.values()], np.zeros(len(RATES)))
    operations = learn_operations(sample.urls, views, sample.content, fetch, told=told, max_loss=options.max_loss)
    written = Writer(site, sample.urls, views, options.site_groups).written(operations)
    rules = rules_of(site, written.proposals)
    weighed = with_counts(rules, sample, written.deep, {rule.id: (LEARNER,) for rule in rules})
    unsaid = len(written.unsaid)
    notes = (f"{unsaid} of {len(operations)} operations cannot be said by rules",) if unsaid else ()
    return decided(site, found, sample, weighed, written.deep, known=known, notes=notes)


def _asking(sample: SiteUrls, seen: Iterable[Observation], ask: Fetch) -> Callable[[str], int | None]:
    """Return what tells the number of the content that a URL shows when it is fetched again, -1 for one that no URL has shown."""
    requested: dict[str, str] = {}
    contents: dict[str, int] = {}
    number = dict(zip(sample.urls, sample.content, strict=True))
    latest: dict[str, Observation] = {}
    for each in seen:
        url = normal_form(each.url)
        requested.setdefault(url, each.url)
        if url not in latest or (each.time or 0.0) >= (latest[url].time or 0.0):
            latest[url] = each
    for url, content in number.items():
        contents[latest[url].fingerprint] = content

    def again(url: str) -> int | None:
        shown = ask(requested[url])
        return None if shown is None else contents.get(shown, -1)

    return again
