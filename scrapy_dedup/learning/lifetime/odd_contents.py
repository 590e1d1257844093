"""Odd contents in a sample: walls and soft blocks, which some pages show beside the page that each of them is.

A rule that acts leads a crawl to fetch again what shows such a content (:mod:`scrapy_dedup.crawl.seen.alike_pages`): that the
other URL shows the page then speaks for the wall, not against the rule.
"""

from collections import Counter
from typing import Final

from ..data.judgement import Judgement, SiteUrls

LEAST_PAGES: Final = 3
"""Groups of URLs that are one page by the rules that show a content which may be odd; most groups do not show it."""


def without_odd_contents(judgement: Judgement) -> SiteUrls:
    """Return the sample without the URLs that show odd contents where the others of their group are one page. O(URLs)."""
    sample = judgement.sample
    content = sample.content
    shown = Counter(each for members in judgement.by_key.values() for each in {content[i] for i in members})
    odd = {each for each, pages in shown.items() if LEAST_PAGES <= pages <= len(judgement.by_key) / 2}
    dropped = {
        i
        for members in judgement.bad
        if len({content[i] for i in members} - odd) == 1
        for i in members
        if content[i] in odd
    }
    return sample.part([i for i in range(len(content)) if i not in dropped]) if dropped else sample
