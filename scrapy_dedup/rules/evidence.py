"""What a rule rests on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule rests on.

    ``learners``: the names of those that proposed it; ``method``: the published method that decided on it alone, "" where
    the judge did; ``groups``: witness groups
    that agree; ``counterexamples``: groups that do not; ``pages``: distinct pages
    seen under it; ``urls``: URLs it matched; ``removed``: URLs it would have saved;
    ``apart``: where a rule only keeps, distinct pages seen where it does, whatever the value that it keeps;
    ``upper95``: upper 95 % bound of the share of pages lost; ``examples``: pairs of URLs
    that it equates, their dropped values redacted; ``lengths``: key -> shortest and longest value seen, in characters,
    where the rule speaks of a class of values; ``until``: when the last response that counts was seen, in whole seconds
    since 1970, 0 if not known; ``samples``: requests that it filtered, which were
    fetched all the same and compared; ``refuted``: those of them that were another page;
    ``refuted_at``: when that refuted it, in whole seconds since 1970, 0 if never; ``probes``: pages on
    which a parameter that it drops was probed with an outcome; ``contradicted``: those of them whose outcome
    was that it matters.
    """

    learners: tuple[str, ...] = ()
    groups: int = 0
    counterexamples: int = 0
    pages: int = 0
    urls: int = 0
    removed: int = 0
    upper95: float = 1.0
    examples: tuple[tuple[str, str], ...] = ()
    samples: int = 0
    refuted: int = 0
    refuted_at: int = 0
    probes: int = 0
    contradicted: int = 0
    apart: int = 0
    lengths: tuple[tuple[str, int, int], ...] = ()
    until: int = 0
    method: str = ""
