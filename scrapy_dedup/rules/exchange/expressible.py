"""What rules say, as far as formats can hold it that know parameters to drop and where."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from ...urls import DeepSplit, ValueClass
from ...urls.query_paths import is_segment_key
from ..model import BARE, ORDERED, Rule
from ..normal_texts import normal_key
from ..operations import Ignore, Keep
from ..predicates import Predicate
from ..table import PATH_KINDS
from .areas import Area, areas_of, joined
from .values import Inexpressible, NotExpressible

__all__ = ["Drops", "Group", "groups_of", "spellings"]

Others = tuple[tuple[str, Predicate], ...]


@dataclass(frozen=True, slots=True)
class Drops:
    """Parameters that are dropped: those named, or (``all_but``) all but those named.

    Names are written as in a query in normal form, sorted.
    """

    names: tuple[str, ...]
    all_but: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    """Rules that drop the same where they ask for the same beside the path.

    ``others``: the predicates on the scheme, the host and the query; ``areas``: the paths.
    """

    drops: Drops
    others: Others
    areas: tuple[Area, ...]
    rules: tuple[str, ...]


def groups_of(
    rules: Iterable[Rule], deep: Mapping[str, DeepSplit], left_out: list[NotExpressible], *, approximate: bool
) -> list[Group]:
    """Return what one site's *rules* drop, and say in *left_out* what of them is not said by it.

    A rule is written for those of its operations that a format can hold: each acts by itself, so what is
    written equates no more URLs than the rules do. Rules that do not act are nothing to be written.

    *approximate*: also what is dropped only where its value has a certain shape, without that guard.
    """
    acting = [rule for rule in rules if rule.status.acts]
    found: dict[tuple[Drops, Others], list[tuple[str, list[Area]]]] = {}
    for rule in acting:
        dropped = _Drops(rule, deep, approximate=approximate)
        for other in acting:
            if other is not rule:
                dropped.leave_to(other)
        drops, said = dropped.drops, dropped.said
        try:
            areas = areas_of(rule.match)
        except Inexpressible as error:
            drops, said = None, [*said, f"the format has no {error}"]
        if drops is None:
            left_out.append(NotExpressible(rule.id, f"not written: {'; '.join(said) or 'it drops no parameter'}"))
            continue
        if said:
            left_out.append(NotExpressible(rule.id, f"written in part: {'; '.join(said)}"))
        left_out += [NotExpressible(rule.id, f"written wider than it is: {guard}") for guard in dropped.guards]
        others = tuple((key, value) for key, value in rule.match.items() if not key.startswith(PATH_KINDS))
        found.setdefault((drops, others), []).append((rule.id, areas))
    return [
        Group(
            drops, others, tuple(joined(area for _, areas in some for area in areas)), tuple(name for name, _ in some)
        )
        for (drops, others), some in found.items()
    ]


def spellings(name: str) -> list[str]:
    """Return the ways to write a parameter's name, for formats that compare it as it is written.

    >>> spellings("sid"), spellings("tag%5B%5D")
    (['sid'], ['tag%5B%5D', 'tag[]'])
    """
    raw = unquote(name)
    if raw == name or not raw.isascii() or not raw.isprintable() or any(char in raw for char in " &=#;+%"):
        return [name]
    return [name, raw]


class _Drops:
    """What a rule drops of the query; ``said``: what else it does, ``guards``: conditions left away."""

    def __init__(self, rule: Rule, deep: Mapping[str, DeepSplit], *, approximate: bool) -> None:
        self.said: list[str] = []
        self.guards: list[str] = []
        self._names: set[str] = set()
        self._kept: set[str] = set()
        self._all = False
        split = {normal_key(key) for key in deep}
        for key, operation in rule.ops.items():
            if key in ORDERED:
                self.said.append(f"the format cannot say that an order makes no difference in the {key}")
            elif key == BARE:
                self.said.append("the format knows no parameters without a name")
            elif not key.startswith("q.") or is_segment_key(key) or (key.endswith("*") and key != "q.*"):
                self.said.append(f"the format has no operation on {key}")
            elif normal_key(key) in split:
                self.said.append(f"the format does not know the two parts of {key}")
            elif isinstance(operation, Keep):
                self._kept.add(normal_key(key)[2:])
            elif not isinstance(operation, Ignore):
                self.said.append(f"the format can only drop {key}")
            elif operation.only is not None and not (approximate and isinstance(operation.only, ValueClass)):
                self.said.append(f"the format has no condition on the values of {key}")
            else:
                if operation.only is not None:
                    self.guards.append(f"also where {key} is not {operation.only}")
                if key == "q.*":
                    self._all = True
                else:
                    self._names.add(normal_key(key)[2:])
        if self._all:
            asked = {normal_key(key)[2:].partition("[")[0] for key in rule.match if key.startswith("q.")}
            left = {normal_key(key)[2:] for key in rule.ops if key.startswith("q.") and not key.endswith("*")}
            self._kept |= (asked | left) - self._names
        elif self._kept:
            self.said.append("the format cannot keep parameters where other rules drop them")

    @property
    def drops(self) -> Drops | None:
        """What is dropped, None where it is nothing."""
        if self._all:
            return Drops(tuple(sorted(self._kept)), all_but=True)
        return Drops(tuple(sorted(self._names))) if self._names else None

    def leave_to(self, other: Rule) -> None:
        """Take out what another rule has another say in, or asks for: it acts on URLs as they came."""
        for key, operation in other.ops.items():
            if not isinstance(operation, Ignore):
                self._leave(key, f"rule {other.id} has another say in {key}")
        for key in other.match:
            self._leave(key.partition("[")[0], f"rule {other.id} asks for {key}")

    def _leave(self, key: str, why: str) -> None:
        if key.endswith("*"):
            beginning = normal_key(key[:-1])
            touched = {name for name in self._names if f"q.{name}".startswith(beginning)}
            if self._all and (beginning.startswith("q.") or "q.".startswith(beginning)):
                touched.add("*")
        else:
            name = normal_key(key)[2:]
            touched = {name} if key.startswith("q.") and (self._all or name in self._names) else set()
            touched -= self._kept
        if touched:
            self.said.append(why)
            self._names -= touched
            self._all = False
