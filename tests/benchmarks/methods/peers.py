"""What other tools do with the recordings. They are extras, never dependencies."""

from collections.abc import Callable
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

MEASURED_ELSEWHERE = {
    # recording: (duplicate-url-discarder: pages downloaded, pages lost; MaybeDont: pages downloaded)
    "wordpress": (1427, 8, 1509),
    "oscar": (2609, None, 2728),
    "dokuwiki": (2663, None, None),
    "apache-docs": (4989, None, 3065),
}
"""Figures of an earlier measurement, on another machine with another spider, not of this run:
duplicate-url-discarder with the rules it ships (its built-in ``www.`` rule does the work on dokuwiki)
and MaybeDont 0.1.1 patched to run on a current Python (its dokuwiki figure was taken on a smaller
recording: 4998 of 4998). Nothing is said where no loss was counted."""

DUPLICATE_URL_DISCARDER_SETTINGS: dict[str, Any] = {
    "ADDONS": {"duplicate_url_discarder.Addon": 600},
}
MODULES = ("duplicate_url_discarder", "duplicate_url_discarder_rules")


def has_duplicate_url_discarder() -> bool:
    """True when duplicate-url-discarder and its rules are installed."""
    return all(find_spec(module) is not None for module in MODULES)


def duplicate_url_discarder_function(rules: str) -> Callable[[str], str] | None:
    """Its canonical form of a URL under the rules it ships and *rules* (JSON); None if it is not installed.

    As its fingerprinter does: its own processing, then Scrapy's canonical URL.
    """
    if not has_duplicate_url_discarder():
        return None
    import tldextract
    from duplicate_url_discarder.url_canonicalizer import UrlCanonicalizer  # type: ignore[import-not-found]
    from duplicate_url_discarder_rules import RULE_PATHS
    from w3lib.url import canonicalize_url

    # url-matcher would look for a newer list of public suffixes on the network.
    tldextract.tldextract.TLD_EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
    with TemporaryDirectory() as folder:
        own = Path(folder) / "rules.json"
        own.write_text(rules, encoding="utf-8")
        process = UrlCanonicalizer([*(RULE_PATHS or ()), own]).process_url
    return lambda url: canonicalize_url(process(url))


def duplicate_url_discarder_settings() -> dict[str, Any]:
    """Settings for a crawl with duplicate-url-discarder and the rules it ships."""
    from duplicate_url_discarder_rules import RULE_PATHS  # type: ignore[import-not-found]  # an extra

    paths = [str(path) for path in RULE_PATHS or ()]
    return {**DUPLICATE_URL_DISCARDER_SETTINGS, "DUD_LOAD_RULE_PATHS": paths}
