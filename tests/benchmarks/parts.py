"""The parts of the package that can be switched off one at a time, and the columns of the ablation that can show one.

A part is switched off in a process by what takes the place of its functions (:func:`without`), and in the crawls and learning
processes that it starts by the variable ``BENCHMARK_WITHOUT``, which ``news/clock/sitecustomize.py`` looks at before anything
else runs there; or by settings, which each project of a benchmark takes over (see ``crawling/project.py``).
"""

import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import reduce
from importlib import import_module
from itertools import chain
from pathlib import Path
from typing import Any

SWITCH = "BENCHMARK_WITHOUT"
FOLDER = Path(__file__).parent / "news" / "clock"
NONE = "as it is"
TOGETHER = "suspects together"
SUSPECTS = ("opinions", "widening")

Change = Callable[[Any], Any]
"""Takes what stands at a place, and returns what is to stand there."""

LEARN = ("labelled", "small", "made-up", "worlds", "recorded")
REPLAY = ("cgit", "wordpress", "apache-docs")
NOISY = ("cgit, noise", "wordpress, noise")
SITES = (*LEARN, *REPLAY)
MASKS = ("cases", "times", "news", "likeness", "wordpress, noise")
FIELDS = ("fields",)
ALIASES = ("forum",)


@dataclass(frozen=True, slots=True)
class Part:
    """A part: the columns that can show it, how each of its places (``module:name``) is changed, and settings without it."""

    columns: Sequence[str]
    changes: Mapping[str, Change] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)


def _value(value: Any) -> Change:
    return lambda _: value


def _by(other: Callable[..., Any]) -> Change:
    """Have another function called; each time one that is no other place's, so that it can be found again."""
    return lambda _: lambda *given, **named: other(*given, **named)  # noqa: PLW0108 (each is another one)


def _returning(make: Callable[[], Any]) -> Change:
    return _by(lambda *_, **__: make())


def _first(found: Any, *_: Any, **__: Any) -> Any:
    return found


def _no_rows(rows: Sequence[Any], *_: Any) -> Any:
    import numpy as np

    return np.zeros(len(rows), dtype=np.bool_)


def _no_constants(rows: Sequence[Any], *_: Any) -> Any:
    return [], _no_rows(rows)


def _fresh(found: Sequence[Any], _before: Any, _sample: Any, deep: Any, *_: Any, **__: Any) -> Any:
    from scrapy_dedup.learning.lifetime.incumbents import Settled

    return Settled(list(found), deep)


def _by_sections(table: Any) -> Any:
    from scrapy_dedup.learning.decision.divisions import by_sections

    return [by_sections(table)]


def _usual_judge(*_: Any) -> Any:
    from scrapy_dedup.learning.evidence.judge import Judge

    return Judge()


def _no_cuts() -> Any:
    return [], False


async def _nothing(*_: Any) -> bool:
    return False


def _of_declaration(name: str) -> Change:
    return lambda declared: lambda kinds, site, one, page: None if one == name else declared(kinds, site, one, page)


def _at_length(set_path: Any) -> Any:
    def always(table: Any, *arguments: Any) -> None:
        set_path(table, *arguments)
        table.positions_only = table.pairs_only = False

    return always


_FIRST, _FALSE, _LIST, _DICT = _by(_first), _returning(bool), _returning(list), _returning(dict)
_DECISION, _SEARCH, _OPINIONS = "learning.decision.", "learning.search.", "learning.opinions."
_VERIFY, _CANONICAL = "crawl.verify.", "rules.alias_kinds:AliasKinds."

PARTS: Mapping[str, Part] = {
    NONE: Part((*LEARN, "second", *REPLAY, *NOISY, *MASKS[:-1], *ALIASES, "planted", *FIELDS, "keys")),
    TOGETHER: Part(LEARN),
    # What the reviews ask about, the cheap and decisive ones first.
    "opinions": Part(SITES, {_OPINIONS + "said:said_of": _DICT}),
    "opinions: known names": Part(SITES, {_OPINIONS + "said:known_names": _returning(lambda: None)}),
    "opinions: canonical and redirects": Part(SITES, {_OPINIONS + "declared:linked_opinions": _DICT}),
    "opinions: headers and robots.txt": Part(SITES, {_OPINIONS + "declared:stated_opinions": _returning(tuple)}),
    "strata": Part(LEARN, {_DECISION + "strata:narrowed": _FIRST}),
    "budget": Part(LEARN, {_DECISION + "validation:within_budget": _FIRST}),
    "error rate": Part(LEARN, {"learning.data.error_rate:judge_of": _by(_usual_judge)}),
    "learner: replacing": Part(SITES, {"learning.learners.replacing:proposals": _LIST}),
    "widening": Part(LEARN, {"learning.learners.widening:generalised": _FIRST}),
    "widening: families of names": Part(LEARN, {"learning.learners.widening:wider_families": _LIST}),
    "widening: spellings": Part(LEARN, {"learning.learners.widening:wider_spellings": _LIST}),
    "orders": Part(LEARN, {_SEARCH + "orders:any_orders": _LIST}),
    # What of crawls learning alone does not show.
    "candidates": Part(REPLAY, {_DECISION + "candidates:candidate_rules": _returning(tuple)}),
    "postponing": Part((*REPLAY, *NOISY), settings={"DEDUP_POSTPONE": False}),
    "paid refetches": Part((*REPLAY, *NOISY), settings={"DEDUP_EXTRA": 0}),
    "starter refetches": Part(("likeness", "news", *NOISY), settings={"DEDUP_STARTER": 0}),
    "unchecked requests": Part(
        ("planted", *REPLAY), {_VERIFY + "unchecked:UncheckedRequests.pending": _value(property(lambda _: False))}
    ),
    "unchecked requests: stretches": Part(
        ("planted", *REPLAY), {_VERIFY + "unchecked:UncheckedRequests._look_into_stretches": _by(_nothing)}
    ),
    "patience of rule trials": Part(("planted", *REPLAY, *NOISY), {_VERIFY + "rule_trials:PATIENCE": _value(1)}),
    "pages shown elsewhere": Part(("planted", *REPLAY, *NOISY), {_VERIFY + "rule_trials:ELSEWHERE": _value(1)}),
    "spot checks": Part(("planted", *REPLAY), settings={"DEDUP_SAMPLE": 0}),
    "aliases: elements": Part(ALIASES, {_CANONICAL + "anchored": _returning(lambda: None)}),
    "aliases: declarations": Part((*ALIASES, *REPLAY), {_CANONICAL + "declared": _returning(lambda: None)}),
    **{
        f"aliases: {name}": Part((*ALIASES, *REPLAY), {_CANONICAL + "declared": _of_declaration(name)})
        for name in ("canonical", "shortlink", "og:url")
    },
    # What passes on pages, and in the fields of items.
    "like pairs": Part(("likeness", *NOISY), {"learning.asking.like_pairs:like_pairs": _LIST}),
    "fields: attributes, scripts and comments": Part(
        FIELDS, {"masks.fields:TransientPage._values_in": _returning(_no_cuts)}
    ),
    # Speed.
    "closure of rules": Part(("keys",), {"rules.closure:unrepeated_for_one_step": _returning(lambda: None)}),
    "fast paths of rules": Part(
        ("keys",), {"rules.apply:_leaves_alone": _FALSE, "rules.table:OpTable._set_path": _at_length}
    ),
    # What there is no question about, but how much.
    "constant pages": Part(LEARN, {_SEARCH + "constant_pages:constant_pages": _by(_no_constants)}),
    "guards": Part(LEARN, {_SEARCH + "guards:best_guard": _returning(lambda: None)}),
    "values": Part(LEARN, {_SEARCH + "recoding:recode": _LIST}),
    "values: sets": Part(LEARN, {_SEARCH + "recoding:sets_of_values": _LIST}),
    "strata: divisions by keys": Part(LEARN, {_DECISION + "divisions:divisions_of": _by(_by_sections)}),
    "soft errors": Part(LEARN, {"learning.data.soft_errors:soft_errors": _by(_no_rows)}),
    "tokens of values": Part(LEARN, {"learning.site_evidence:deep_splits": _DICT}),
    "tokens: by pages": Part(LEARN, {"learning.data.value_tokens:significant_splits": _DICT}),
    "tokens: lists": Part(LEARN, {"learning.data.value_tokens:lists_of_values": _DICT}),
    "incumbents": Part(("second",), {"learning.lifetime.incumbents:with_incumbents": _by(_fresh)}),
}
"""Name -> part, in the order in which they are measured; the first one is nothing, the second one several that move no figure."""


def part_of(name: str) -> Part:
    """Return the part of a name: one of the table, or a number of the learner times a factor, such as ``price x 0.5``."""
    if name == TOGETHER:
        each = [PARTS[suspect].changes for suspect in SUSPECTS]
        return Part(LEARN, {place: _one_by_one([one[place] for one in each if place in one]) for place in chain(*each)})
    number, times, factor = name.rpartition(" x ")
    if not times:
        return PARTS[name]
    return Part(LEARN, {"learning.config:current": lambda current: lambda: varied(current(), number, float(factor))})


def _one_by_one(changes: Sequence[Change]) -> Change:
    return lambda found: reduce(lambda before, change: change(before), changes, found)


def varied(config: Any, number: str, factor: float) -> Any:
    """Return a configuration with one number times a factor: shares at most 1, others at least 1."""
    value = getattr(config, number)
    other = max(1, round(value * factor)) if isinstance(value, int) else value * factor
    return replace(config, **{number: min(other, 1.0) if isinstance(value, float) and value < 1 else other})


def place_of(place: str) -> tuple[Any, str]:
    """Return the module or class of a place of the package, and the name in it. Raises AttributeError where there is none."""
    module, _, names = place.partition(":")
    *owners, name = names.split(".")
    owner: Any = import_module(f"scrapy_dedup.{module}")
    for each in owners:
        owner = getattr(owner, each)
    getattr(owner, name)
    return owner, name


@contextmanager
def without(part: str) -> Iterator[None]:
    """Leave a part out of this process, wherever its functions were imported to, and of those that it starts."""
    undo: list[tuple[Any, str, Any, Any]] = []
    before = {name: os.environ.get(name) for name in (SWITCH, "PYTHONPATH")}
    try:
        for place, change in part_of(part).changes.items():
            owner, name = place_of(place)
            old = vars(owner)[name]
            new = change(old)
            undo.append((owner, name, new, old))
            _put(owner, name, old, new)
        os.environ[SWITCH] = part
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, (str(FOLDER), before["PYTHONPATH"])))
        yield
    finally:
        for owner, name, new, old in reversed(undo):
            _put(owner, name, new, old)
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value


def _put(owner: Any, name: str, old: Any, new: Any) -> None:
    """Put something new at a place, and wherever else what is old was imported to."""
    setattr(owner, name, new)
    if callable(old) or isinstance(old, Mapping):
        places = [vars(module) for key, module in sys.modules.items() if key.startswith("scrapy_dedup")]
        for place in places:
            place.update(dict.fromkeys([key for key, value in place.items() if value is old], new))


def settings_without() -> Mapping[str, Any]:
    """Return the settings of what is switched off in this process, for the projects that it makes."""
    return part_of(os.environ.get(SWITCH, NONE)).settings
