"""Addresses that a site writes, joined with the URL of the page that holds them."""

from urllib.parse import urljoin

__all__ = ["joined"]


def joined(base: str, address: str) -> str:
    """Return the URL that *address*, which may be any text, leads to from the URL *base*; "" where it leads to none.

    >>> joined("http://a.test/b/", " c "), joined("http://a.test/", "http://[::1")
    ('http://a.test/b/c', '')
    """
    address = address.strip()
    try:
        return urljoin(base, address) if address else ""
    except ValueError:
        return ""
