"""URL patterns of url-matcher, by which duplicate-url-discarder says where a rule acts.

``example.com`` is the domain with its subdomains; with a path it is this host, with or without ``www.``,
and all paths that begin so; ``*`` in a path or a value is any text, ``|`` at the end of a path its end.
"""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs, urlsplit

from ...urls import SiteGroups, ValueClass, site_of_url, values_of
from ..predicates import Absent, Literal, OfClass, OneOf, Predicate
from .areas import ANY, Area, Match, matches_of
from .values import Inexpressible, query_key

__all__ = ["matches_of_pattern", "patterns_of"]

_WWW = Literal("www", optional=True)
_has_scheme = re.compile(r"([a-zA-Z][a-zA-Z0-9.+-]*:)?//").match


def matches_of_pattern(pattern: str, groups: SiteGroups) -> tuple[str, list[Match]]:
    """Return the site of a pattern, and the matches that together cover what it does.

    Raises Inexpressible.
    """
    try:
        parts = urlsplit(pattern if _has_scheme(pattern) else f"//{pattern}")
        scheme = parts.scheme.lower() or {80: "http", 443: "https"}.get(parts.port or 0, "")
        query = parse_qs(parts.query, keep_blank_values=True)
    except ValueError as error:
        raise Inexpressible(f"no pattern ({error})") from None
    if parts.fragment:
        raise Inexpressible("a fragment is no part of what rules are about")
    if "*" in parts.netloc or "|" in parts.netloc or "@" in parts.netloc:
        raise Inexpressible(f"no host is called {parts.netloc!r}")
    if scheme not in {"", "http", "https"}:
        raise Inexpressible(f"rules are about http and https, not {scheme}")
    url = f"{scheme or 'http'}://{parts.netloc}/"
    site = site_of_url(url, groups=groups)
    if not site:
        raise Inexpressible("it has no domain")
    match: Match = {key: Literal(value or "") for key, value in values_of(url, groups=groups).items() if _is_host(key)}
    if scheme:
        match["scheme"] = Literal(scheme)
    if parts.path or parts.query:
        labels = sum(key != "host.0" for key in match if _is_host(key))
        match |= {f"host.{labels + 1}": _WWW, f"host.{labels + 2}": Absent()}
    for name, values in query.items():
        match[query_key(name, decoded=True)] = _of_values(values)
    exact = parts.path.endswith("|")
    return site, [{**match, **at} for at in matches_of(parts.path.removesuffix("|"), exact=exact)]


def _is_host(key: str) -> bool:
    return key.startswith("host.")


def _of_values(values: Sequence[str]) -> Predicate:
    if "*" in values:
        return ANY
    if any("*" in value for value in values):
        raise Inexpressible("no predicate is about a part of a value")
    escaped = [value.replace("%", "%25").replace("+", "%2B") for value in values]
    return OneOf(escaped) if len(escaped) > 1 else Literal(escaped[0])


def patterns_of(
    area: Area, others: Mapping[str, Predicate], domains: Sequence[str], *, approximate: bool
) -> tuple[list[str], str]:
    """Return the patterns of an area under further predicates, and what they leave out ("": nothing).

    Raises Inexpressible.
    """
    conditions = dict(others)
    scheme = conditions.pop("scheme", None)
    if not (scheme is None or (isinstance(scheme, Literal) and not scheme.optional)):
        raise Inexpressible("the format has no such condition on the scheme")
    query = "&".join(
        _parameter(key, conditions.pop(key)) for key in [key for key in conditions if key.startswith("q.")]
    )
    labels: list[str] = []
    while isinstance(label := conditions.get(f"host.{len(labels) + 1}"), Literal) and not label.optional:
        labels.append(label.value)
        del conditions[f"host.{len(labels)}"]
    rest = [conditions.pop(f"host.{len(labels) + number}", None) for number in (1, 2)]
    if conditions:
        raise Inexpressible(f"the format has no condition on {next(iter(conditions))}")
    area.check(approximate=approximate)
    if any(char in area.text for char in "|?#;"):
        raise Inexpressible("a pattern has no way to write that path")
    if (query or any(map(str.isalpha, area.text))) and not approximate:
        raise Inexpressible("patterns do not tell upper from lower case")
    whole = area.everything and not query
    part = ""
    if rest == [None, None]:
        text = "" if whole else area.text
        part = "" if whole else "a pattern with a path or a query is of one host, with or without www."
    elif rest == [_WWW, Absent()]:
        text = area.text
    else:
        raise Inexpressible("the format has no such condition on the host")
    beginning = f"{scheme.value}://" if isinstance(scheme, Literal) else ""
    ending = text + ("" if area.below else "|") + (f"?{query}" if query else "")
    return [beginning + ".".join([*reversed(labels), domain]) + ending for domain in domains], part


def _parameter(key: str, predicate: Predicate) -> str:
    name = key[2:]
    if "[" not in name and "*" not in name:
        if predicate == OfClass(ValueClass("any")):
            return f"{name}=*"
        if isinstance(predicate, Literal | OneOf) and not predicate.optional:
            values = predicate.values if isinstance(predicate, OneOf) else (predicate.value,)
            if not any("*" in value for value in values):
                return "&".join(f"{name}={value}" for value in values)
    raise Inexpressible(f"the format has no such condition on {key}")
