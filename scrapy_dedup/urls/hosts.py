"""Hosts and sites: whose rules apply to a URL.

A site is a registrable domain with its non-default port. The list of public
suffixes is the one that tldextract brings along: nothing is ever downloaded.
"""

import ipaddress
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tldextract import TLDExtract

__all__ = ["GroupsLike", "SiteGroups", "labels", "registrable"]


#: Characters that a name in the DNS has at most; to write a longer one in Punycode may take the square of its length.
LONGEST_NAME = 255


@lru_cache(maxsize=1)
def _extractor() -> "TLDExtract":
    # Imported when the first host is looked at: tldextract imports requests.
    from tldextract import TLDExtract

    return TLDExtract(
        cache_dir=None,
        suffix_list_urls=(),
        fallback_to_snapshot=True,
        include_psl_private_domains=True,
    )


@lru_cache(maxsize=10_000)
def registrable(host: str) -> str:
    """Return the registrable domain of *host*, in lower case and Punycode.

    >>> registrable("a.b.example.co.uk"), registrable("www.me.github.io")
    ('example.co.uk', 'me.github.io')
    >>> registrable("BÜCHER.example.com.")
    'example.com'

    ``localhost`` counts as one, so ``www.localhost`` belongs to it; an IP address
    is a site by itself; under an unknown suffix it is the last two labels (the
    list's own default rule), so that ``wiki.corp`` and ``git.corp`` are two sites;
    a public suffix and a single label stand for themselves.

    >>> [registrable(host) for host in ("www.localhost", "127.0.0.1", "[::1]")]
    ['localhost', '127.0.0.1', '[::1]']
    >>> [registrable(host) for host in ("www.intranet.corp", "intranet", "co.uk")]
    ['intranet.corp', 'intranet', 'co.uk']
    """
    name = _ascii(host).rstrip(".")
    if _is_address(name) or "." not in name:
        return name
    if name.endswith(".localhost"):
        return "localhost"
    found = _extractor().extract_str(name)
    if found.suffix:
        return f"{found.domain}.{found.suffix}" if found.domain else name
    return ".".join(name.split(".")[-2:])


@lru_cache(maxsize=10_000)
def labels(host: str) -> tuple[str, ...]:
    """Return the labels of *host* left of its registrable domain, the nearest first.

    >>> labels("a.b.example.com"), labels("www.localhost"), labels("127.0.0.1")
    (('b', 'a'), ('www',), ())
    """
    name = _ascii(host).rstrip(".")
    left = name.removesuffix(registrable(host)).removesuffix(".")
    return tuple(reversed(left.split("."))) if left else ()


def _ascii(host: str) -> str:
    if host.isascii() or len(host) > LONGEST_NAME:
        return host.lower()
    try:
        return host.encode("idna").decode().lower()
    except UnicodeError:
        return host.lower()


def _is_address(name: str) -> bool:
    if name.startswith("["):
        return True
    if not name[-1:].isdigit():
        return False
    try:
        ipaddress.IPv4Address(name)
    except ValueError:
        return False
    return True


class SiteGroups:
    """Domains that are one site (``DEDUP_SITE_GROUPS``): name -> registrable domains.

    A domain may be given with its port (``localhost:8001``) where that matters.

    >>> groups = SiteGroups({"shop": ["shop.de", "shop.fr"]})
    >>> groups.site("shop.fr", "8080")
    ('shop:8080', 'shop.fr:8080')

    Raises ValueError when a domain stands in two groups.
    """

    __slots__ = ("_hash", "_key", "_name_of", "domains")

    def __init__(self, groups: Mapping[str, Sequence[str]]) -> None:
        self.domains: dict[str, tuple[str, ...]] = {
            name: tuple(_ascii(domain) for domain in domains) for name, domains in groups.items()
        }
        self._name_of: dict[str, str] = {}
        for name, domains in self.domains.items():
            for domain in domains:
                if self._name_of.setdefault(domain, name) != name:
                    raise ValueError(f"{domain} stands in two site groups, {self._name_of[domain]!r} and {name!r}")
        self._key = tuple(sorted(self.domains.items()))
        self._hash = hash(self._key)  # asked for with each URL

    @classmethod
    def of(cls, groups: "GroupsLike") -> "SiteGroups":
        """Return *groups* as SiteGroups; None is no groups."""
        if isinstance(groups, cls):
            return groups
        if not groups:
            return _NO_GROUPS
        assert isinstance(groups, Mapping)
        return _made_groups(tuple((name, tuple(domains)) for name, domains in groups.items()))

    def site(self, domain: str, port: str = "") -> tuple[str, str]:
        """Return (site, domain of the site group or "") of a registrable domain.

        The domain is given with its port where it is a site of its own.
        """
        plain = f"{domain}:{port}" if port else domain
        if not self._name_of:
            return plain, ""
        name = self._name_of.get(plain)
        if name is not None:
            return name, plain
        name = self._name_of.get(domain)
        if name is not None:
            return (f"{name}:{port}" if port else name), plain
        return plain, ""

    def __bool__(self) -> bool:
        return bool(self._name_of)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SiteGroups) and self._key == other._key

    def __hash__(self) -> int:
        return self._hash

    def __repr__(self) -> str:
        return f"SiteGroups({self.domains!r})"


GroupsLike = SiteGroups | Mapping[str, Sequence[str]] | None
_NO_GROUPS = SiteGroups({})


@lru_cache(maxsize=100)
def _made_groups(groups: tuple[tuple[str, tuple[str, ...]], ...]) -> SiteGroups:
    return SiteGroups(dict(groups))
