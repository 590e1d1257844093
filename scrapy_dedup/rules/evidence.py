"""What a rule rests on, and the table ``[rule.evidence]`` of a rule file that holds it."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Any

from ..files.errors import FormError
from ..files.table_fields import TableField, number, share, string, strings

__all__ = ["EVIDENCE", "Evidence"]


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
    until: int = 0
    """When the last response that counts was seen, in whole seconds since 1970; 0 if not known."""
    method: str = ""
    """The published method that decided on it alone, "" where the judge did."""


def _moment(key: str, text: Any) -> int:
    """Return the seconds since 1970 that a text names, 0 for none."""
    try:
        return int(datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()) if text != "" else 0
    except (AttributeError, TypeError, ValueError, OverflowError):
        raise FormError(f"{key} is no time", 'it is a text such as "2026-01-31T12:00:00Z"') from None


def _moment_text(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


def _examples(key: str, pairs: Any) -> tuple[tuple[str, str], ...]:
    if not isinstance(pairs, list) or not all(map(_is_pair, pairs)):
        raise FormError(f"{key} is no list of pairs of URLs", f"write {key} = []")
    return tuple([(first, second) for first, second in pairs])


def _is_pair(pair: Any) -> bool:
    return isinstance(pair, list) and len(pair) == 2 and all(isinstance(url, str) for url in pair)


def _pair_lists(pairs: Iterable[tuple[str, str]]) -> list[list[str]]:
    return [list(pair) for pair in pairs]


def _drops(evidence: Evidence) -> bool:
    return not evidence.apart


def _was_checked(evidence: Evidence) -> bool:
    return bool(evidence.samples or evidence.refuted)


EVIDENCE = (
    TableField("learners", strings, list),
    TableField("method", string, when=lambda evidence: evidence.method),
    TableField("apart", number, when=lambda evidence: evidence.apart),
    TableField("groups", number, when=_drops),
    TableField("counterexamples", number, when=_drops),
    TableField("pages", number),
    TableField("urls", number),
    TableField("removed", number, when=_drops),
    TableField("upper95", share, when=_drops),
    TableField("examples", _examples, _pair_lists),
    TableField("until", _moment, _moment_text, when=lambda evidence: evidence.until),
    TableField("samples", number, when=_was_checked),
    TableField("refuted", number, when=_was_checked),
    TableField("undecided", number, when=lambda evidence: evidence.undecided),
    TableField("probes", number, when=lambda evidence: evidence.probes),
    TableField("contradicted", number, when=lambda evidence: evidence.probes),
    TableField("refuted_at", _moment, _moment_text, when=lambda evidence: evidence.refuted_at),
)
"""The fields, in the order in which they are written; where a rule only keeps, there are no groups."""
