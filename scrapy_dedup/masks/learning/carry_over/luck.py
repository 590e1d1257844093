"""Agreement by chance: how often pages show the same, and what is too improbable for luck."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence

from ....chance import at_most
from ....observation import AT_ONCE
from ...path import Template
from ..parameters import current
from .site_texts import SitePage


def is_nearly_always(changes: int, all_: int, chance: float = 0.0) -> bool:
    """Return whether so many changes are nearly all; by *chance*, the same is shown again."""
    return (
        changes >= current().nearly_always * (1.0 - chance) * all_
        or at_most(changes, all_, 1.0 - chance) >= current().luck
    )


def beyond_luck(probabilities: Mapping[Template, float], tests: int) -> set[Template]:
    """Return the URL templates whose *probabilities* are too small for luck, among so many *tests* (Benjamini and Hochberg)."""
    found: set[Template] = set()
    ordered = sorted(probabilities, key=lambda template: probabilities[template])
    for rank, template in enumerate(ordered, start=1):
        if probabilities[template] <= current().luck * rank / tests:
            found.update(ordered[:rank])
    return found


def agreements(
    showing: Sequence[tuple[SitePage, tuple[str, ...]]], agree: Callable[[tuple[str, ...], tuple[str, ...]], bool]
) -> dict[Template, tuple[int, int]]:
    """Return how many pages of a URL template *agree* with another one, fetched much earlier or later, of how many.

    Pages that were fetched at once agree in whatever time they show.
    """
    by_template: defaultdict[Template, list[tuple[SitePage, tuple[str, ...]]]] = defaultdict(list)
    for page, texts in showing:
        by_template[page.template].append((page, texts))
    found = {}
    for template, shown in by_template.items():
        pairs = zip(shown, shown[(len(shown) + 1) // 2 :], strict=False)
        equal = [agree(one, other) for (page, one), (later, other) in pairs if abs(later.at - page.at) >= AT_ONCE]
        found[template] = sum(equal), len(equal)
    return found
