"""Parameters that are relevant together and not alone.

Source: url-parameter-relevance, the passage on tuples and its URLs (15) to (18): ``path`` and ``file``
leave one bit open each, and none as a pair.
"""

from collections.abc import Hashable, Iterator, Mapping, Sequence
from itertools import combinations

from .columns import Column
from .information import Information, information
from .relevance import Relevance, Thresholds

MAX_MEMBERS = 12
"""Parameters that tuples are made of, those that say most of the fingerprint: 12 make 66 pairs and
220 triples."""


def relevant_tuples(
    columns: Mapping[str, Column],
    fingerprints: Sequence[Hashable],
    alone: Mapping[str, Information],
    thresholds: Thresholds,
    most: int = 3,
) -> Iterator[tuple[str, ...]]:
    """Yield the tuples of two to *most* parameters that are relevant as one value.

    *alone* is the information of each parameter. Only tuples with a member that is irrelevant alone
    are asked, since the others change nothing.
    """
    relevance = {key: thresholds.relevance(found) for key, found in alone.items()}
    informative = sorted(columns, key=lambda key: (alone[key].fingerprint_given_value, key))[:MAX_MEMBERS]
    for size in range(2, most + 1):
        for keys in combinations(informative, size):
            if all(relevance[key] is Relevance.ACCEPT for key in keys):
                continue
            together = list(zip(*(columns[key] for key in keys), strict=True))
            if thresholds.relevance(information(together, fingerprints)) is Relevance.ACCEPT:
                yield keys
