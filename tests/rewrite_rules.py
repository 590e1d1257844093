"""Rewrite rules of single equivalence classes, before any test."""

from collections.abc import Sequence

from scrapy_dedup.learning.methods.equivalence import RewriteRule, SegmentedUrl, rule_of_class, rules_of_classes


def class_rules(urls: Sequence[SegmentedUrl]) -> list[RewriteRule]:
    """Return the rules of one class, each once, in the order of its URLs."""
    return [rule_of_class(rules, asked) for rules in rules_of_classes(urls, [0] * len(urls)) for asked in rules.asked]
