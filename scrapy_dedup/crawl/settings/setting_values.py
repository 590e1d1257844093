"""From the value of a setting, as a file or the command line gives it, to the value that is used."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from math import isfinite
from typing import Any

from ...learning.choices import LEARNER_NAMES


class Mode(str, Enum):
    """How far the plug-in may go (``DEDUP_MODE``)."""

    #: Record what is seen.
    OBSERVE = "observe"
    #: Also count the requests that would be discarded.
    SHADOW = "shadow"
    #: Discard them.
    ACTIVE = "active"

    __str__ = str.__str__


#: In a URL: what is before the password, and the password.
_PASSWORD = re.compile(r"(://[^\s:/@]*:)\S*@")


@dataclass(frozen=True, slots=True)
class Setting:
    """One row of the table."""

    name: str
    #: What a value is, in words.
    type: str
    default: Any
    #: One line that says what it is for.
    help: str
    #: From the value as it was set to the value as it is used; raises WrongValue.
    read: Callable[[Any], Any] = field(repr=False)


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
        shown = _PASSWORD.sub(r"\1***@", repr(value))
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


def mode(value: Any) -> Mode:
    """Return the mode of that name."""
    try:
        return Mode(value)
    except ValueError:
        raise WrongValue(f"it must be {_alternatives(Mode)}") from None


def learn(value: Any) -> str:
    """Return "live", "close" or "off"."""
    if value not in ("live", "close", "off"):
        raise WrongValue('it must be "live", "close" or "off"')
    return str(value)


def learners(value: Any) -> tuple[str, ...] | None:
    """Return the names of learners, None for all."""
    if _is_none(value):
        return None
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not names or not all(isinstance(name, str) for name in names):
        raise WrongValue("it must be a list of names of learners, or None for all")
    names = tuple(name.strip() for name in names)
    unknown = [name for name in names if name not in LEARNER_NAMES]
    if unknown:
        raise WrongValue(f"there is no learner {unknown[0]!r}", f"There are {', '.join(LEARNER_NAMES)}.")
    return names


def integer(value: Any) -> int:
    """Return a whole number of at least 0."""
    number = _number(value, "it must be a whole number of at least 0")
    if number < 0 or number != int(number):
        raise WrongValue("it must be a whole number of at least 0")
    return int(number)


def positive_integer(value: Any) -> int:
    """Return a whole number of at least 1."""
    number = _number(value, "it must be a whole number of at least 1")
    if number < 1 or number != int(number):
        raise WrongValue("it must be a whole number of at least 1")
    return int(number)


def positive_integer_or_none(value: Any) -> int | None:
    """Return a whole number of at least 1, or None for no limit."""
    try:
        return None if _is_none(value) else positive_integer(value)
    except WrongValue:
        raise WrongValue("it must be a whole number of at least 1, or None for no limit") from None


def positive_number(value: Any) -> float:
    """Return a number above 0."""
    number = _number(value, "it must be a number above 0")
    if number <= 0:
        raise WrongValue("it must be a number above 0")
    return number


def positive_number_or_none(value: Any) -> float | None:
    """Return a number above 0, or None for no limit."""
    try:
        return None if _is_none(value) else positive_number(value)
    except WrongValue:
        raise WrongValue("it must be a number above 0, or None for no limit") from None


def share(value: Any) -> float:
    """Return a number between 0 and 1, both left out."""
    number = _number(value, "it must be a number between 0 and 1")
    if not 0 < number < 1:
        raise WrongValue("it must be a number between 0 and 1", "0.001 is one page of a thousand.")
    return number


def share_or_none(value: Any) -> float:
    """Return a number from 0 to 1, both included."""
    number = _number(value, "it must be a number from 0 to 1")
    if not 0 <= number <= 1:
        raise WrongValue("it must be a number from 0 to 1", "0.02 is two of a hundred.")
    return number


def share_above_none(value: Any) -> float:
    """Return a number above 0, and 1 at most."""
    number = _number(value, "it must be a number above 0, and 1 at most")
    if not 0 < number <= 1:
        raise WrongValue("it must be a number above 0, and 1 at most", "0.5 is one of two.")
    return number


def band(value: Any) -> tuple[float, float]:
    """Return two numbers from 0 to 1, the smaller one first."""
    problem = "it must be two numbers from 0 to 1, the smaller one first"
    ends = value.split(",") if isinstance(value, str) else value
    if not isinstance(ends, list | tuple) or len(ends) != 2:
        raise WrongValue(problem, "The default is (0.1, 0.9).")
    least, most = (_number(end, problem) for end in ends)
    if not 0 <= least < most <= 1:
        raise WrongValue(problem, "The default is (0.1, 0.9).")
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
            raise WrongValue(f"{site!r} has {site_mode!r}, not {_alternatives(Mode)} or False", remedy) from None
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


def strip(value: Any) -> str:
    """Return "remove", "mark" or "off"."""
    if value not in ("remove", "mark", "off"):
        raise WrongValue('it must be "remove", "mark" or "off"')
    return str(value)


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


def _number(value: Any, problem: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise WrongValue(problem)
    try:
        number = float(value)
    except (ValueError, OverflowError):
        raise WrongValue(problem) from None
    if not isfinite(number):
        raise WrongValue(problem)
    return number


def _is_none(value: Any) -> bool:
    return value is None or value in ("", "None", "none")


def _alternatives(enum: type[Enum]) -> str:
    names = [f'"{member.value}"' for member in enum]
    return f"{', '.join(names[:-1])} or {names[-1]}"
