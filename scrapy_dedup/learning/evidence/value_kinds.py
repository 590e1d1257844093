"""Kinds of values: what those of a key look like says how likely it names a page, and how alike a site's sections are in it.

What is believed of each kind before anything of a key is seen was learned from sites whose pages are known; it stands in
``learned_priors.toml``, which says from what data, and is written by ``python -m tests.benchmarks.priors --write``.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from importlib.resources import files

import numpy as np

from ..config import current
from .arrays import ABSENT, Codes, Rows
from .witnesses import EVERY_KEY, Prior

MOST_LOOKED_AT = 500
"""Values of a column that are looked at; of more, every n-th is."""
MIN_TOKEN = 16
"""Characters of the shortest session id: shorter ones are as likely ids of pages."""
FORMS = frozenset({"scheme", "path.trail"})
"""Parts of a URL that tell a form of it rather than a page; the names of hosts do, too."""
PRIORS_FILE = "learned_priors.toml"
VALUES_UNLIKE = 0.8
"""Probability that some of a choice of few values mean something else than the others."""
_token = re.compile(r"(?=.*[0-9])[0-9A-Za-z]{6,}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}").fullmatch


@dataclass(frozen=True)
class KindPrior:
    """What is believed of keys of one kind of values; probabilities.

    A proposal's groups are one page each (``right``), some of them several (``mixed``), or most of them (``wrong``); two pages
    show the same, though the key tells them apart, this or that often (``equals``); what a key means differs from section to
    section of a site (``unlike``).
    """

    right: float
    mixed: float
    wrong: float
    equals: tuple[float, ...]
    unlike: float

    @cached_property
    def prior(self) -> Prior:
        """Return the prior as the judge takes it."""
        return Prior.of(self.right, self.mixed, self.wrong, self.equals)


class ValueKind(Enum):
    """What the values of a key are: forms of a page, drawn at random, a choice of few, or any other."""

    DRAWN = "drawn"
    ENUMERATED = "enumerated"
    OTHER = "other"
    FORM = "form"

    @property
    def prior(self) -> Prior:
        """What is believed of a key of such values."""
        return learned_priors()[self].prior

    @property
    def unlike(self) -> float:
        """Probability that what such a key means differs from section to section of a site."""
        return learned_priors()[self].unlike


WHOLE = Prior.of(0.4, 0.15, 0.45, (0.1, 0.1, 0.2, 0.596, 0.004)).about(EVERY_KEY)
"""Of a function that drops several keys together."""

ORDER = ValueKind.FORM
"""Of an order: segments that stand in several orders at all are hardly ever anything but a set."""


def other_part(key: str) -> str | None:
    """Return the key of the other token of a value of two; None for other keys.

    >>> other_part("m.jsessionid.tail"), other_part("q.id")
    ('m.jsessionid.head', None)
    """
    base, _, end = key.rpartition(".")
    return {"head": f"{base}.tail", "tail": f"{base}.head"}.get(end)


def kind_of_key(key: str, columns: Mapping[str, Codes], vocabulary: list[str], rows: Rows | None = None) -> ValueKind:
    """Return the kind of a key's values in some of the rows; a part beside drawn parts counts as drawn."""

    def kind(of: str) -> ValueKind:
        return kind_of_values(of, columns[of] if rows is None else columns[of][rows], vocabulary)

    other = other_part(key)
    drawn = other is not None and other in columns and kind(other) is ValueKind.DRAWN
    return ValueKind.DRAWN if drawn else kind(key)


@cache
def learned_priors() -> Mapping[ValueKind, KindPrior]:
    """Return what the file says."""
    import tomlkit  # here, since nothing but learning needs it

    text = files(__package__).joinpath(PRIORS_FILE).read_text(encoding="utf-8")
    found = tomlkit.parse(text).unwrap()["kinds"]
    return {
        kind: KindPrior(**{**found[kind.value], "equals": tuple(found[kind.value]["equals"])}) for kind in ValueKind
    }


def kind_of_values(key: str, codes: Codes, vocabulary: list[str]) -> ValueKind:
    """Return the kind of a column's values."""
    if key in FORMS or key.startswith("host."):
        return ValueKind.FORM
    present = codes[codes != ABSENT]
    values = np.unique(present)
    if len(values) <= current().most_enumerated and len(present) >= 2 * len(values):
        return ValueKind.ENUMERATED
    some = values[:: len(values) // MOST_LOOKED_AT + 1].tolist()
    drawn = sum(_token(vocabulary[value]) is not None for value in some)
    return ValueKind.DRAWN if drawn > current().drawn_share * len(some) else ValueKind.OTHER


def are_named(values: int, urls: int) -> bool:
    """Return whether a rule names the values of a key one by one, and not their class: few that so many URLs come back to."""
    return values <= current().named_values and urls >= current().named_repeats * values


def is_token(value: str) -> bool:
    """Return whether a value looks like a session id: long, without a word in it, with digits.

    Such a value is nothing that a pattern may rest on: it is another one tomorrow, and may be secret.

    >>> is_token("d41d8cd98f00b204e9800998ecf8427e"), is_token("contact-information")
    (True, False)
    """
    return len(value) >= MIN_TOKEN and value.isalnum() and any(map(str.isdigit, value))
