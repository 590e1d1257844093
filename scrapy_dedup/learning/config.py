"""The numbers on which learning rules rests: one configuration class, each field with what it is, its unit, and where it is from.

What belongs to the data is not here: the priors of kinds of values are learned (:mod:`.value_kinds`), and the budgets are the
user's. Nor are limits of memory and time, which say how much is looked at. ``python -m tests.benchmarks.ablation --numbers``
halves and doubles each field and prints what that does.
"""

from dataclasses import dataclass

from ..overridable import Overridable


@dataclass(frozen=True, slots=True)
class Config:
    """The numbers of the learner of rules; shares are from 0 to 1."""

    # What odd responses look like.
    usual_error_rate: float = 0.02
    """Mean of the error rate of a site before anything of it is seen (share of responses; the prior is exponential). Crawls
    of real sites show .1 to 3 %. Odd content that other URLs show, too, is rarer by this factor: errors of chance do not repeat
    themselves, pages do."""
    changing_templates: float = 0.1
    """Share of URL templates whose pages change by themselves, as front pages do, before anything is seen. Such a template's
    repeated answers say nothing of the error rate."""
    error_rate_sets: int = 6
    """Difference sets that tell the error rate, those with most groups of one content first. The later ones are often keys
    that name pages."""
    error_rate_overlap: float = 3.0
    """How many of these say the same of the error rate, since the same URLs are in groups of several (a divisor of
    log-likelihoods)."""
    soft_least_urls: int = 3
    """Minimum number of URLs with a content before it can count as a soft error."""
    soft_in_common: float = 0.8
    """Share of the URLs of a content that have a word for it to be what these have in common."""
    soft_own: float = 0.5
    """Share from which on a content is a page's: of all URLs that have what its URLs have in common, or else of its URLs whose
    nearest relatives show it, too. Below it is a soft error."""

    # When a proposal acts.
    noticed: float = 0.01
    """Share of wrong groups from which on a proposal is held to be wrong, and not only spoiled by noise."""
    most_doubt: float = 0.5
    """Probability that the share of wrong groups is ``noticed`` or more, up to which a proposal may act: rather not than so."""
    price: float = 20.0
    """Downloads that a lost page is worth: a proposal may act if fewer than one of so many of its groups is expected to be wrong.
    Below it labelled sets lose pages; up to 50 they lose no fewer."""
    witnesses_of_page: float = 2.0
    """Witness groups of one and the same content that count: one that answers everywhere (an error, a log-in) is no ten
    witnesses."""

    # What the values of a key are.
    most_enumerated: int = 40
    """Different values of a key up to which they are a choice of few."""
    drawn_share: float = 0.9
    """Share of a key's values that look drawn at random, from which on it is a key of tokens."""

    # Where a proposal holds.
    division_odds: float = 20.0
    """How much likelier what was seen of a proposal must be by the values of another key than by sections, for it to be
    judged by these, for each such key that is tried."""

    # What is proposed.
    least_contents: int = 3
    """Minimum number of pages with two URLs that support a proposal on a key, a value or a set of keys."""
    proposed_groups: int = 10
    """Witness groups that a learner sees before it proposes anything but what drops keys; whether it acts says the judge."""
    proposed_bad: float = 0.15
    """Share of bad groups up to which such a learner proposes it."""
    put_back_smoothing: float = 0.02
    """Share added to how often URLs of one page differ in a key, where keys are put back (gain / cost)."""
    named_values: int = 12
    """Values of a key up to which they are compared each with each, and a rule names them one by one, and not their class."""
    named_repeats: int = 3
    """Times that each of them occurs, on average."""
    guard_urls: int = 20
    """URLs that a branch under a guard has."""
    guard_gain: int = 8
    """Duplicates that must be left for a guard to be looked for, and that it must remove."""
    case_pages: int = 5
    """Pages of one shape that show a value in two spellings before its case is ignored."""
    enough_removed: float = 0.99
    """Share of the duplicates removed by one learner from which on no other learner runs."""

    @property
    def most_wrong(self) -> float:
        """Expected share of wrong groups up to which what a proposal saves is worth the pages that it loses."""
        return 1 / self.price


_config = Overridable(Config)
current, using = _config.current, _config.using
