"""What stands before the path of a URL: scheme, host and port, as keys and values."""

from dataclasses import dataclass
from functools import lru_cache

from .hosts import SiteGroups, labels, registrable

__all__ = ["Origin", "origin_of"]


@dataclass(frozen=True, slots=True)
class Origin:
    """An origin in normal form, taken apart.

    ``labels`` are the host's labels left of ``domain``, the nearest first;
    ``domain`` is the registrable domain with the port where that is no default;
    ``values`` are the keys ``scheme``, ``host.1``, ``host.2``.. and, in a site group,
    ``host.0``. ``site`` is "" for a text that has no origin.
    """

    text: str
    scheme: str
    userinfo: str
    labels: tuple[str, ...]
    domain: str
    site: str
    group: tuple[str, ...]
    values: dict[str, str]

    def compose(self, scheme: str, labels: tuple[str, ...], domain: str) -> str:
        """Return the text of an origin with these parts and this one's user name."""
        host = ".".join([*reversed(labels), domain])
        return f"{scheme}://{self.userinfo}{host}"


@lru_cache(maxsize=20_000)
def origin_of(text: str, groups: SiteGroups) -> Origin:
    """Return the Origin of *text*, the first of :func:`.normal_parts`.

    >>> origin = origin_of("https://a.www.example.com:8443", SiteGroups({}))
    >>> origin.site, origin.values
    ('example.com:8443', {'scheme': 'https', 'host.1': 'www', 'host.2': 'a'})
    """
    scheme, mark, netloc = text.partition("://")
    if not mark:
        return Origin(text, "", "", (), "", "", (), {})
    userinfo, at, hostport = netloc.rpartition("@")
    host, colon, port = hostport.rpartition(":")
    if not colon or not port.isdigit():  # no port, or the ":" of an IPv6 address
        host, port = hostport, ""
    domain, left = registrable(host), labels(host)
    if ".".join([*reversed(left), domain]) != host:
        # A trailing dot, an empty label: the host as it is, in one piece.
        domain, left = host, ()
        site, grouped = groups.site(registrable(host), port)
    else:
        site, grouped = groups.site(domain, port)
    if port:
        domain = f"{domain}:{port}"
    values = {"scheme": scheme}
    if grouped:
        values["host.0"] = domain
    for number, label in enumerate(left, 1):
        values[f"host.{number}"] = label
    group = groups.domains.get(site.partition(":")[0], ()) if grouped else ()
    return Origin(text, scheme, userinfo + at, left, domain, site, group, values)
