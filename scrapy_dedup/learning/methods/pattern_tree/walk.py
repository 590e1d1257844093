"""The walk of energy over nodes: equation 7 (pattern-tree, section 5.3)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..pattern_tree_gaps import PatternTreeChoices

STEPS = 200
Matrix = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Graph:
    """Vertices are tree nodes in candidate rules; edges are rules and descendant-ancestor links.

    ``volumes[i]``: URLs of vertex i; ``rules[i, j]``: the false-positive rate of the rule from i to j;
    ``links``: (descendant, ancestor) pairs.
    """

    volumes: Sequence[int]
    rules: Mapping[tuple[int, int], float]
    links: Sequence[tuple[int, int]] = ()


def transitions(graph: Graph, options: PatternTreeChoices) -> Matrix:
    """Return P of equation 7: w / outdegree, where w = 1 - fpr of a rule and a constant of a link.

    Each row is then brought to a sum of 1 ("normalised", as printed) or keeps what is missing to 1 as
    the share that stays ("lazy"). Links have the weight 1 in the printed walk, ``link_weight`` in the
    damped one and no part in the walk inside components.
    """
    count = len(graph.volumes)
    weights = np.zeros((count, count))
    if options.walk != "components":
        for i, j in graph.links:
            weights[i, j] = 1.0 if options.walk == "printed" else options.link_weight
    for (i, j), rate in graph.rules.items():
        if i != j:
            weights[i, j] = max(weights[i, j], 1 - rate)
    degrees = np.count_nonzero(weights, axis=1)
    matrix: Matrix = weights / np.maximum(degrees, 1)[:, None]
    sums = matrix.sum(axis=1)
    if options.rows == "lazy":
        matrix[np.arange(count), np.arange(count)] += 1 - sums
    else:
        matrix /= np.where(sums > 0, sums, 1)[:, None]
    return matrix


def energy(graph: Graph, options: PatternTreeChoices) -> Matrix:
    """Return the energy of each vertex after the walk, which begins with the volumes.

    As printed, energy leaves at vertices without edges and swings for ever in circles: the state after
    an even number of steps is returned. Damped, a share of the walk begins anew by volume in each
    step, and what reaches a vertex without edges does so too.
    """
    volumes = np.asarray(graph.volumes, dtype=float)
    matrix = transitions(graph, options)
    state = volumes.copy()
    total = volumes.sum()
    if not total:
        return state
    jump = volumes / total
    dangling = matrix.sum(axis=1) == 0
    sources, targets = np.nonzero(matrix)
    shares = matrix[sources, targets]
    for _ in range(STEPS):
        moved = np.bincount(targets, weights=shares * state[sources], minlength=len(state)).astype(float)
        if options.walk == "damped":
            moved += state[dangling].sum() * jump
            moved = options.damping * moved + (1 - options.damping) * total * jump
        if options.walk == "components":
            # The mean of staying and moving has a limit where circles have none.
            moved = (moved + state) / 2
        state = moved
    return state
