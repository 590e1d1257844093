"""Duplicate clusters that are also of near-identical pages, by the shingles of the texts that a store keeps.

Source: "url-normalization-rule-inference", FIG. 2, steps 200 and 210. The clusters of the pipeline are pages of equal text;
here those of one host are joined whose texts are nearly so.
"""

import logging
from collections.abc import Iterable
from dataclasses import replace

from ....content.versions import Version
from ....observation import Observation
from ....urls import normal_form, site_of_url
from ...data.clusters import NO_EVIDENCE, Clusters, no_evidence
from .megashingles import equivalence_classes, host_of
from .shingles import shingling

logger = logging.getLogger(__name__)


def near_identical(found: Clusters, seen: Iterable[Observation]) -> Clusters:
    """Return the clusters of a site, joined where their pages are near-identical.

    A page takes part if one of the observations that were *seen* has its texts. One page of each cluster and host is
    compared. O(84 x words of these).
    """
    versions = _latest_versions(seen)
    content = dict(zip(found.urls, found.content, strict=True))
    compared: dict[tuple[str, int], str] = {}
    for url in sorted(versions.keys() & content.keys()):
        if content[url] != NO_EVIDENCE:
            compared.setdefault((host_of(url), content[url]), url)
    if not compared and found.urls:
        logger.warning(
            "%s: no page has its texts in the store, so that none is compared by shingles", site_of_url(found.urls[0])
        )
    leader: dict[int, int] = {}

    def led(number: int) -> int:
        while number in leader:
            number = leader[number]
        return number

    for urls in equivalence_classes((url, shingling(_words(versions[url]))) for url in compared.values()):
        numbers = {led(content[url]) for url in urls}
        least = min(numbers)
        leader.update(dict.fromkeys(numbers - {least}, least))
    numbered: dict[int, int] = {NO_EVIDENCE: NO_EVIDENCE}
    joined = [numbered.setdefault(led(number), len(numbered) - 1) for number in found.content]
    passwords = found.passwords and frozenset(numbered[led(number)] for number in found.passwords)
    return replace(found, content=joined, passwords=passwords)


def _latest_versions(seen: Iterable[Observation]) -> dict[str, Version]:
    """Return the version that each URL has shown last, as far as texts are kept."""
    versions: dict[str, Version] = {}
    for each in sorted(seen, key=lambda one: one.time or 0.0):
        if each.version is not None and no_evidence(each) is None:
            versions[normal_form(each.url)] = each.version
    return versions


def _words(version: Version) -> list[str]:
    """Return the words of a page that a reader sees."""
    return " ".join([text for _, attribute, text in version.blocks if not attribute]).split()
