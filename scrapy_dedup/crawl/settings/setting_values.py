"""Settings: what one is, and from its value, as a file or the command line gives it, to the value that is used."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite, nan
from typing import Any, TypeVar

from ...learning.choices import METHOD_NAMES
from ...learning.evidence.user_names import REMEDY, Names
from ...masks.token_changes import Options


@dataclass(frozen=True, slots=True)
class Setting:
    """A setting as a user writes it."""

    name: str
    default: Any
    #: From the value that a settings file or the command line gives to the one that is used. Raises WrongValue.
    read: Callable[[Any], Any] = field(repr=False)
    #: In words.
    type: str
    help: str


def setting(default: Any, read: Callable[[Any], Any], type: str, help: str) -> Any:  # noqa: A002 - as argparse calls them
    """Return the field of a setting (see :class:`Setting`)."""
    return field(metadata={"default": default, "read": read, "type": type, "help": help})


class Mode(str, Enum):
    """How far the plug-in may go (``DEDUP_MODE``)."""

    #: Record what is seen.
    OBSERVE = "observe"
    #: Also count the requests that would be filtered.
    SHADOW = "shadow"
    #: Discard them.
    ACTIVE = "active"

    __str__ = str.__str__


MODES = tuple(mode.value for mode in Mode)

N = TypeVar("N", int, float)

#: In a URL: what is before the password, and the password.
_PASSWORD = re.compile(r"(://[^\s:/@]*:)\S*@|(password=)[^&\s]*")


class WrongValue(Exception):
    """A value that its setting cannot have: what is wrong, and what would be right."""

    def __init__(self, problem: str, remedy: str = "") -> None:
        self.problem = problem
        self.remedy = remedy
        super().__init__(problem, remedy)


class DedupSettingError(ValueError):
    """A setting has a value that it cannot have."""

    def __init__(self, name: str, value: object, problem: str, remedy: str) -> None:
        self.name = name
        self.value = value
        self.problem = problem
        self.remedy = remedy
        shown = _PASSWORD.sub(lambda found: f"{found[1]}***@" if found[1] else f"{found[2]}***", repr(value))
        if len(shown) > 80:
            shown = shown[:77] + "..."
        super().__init__(f"{name} is {shown}: {problem}. {remedy}" if remedy else f"{name} is {shown}: {problem}.")


_TRUTH = {"true": True, "1": True, "false": False, "0": False}
_SCOPE = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]*")


def anything(value: Any) -> Any:
    """Return the value as it is."""
    return value


def truth(value: Any) -> bool:
    """Return a truth value; 0, 1 and their texts count, as for Scrapy."""
    known = _TRUTH.get(str(value).lower()) if isinstance(value, bool | int | str) else None
    if known is None:
        raise WrongValue("it must be True or False")
    return known


def one_of(*choices: str) -> Callable[[Any], str]:
    """Return what reads a value that is one of these texts."""

    def read(value: Any) -> str:
        if value not in choices:
            raise WrongValue(f"it must be {_alternatives(choices)}")
        return str(value)

    return read


def mode(value: Any) -> Mode:
    """Return the mode of that name."""
    return Mode(one_of(*MODES)(value))


def whole_number(least: int) -> Callable[[Any], int]:
    """Return what reads a whole number of at least *least*."""
    read = number(f"a whole number of at least {least}", lambda n: n >= least and n == int(n))
    return lambda value: int(read(value))


def number(wanted: str, fits: Callable[[float], bool], remedy: str = "") -> Callable[[Any], float]:
    """Return what reads a number, given as such or as a text, and none but those *wanted*."""

    def read(value: Any) -> float:
        try:
            found = float(value) if isinstance(value, int | float | str) and not isinstance(value, bool) else nan
        except (ValueError, OverflowError):
            found = nan
        if not isfinite(found) or not fits(found):
            raise WrongValue(f"it must be {wanted}", remedy)
        return found

    return read


positive_number = number("a number above 0", lambda found: found > 0)
number_or_none_at_all = number("a number of at least 0", lambda found: found >= 0, "0 switches it off.")
share_between = number("a number between 0 and 1", lambda found: 0 < found < 1, "0.001 is one page of a thousand.")
share = number("a number from 0 to 1", lambda found: 0 <= found <= 1, "0.02 is two of a hundred.")
share_above_none = number("a number above 0, and 1 at most", lambda found: 0 < found <= 1, "0.5 is one of two.")


def or_no_limit(read: Callable[[Any], N]) -> Callable[[Any], N | None]:
    """Return what reads None, too, for no limit."""

    def read_or_none(value: Any) -> N | None:
        try:
            return None if value in (None, "", "None", "none") else read(value)
        except WrongValue as wrong:
            raise WrongValue(f"{wrong.problem}, or None for no limit") from None

    return read_or_none


def band(value: Any) -> tuple[float, float]:
    """Return two numbers from 0 to 1, the smaller one first."""
    wanted, remedy = "two numbers from 0 to 1, the smaller one first", "The default is (0.1, 0.9)."
    ends = value.split(",") if isinstance(value, str) else value
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise WrongValue(f"it must be {wanted}", remedy)
    least, most = map(number(wanted, lambda found: 0 <= found <= 1, remedy), ends)
    if least >= most:
        raise WrongValue(f"it must be {wanted}", remedy)
    return least, most


def sites(value: Any) -> dict[str, Mode | None]:
    """Return site -> mode, None for False."""
    remedy = 'Write a dictionary such as {"example.com": "shadow", "example.org": False}.'
    found: dict[str, Mode | None] = {}
    for site, site_mode in mapping(value, remedy).items():
        if not isinstance(site, str) or not site:
            raise WrongValue(f"{site!r} is not a site", remedy)
        try:
            found[site] = None if site_mode is False else mode(site_mode)
        except WrongValue:
            raise WrongValue(f"{site!r} has {site_mode!r}, not {_alternatives(MODES)} or False", remedy) from None
    return found


def site_groups(value: Any) -> dict[str, tuple[str, ...]]:
    """Return group -> domains."""
    from ...urls import SiteGroups

    remedy = 'Write a dictionary such as {"shop": ["shop.example", "shop.test"]}.'
    found: dict[str, tuple[str, ...]] = {}
    for name, domains in mapping(value, remedy).items():
        if not isinstance(name, str) or not re.fullmatch(r"[\w.\-]+", name):
            raise WrongValue(f"{name!r} is not a name of letters, digits, '.', '-' and '_'", remedy)
        if isinstance(domains, str) or not isinstance(domains, Sequence | set | frozenset) or not domains:
            raise WrongValue(f"{name!r} has {domains!r}, not a list of domains", remedy)
        for domain in domains:
            _check_domain(domain, remedy)
        found[name] = tuple(domains)
    try:
        SiteGroups(found)
    except ValueError as error:
        raise WrongValue(str(error), remedy) from None
    return found


def _check_domain(domain: Any, remedy: str) -> None:
    from ...urls import registrable

    if not isinstance(domain, str) or not domain or "/" in domain:
        raise WrongValue(f"{domain!r} is not a domain", remedy)
    host = domain if domain.startswith("[") else domain.partition(":")[0]
    if registrable(host) != registrable(registrable(host)) or len(registrable(host)) < len(host.rstrip(".")):
        raise WrongValue(f"{domain!r} is not a registrable domain", f"Write {registrable(host)!r}.")


def content_fields(value: Any) -> dict[str, str]:
    """Return field -> "html" or "text"."""
    remedy = 'Write a dictionary such as {"body": "html", "reviews.text": "text"}.'
    found: dict[str, str] = {}
    for name, kind in mapping(value, remedy).items():
        if not isinstance(name, str) or not all(name.split(".")):
            raise WrongValue(f"{name!r} is not the name of a field", remedy)
        if kind not in ("html", "text"):
            raise WrongValue(f'{name!r} has {kind!r}, not "html" or "text"', remedy)
        found[name] = str(kind)
    return found


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


def transient_options(value: Any) -> Options:
    """Return the options of the transient-content document's method."""
    try:
        return Options.of(mapping(value, 'Write a dictionary such as {"threshold": 0.5}.'))
    except ValueError as error:
        raise WrongValue(str(error), "What is left out is as in the document.") from None


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


def scope(value: Any) -> str:
    """Return the name of a scope, which is also that of a folder."""
    if value is None or value == "":
        return ""
    if not isinstance(value, str) or not _SCOPE.fullmatch(value) or value.endswith((".", ".toml")):
        raise WrongValue("it must be a name of letters, digits, '-', '_' and '.', with a letter or digit first")
    return value


def mapping(value: Any, remedy: str) -> Mapping[Any, Any]:
    """Return a dictionary, which the command line gives as JSON. Raises WrongValue."""
    if value is None:
        return {}
    if isinstance(value, str):  # from the command line
        try:
            value = json.loads(value)
        except ValueError:
            raise WrongValue("it is not JSON", remedy) from None
    if isinstance(value, Mapping):
        return value
    try:
        return dict(value)  # Scrapy makes BaseSettings of a dictionary: a mapping, or an iterable of pairs
    except (TypeError, ValueError):
        raise WrongValue("it must be a dictionary", remedy) from None


def _alternatives(choices: Sequence[str]) -> str:
    quoted = [f'"{choice}"' for choice in choices]
    return f"{', '.join(quoted[:-1])} or {quoted[-1]}"
