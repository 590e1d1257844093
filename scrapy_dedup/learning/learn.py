"""Learning, from observations to rules: the frame of a run, told in the head of this package."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING, Any

from ..masks.model import Mask
from ..observation import Observation, ObservationLike, observations_from
from ..pages.near_duplicates import near_duplicates
from ..pages.sketch import Sketch
from ..rules import Rule, RuleBook
from ..rules.lifecycle import Departure
from ..urls import DeepSplit, normal_form
from .asking.differing import NOTABLE_SHARE
from .choices import JUDGE
from .data.by_site import inner_sites, innermost_first, observations_by_site
from .data.clusters import clusters
from .deadline import Deadline
from .evidence.user_names import names_of
from .learning_options import DEFAULTS, MAX_LOSS, Fetch, LearningOptions
from .lifetime.kept_rules import may_return
from .memory import Memory
from .methods.policy import policy_of
from .opinions.declared import Declarations
from .pipeline import learn_asking
from .site_report import SiteReport
from .site_rules import decide_site, learn_site

if TYPE_CHECKING:
    from .methods.options import MethodOptions

logger = logging.getLogger(__name__)


Elsewhere = Callable[[AbstractSet[str]], RuleBook]
"""Takes the names of sites, and returns their rules."""


@dataclass(frozen=True, slots=True)
class Learned:
    """The rules of all observed sites, a report of each site, and the sites of the URLs that are nested in its own."""

    book: RuleBook
    reports: tuple[SiteReport, ...] = field(default=())
    departures: tuple[Departure, ...] = field(default=())
    """The learned rules of before that leave their files, and why."""
    nested: Mapping[str, AbstractSet[str]] = field(default_factory=dict)
    candidates: Mapping[str, tuple[Rule, ...]] = field(default_factory=dict)
    """Site -> candidate rules, where they were asked for."""
    odd: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Site -> URLs of odd responses that may be pages, to be fetched again."""


def learn_rules(
    observations: Iterable[ObservationLike],
    *,
    max_loss: float = MAX_LOSS,
    groups: Mapping[str, Sequence[str]] | None = None,
    known: RuleBook | None = None,
    names: Mapping[str, Iterable[str]] | None = None,
    deadline: float | None = None,
    method: str = JUDGE,
    options: "Mapping[str, Any] | MethodOptions | None" = None,
    ask: Fetch | None = None,
) -> RuleBook:
    """Return the rules that *observations* (of any number of sites, in any order) support.

    Each of them is an :class:`.Observation`, a pair (URL, fingerprint) or a dict with the fields of an observation.
    *max_loss* is the share of a site's pages that its rules together may be seen to lose;
    *groups* are domains that are one site (``{"shop": ["shop.example", "shop.test"]}``); *known* are
    rules of before: their manual, off and suspended ones stay, and those of sites that are not observed say what
    makes no difference in URLs of theirs that are nested in others. *names* are lists of names of parameters that are
    ``"relevant"`` or ``"irrelevant"`` on all sites, or say where to ``"return"`` to: they move what is believed of these before
    any page was seen (as ``DEDUP_NAMES``). After *deadline* (of ``time.monotonic()``)
    nothing more is looked for: what was found by then is tested and returned.

    *method* says what decides: the judge, or a published method alone ("entropy", "equivalence", "pattern-tree") with
    its *options*, a dict or the dataclass of :mod:`.methods.options`. Such a method decides as its document does, does not
    know *max_loss*, and ends what it has begun.

    *ask* takes a URL and returns the fingerprint of what it shows when it is fetched again, or None: a dozen URLs of a site, those
    that decide most, are asked for, and what looks like an odd response is told from another page. It is for the judge;
    what it raises ends the run, and of a site that is begun the *deadline* is not looked at.

    Raises ValueError when *max_loss* is not a share, *names* are no such lists, a value of an observation is wrong, or
    the method or an option is unknown or wrong; TypeError for an observation that is none of the three.
    """
    chosen = LearningOptions(
        max_loss=max_loss,
        site_groups=groups,
        names=names_of(names),
        deadline=Deadline(deadline),
        policy=policy_of(method, options),
        ask=ask,
    )
    return learn(observations_from(observations), chosen, known=known).book


def learn(
    observations: Iterable[Observation],
    options: LearningOptions = DEFAULTS,
    *,
    known: RuleBook | None = None,
    masks: Mapping[str, Mask] | None = None,
    elsewhere: Elsewhere | None = None,
    memory: Memory | None = None,
) -> Learned:
    """Return the rules that *observations* support, with a report per site.

    *known* are the rules of before, and *masks* tell what does not last on the pages of a site. Sites whose URLs are
    nested in those of others are learned first; the rules of what is not observed are asked of *elsewhere*, or are
    *known*.
    """
    site_groups, policy = options.site_groups, options.policy
    known = known if known is not None else RuleBook(groups=site_groups)
    by_site, sketches = observations_by_site(observations, site_groups)
    rules: list[Rule] = []
    deep: dict[str, Mapping[str, DeepSplit]] = {}
    reports = []
    departures: list[Departure] = []
    likely: dict[str, tuple[Rule, ...]] = {}
    odd: dict[str, tuple[str, ...]] = {}
    nested = {site: inner_sites((each.url for each in seen), site, site_groups) for site, seen in by_site.items()}
    for number, site in enumerate(innermost_first(nested)):
        seen = by_site[site]
        if options.deadline.passed():
            logger.warning("Out of time: %d of %d sites were not learned", len(by_site) - number, len(by_site))
            break
        pages = sketches.get(site, {})
        found = clusters(seen, (masks or {}).get(site))
        declarations = Declarations.of(seen, site_groups=site_groups)
        others = _others(nested[site], rules, deep, elsewhere or known.only) if nested[site] else None
        if policy is not None:
            found = policy.clusters(found, seen)
            outcome = decide_site(policy, site, found, options, known=known, others=others)
            rules += outcome.rules
            departures += outcome.departures
            reports.append(outcome.report)
            continue
        if options.ask is not None:
            outcome = learn_asking(site, found, seen, options, known=known, others=others)
            rules += outcome.rules
            deep[site] = outcome.deep
            departures += outcome.departures
            reports.append(outcome.report)
            continue
        back = may_return(site, known, seen, site_groups=site_groups)
        learn_it = partial(
            learn_site,
            site,
            found,
            options,
            known=known,
            declarations=declarations,
            may_return=back,
            others=others,
        )
        of_it = (
            found,
            declarations,
            back,
            others and others.digest(),
            options.max_loss,
            id(known),
        )
        outcome = (memory or Memory()).site(site, of_it, learn_it, lasts=lambda outcome: not outcome.out_of_time)
        report = outcome.report
        if options.diagnose and (note := _near_duplicates(list(pages.values()))):
            report = replace(report, notes=(*report.notes, note))
        rules += outcome.rules
        deep[site] = outcome.deep
        departures += outcome.departures
        if outcome.candidates is not None:
            likely[site] = outcome.candidates
        if outcome.odd:
            requested = {normal_form(each.url): each.url for each in seen}
            odd[site] = tuple(requested[url] for url in outcome.odd)
        reports.append(report)
    return Learned(RuleBook(rules, deep, site_groups), tuple(reports), tuple(departures), nested, likely, odd)


def _others(
    sites: AbstractSet[str], rules: Iterable[Rule], deep: Mapping[str, Mapping[str, DeepSplit]], before: Elsewhere
) -> RuleBook:
    """Return the rules of *sites*: those just learned, else those of *before*."""
    old = before(sites)
    fresh = [rule for rule in rules if rule.site in sites]
    return RuleBook(fresh, {site: splits for site, splits in deep.items() if site in sites}, old.groups).beside(old)


def _near_duplicates(sketches: Sequence[Sketch]) -> str | None:
    """Return what is to be said of pages that are nearly alike, None where there are few."""
    found = near_duplicates(sketches)
    if found.share < NOTABLE_SHARE:
        return None
    return (
        f"{found.near} of {found.pages} pages are near-duplicates; transient content may hide more duplicates: "
        "crawl again, or set DEDUP_REVISITS = 3"
    )
