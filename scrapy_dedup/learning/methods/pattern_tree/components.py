"""Connected components of a graph."""

from collections.abc import Iterable


def components(count: int, edges: Iterable[tuple[int, ...]]) -> list[int]:
    """Return the number of the weakly connected component of each of *count* vertices.

    >>> components(4, [(2, 0), (1, 3)])
    [0, 1, 0, 1]
    """
    parent = list(range(count))

    def top(vertex: int) -> int:
        while parent[vertex] != vertex:
            parent[vertex] = parent[parent[vertex]]
            vertex = parent[vertex]
        return vertex

    for one, other in edges:
        low, high = sorted((top(one), top(other)))
        parent[high] = low
    return [top(vertex) for vertex in range(count)]
