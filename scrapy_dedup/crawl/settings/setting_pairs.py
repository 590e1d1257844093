"""The settings of learning that name things, and what is wrong with two settings that have to fit each other."""

import json
from collections.abc import Mapping
from typing import Any

from ...learning.choices import JUDGE, METHOD_NAMES
from ...learning.evidence.user_names import REMEDY, Names
from .setting_values import Mode, WrongValue, mapping

__all__ = ["method", "method_options", "names", "wrong_method", "wrong_site"]


def method(value: Any) -> str:
    """Return the name of what decides."""
    if value not in METHOD_NAMES:
        raise WrongValue(f"there is no method {value!r}", f"There are {', '.join(METHOD_NAMES)}.")
    return str(value)


def method_options(value: Any) -> dict[str, Any]:
    """Return the options of a published method; whether it has them is seen when all settings are known."""
    remedy = 'Write a dictionary such as {"min_urls": 20}.'
    found = {name: list(each) if isinstance(each, tuple) else each for name, each in mapping(value, remedy).items()}
    try:
        json.dumps(found)
    except (TypeError, ValueError):
        raise WrongValue("a value is no text, number, truth value or list of texts", remedy) from None
    return {str(name): each for name, each in found.items()}


def names(value: Any) -> Names:
    """Return the lists of names of parameters."""
    lists = mapping(value, REMEDY)
    try:
        return Names.of({kind: _words(listed) for kind, listed in lists.items()})
    except ValueError as error:
        raise WrongValue(str(error), REMEDY) from None


def _words(value: Any) -> Any:
    """Return a list that was given as a text with commas, on the command line; anything else as it is."""
    return [word.strip() for word in value.split(",")] if isinstance(value, str) else value


def wrong_method(method: str, options: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return problem and remedy if a published method does not have these options, or the judge has any."""
    if method == JUDGE:
        return ("the judge has no options", f"Set DEDUP_METHOD: {', '.join(METHOD_NAMES[1:])}.") if options else None
    from ...learning.methods.options import WrongOption, options_of

    try:
        options_of(method, options)
    except WrongOption as wrong:
        return str(wrong), "scrapy learn-rules --method list shows all options."
    return None


def wrong_site(sites: Mapping[str, Mode | None], groups: Mapping[str, tuple[str, ...]]) -> tuple[str, str] | None:
    """Return problem and remedy if a key of DEDUP_SITES is no site, such as ``www.example.com``, and would never apply."""
    from ...urls import site_of_url

    for name in sites:
        found = [site_of_url(f"{scheme}://{name}/", groups=groups) for scheme in ("http", "https")]
        if name not in found and name.partition(":")[0] not in groups:
            remedy = f"Write {found[0]!r}." if found[0] else 'Write a domain, such as "example.com".'
            return f"{name!r} is not a site", remedy
    return None
