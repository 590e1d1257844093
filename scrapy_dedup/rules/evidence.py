"""What a rule rests on."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a rule rests on."""

    learners: tuple[str, ...] = ()
    """Names of the learners that proposed it."""
    groups: int = 0
    """Witness groups that agree."""
    counterexamples: int = 0
    """Witness groups that do not."""
    pages: int = 0
    """Distinct pages seen under it."""
    urls: int = 0
    """URLs it matched."""
    removed: int = 0
    """URLs it would have saved."""
    upper95: float = 1.0
    """Upper 95 % bound of the share of pages lost."""
    examples: tuple[tuple[str, str], ...] = ()
    """Pairs of URLs that it equates, their dropped values redacted."""
    samples: int = 0
    """Requests that it filtered, which were fetched all the same and compared."""
    refuted: int = 0
    """Those of them that were another page."""
    undecided: int = 0
    """Others, of which nobody can tell: they may be other pages, too."""
    refuted_at: int = 0
    """When that refuted it, in whole seconds since 1970; 0 if never."""
    probes: int = 0
    """Pages on which a parameter that it drops was probed with an outcome."""
    contradicted: int = 0
    """Those of them whose outcome was that it matters."""
    apart: int = 0
    """Where a rule only keeps: distinct pages seen where it does, whatever the value that it keeps."""
    lengths: tuple[tuple[str, int, int], ...] = ()
    """Key, shortest and longest value seen, in characters, where the rule speaks of a class of values."""
    until: int = 0
    """When the last response that counts was seen, in whole seconds since 1970; 0 if not known."""
    method: str = ""
    """The published method that decided on it alone, "" where the judge did."""
    pack: str = ""
    """The rule pack whose word counted for it, "" if none did."""
