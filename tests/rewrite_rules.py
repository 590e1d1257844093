"""What one equivalence class makes by itself: its representative, what it shares, and its rewrite rules before any test."""

from collections import Counter
from collections.abc import Sequence

from scrapy_dedup.learning.methods.rewriting import (
    Method,
    RewriteRule,
    SegmentedUrl,
    by_intersection,
    composed,
    generalised,
    rules_of_classes,
    segmented,
)


def class_rules(urls: Sequence[str]) -> list[RewriteRule]:
    """Return the rules of one class, each once, in the order of its URLs."""
    members = [segmented(url) for url in urls]
    return [
        generalised(form, [row for row in rows if form.asked_of(row) == asked])
        for form, rows in rules_of_classes(members, [0] * len(urls)).items()
        for asked in dict.fromkeys(map(form.asked_of, rows))
    ]


def shared(urls: Sequence[str]) -> Counter[str]:
    """Return the intersection of the segment multisets."""
    members: list[SegmentedUrl] = [segmented(url) for url in urls]
    return Counter(members[0].segments[position].text for position in by_intersection(members)[0])


def representative(urls: Sequence[str], method: Method = by_intersection, *, fold_case: bool = False) -> str:
    """Return the canonical URL of a class: what is shared, as the shortest has it; in lower case if case is folded."""
    members = [segmented(url) for url in sorted(urls, key=lambda url: (len(url), url))]
    kept = [members[0].segments[position] for position in method(members, fold_case)[0]]
    pieces = [(segment.key, segment.text.lower() if fold_case else segment.text) for segment in kept]
    return composed(members[0].origin, pieces)
