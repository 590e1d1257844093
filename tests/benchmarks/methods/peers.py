"""How other tools are run. They are extras, never dependencies."""

from importlib.util import find_spec
from typing import Any

DUPLICATE_URL_DISCARDER_SETTINGS: dict[str, Any] = {
    "ADDONS": {"duplicate_url_discarder.Addon": 600},
}
MODULES = ("duplicate_url_discarder", "duplicate_url_discarder_rules")


def has_duplicate_url_discarder() -> bool:
    """True when duplicate-url-discarder and its rules are installed."""
    return all(find_spec(module) is not None for module in MODULES)


def duplicate_url_discarder_settings() -> dict[str, Any]:
    """Settings for a crawl with duplicate-url-discarder and the rules it ships."""
    from duplicate_url_discarder_rules import RULE_PATHS  # type: ignore[import-not-found]  # an extra

    paths = [str(path) for path in RULE_PATHS or ()]
    return {**DUPLICATE_URL_DISCARDER_SETTINGS, "DUD_LOAD_RULE_PATHS": paths}


def patch_maybedont() -> Any:
    """Patch MaybeDont 0.1.1 for Python 3.11 and later, where ``sample`` takes no set, and for current Scrapy; return its module."""
    import random

    from maybedont import predict  # type: ignore[import-untyped]
    from w3lib.url import canonicalize_url

    class Sampling:
        """``random`` as it was before."""

        rng = random.Random(0)

        @classmethod
        def sample(cls, population: Any, count: int) -> list[Any]:
            return cls.rng.sample(sorted(population), count)

    predict.random = Sampling
    predict.canonicalize_url = lambda url: canonicalize_url(url, keep_fragments=True)
    return predict
