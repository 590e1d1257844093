"""Settings that have to fit each other: what is wrong with two of them together, and what would be right."""

from collections.abc import Mapping
from typing import Any

from ..learning.names import JUDGE, METHOD_NAMES
from .setting_values import Mode

__all__ = ["wrong_method", "wrong_site"]


def wrong_method(method: str, options: Mapping[str, Any], learners: tuple[str, ...] | None) -> tuple[str, str] | None:
    """Return problem and remedy if a published method does not have these options, or the judge has any."""
    if method == JUDGE:
        return ("the judge has no options", f"Set DEDUP_METHOD: {', '.join(METHOD_NAMES[1:])}.") if options else None
    from ..learning.methods.options import WrongOption, options_of

    try:
        options_of(method, options)
    except WrongOption as wrong:
        return str(wrong), "scrapy learn-rules --method list shows all options."
    return ("DEDUP_LEARNERS is set, and published methods have none", "Leave one of them out.") if learners else None


def wrong_site(sites: Mapping[str, Mode | None], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Return problem and remedy if a key of DEDUP_SITES is no site, such as ``www.example.com``, and would never apply."""
    from ..urls import site_of_url

    for name in sites:
        found = [site_of_url(f"{scheme}://{name}/", groups=groups) for scheme in ("http", "https")]
        if name not in found and name.partition(":")[0] not in groups:
            remedy = f"Write {found[0]!r}." if found[0] else 'Write a domain, such as "example.com".'
            return f"{name!r} is not a site", remedy
    return None
