"""References: values of URLs that are addresses or names of pages of the site, in any spelling.

What a log-in page is told to return to is a page: its address (``/k/apple``, ``http%3A%2F%2F..``, also in base64, or relative
to the page) or its name, with ``_`` or ``+`` for a space and in upper or lower case.
"""

import base64
import binascii
import re
from collections.abc import Iterator, Sequence
from functools import cached_property
from urllib.parse import unquote

import numpy as np
import numpy.typing as npt

from ...urls.joining import joined
from ..data.frame import NEVER_KEPT, Frame
from ..data.url_table import RARE
from ..evidence.arrays import ABSENT, Codes, Flags, Rows

MOST_DECODED = 3
"""Times that a value is decoded: addresses that hold addresses are encoded again."""
_base64 = re.compile(r"[A-Za-z0-9+/_-]{12,}={0,2}").fullmatch
_number = re.compile(r"[0-9.,:-]*").fullmatch


def decoded(value: str) -> str:
    """Return a value without percent encoding and base64.

    >>> decoded("%252Fk%252Fapple"), decoded("aHR0cDovL3Nob3AuZXhhbXBsZS9rLzU="), decoded("Main+Page")
    ('/k/apple', 'http://shop.example/k/5', 'Main Page')
    """
    for _ in range(MOST_DECODED):
        plain = unquote(value) if "%" in value else _of_base64(value)
        if plain == value:
            break
        value = plain
    return value.replace("+", " ")


def _of_base64(value: str) -> str:
    """Return the decoded text of a base64 value that is an address; any other value unchanged."""
    text = value.rstrip("=")
    if not _base64(value) or len(text) % 4 == 1:
        return value
    try:
        plain = base64.b64decode(text + "=" * (-len(text) % 4), b"-_" if set("-_") & set(text) else None, validate=True)
        found = plain.decode("ascii")
    except (binascii.Error, UnicodeDecodeError):
        return value
    return found if found.isprintable() and is_address(found) else value


def is_address(text: str) -> bool:
    """Return whether a decoded value looks like an address: a path, a query, or a whole URL.

    >>> is_address("/k/apple"), is_address("?id=5"), is_address("Main Page")
    (True, True, False)
    """
    return "/" in text or "?" in text


def name_in(text: str) -> str:
    """Return a decoded name in one spelling; "" for numbers, which stand everywhere.

    >>> name_in("Main_Page") == name_in("main page"), name_in("175")
    (True, '')
    """
    name = " ".join(text.replace("_", " ").casefold().strip(" /").split())
    return "" if _number(name) else name


def _address(url: str) -> str:
    """Return path and query of a URL in one spelling, the parameters in order."""
    _, _, rest = url.partition("://")
    path, _, query = rest.partition("/")[2].partition("#")[0].partition("?")
    parts = sorted(decoded(part) for part in query.split("&") if part)
    return f"{name_of_path(path)}?{'&'.join(parts).casefold()}"


def name_of_path(path: str) -> str:
    """Return a path in one spelling."""
    return decoded(path).replace("_", " ").casefold().strip(" /")


class References:
    """The addresses and names of the pages of a frame; what it finds is remembered.

    *shells* are rows whose content different pages have in common: their values are names of no page.
    """

    def __init__(self, frame: Frame, shells: Flags | None = None) -> None:
        self._frame = frame
        self._pages: Flags = np.ones(len(frame), dtype=np.bool_) if shells is None else ~shells
        self._names: dict[int, int] = {}

    @cached_property
    def _addresses(self) -> dict[str, set[int]]:
        """Address -> contents, two at most."""
        found: dict[str, set[int]] = {}
        urls, frame = self._frame.table.urls, self._frame
        for row, content in zip(frame.rows.tolist(), frame.content.tolist(), strict=True):
            contents = found.setdefault(_address(urls[row]), set())
            if len(contents) < 2:
                contents.add(content)
        return found

    @cached_property
    def _name_of_code(self) -> npt.NDArray[np.int64]:
        """The name number of each value of the vocabulary; 0 for values that are no name."""
        numbers: dict[str, int] = {"": 0}
        vocabulary = self._frame.table.vocabulary
        found = np.zeros(len(vocabulary), dtype=np.int64)
        for code, text in enumerate(vocabulary):
            plain = decoded(text) if "%" in text or "+" in text else text
            found[code] = numbers.setdefault(name_in(plain), len(numbers))
        return found

    def has_page(self, address: str, content: int) -> bool:
        """Return whether an absolute URL is that of a page other than *content*."""
        return bool(self._addresses.get(_address(address), set()) - {content})

    def addressed(self, texts: Sequence[str], bases: Sequence[str], content: int) -> Flags:
        """Return which decoded values are addresses of pages other than *content*; *bases* are the URLs that hold them."""
        return np.array(
            [
                is_address(text) and any(self.has_page(each, content) for each in _absolute(base, text))
                for text, base in zip(texts, bases, strict=True)
            ],
            dtype=np.bool_,
        )

    def named(self, key: str, values: Codes, content: int) -> Flags:
        """Return which values of a key stand in URLs of pages other than *content*: as names, or under the same key."""
        frame, names = self._frame, self._name_of_code
        outside = self._pages & (frame.content != content)
        found: Flags = np.isin(values, frame.columns[key][outside])
        wanted = names[values]
        for other, codes in frame.columns.items():
            if other not in NEVER_KEPT and other != RARE:
                there = np.unique(codes[outside])
                found |= np.isin(wanted, names[there[there != ABSENT]]) & (wanted != 0)
        return found


def _absolute(base: str, text: str) -> Iterator[str]:
    """Yield the URLs that an address may stand for: beside the URL that holds it, and from the root of the site."""
    for address in (text, "/" + text.lstrip("/")):
        if url := joined(base, address):
            yield url


def without_segment(url: str, segment: str) -> str:
    """Return a URL whose path lacks a segment, the first of its name.

    >>> without_segment("http://a.example/login/k/apple?x=1", "login")
    'http://a.example/k/apple?x=1'
    """
    scheme, _, rest = url.partition("://")
    path, mark, query = rest.partition("?")
    host, *parts = path.split("/")
    if segment in parts:
        parts.remove(segment)
    return f"{scheme}://{'/'.join((host, *parts))}{mark}{query}"


def path_rows(frame: Frame) -> Rows:
    """Return the number of each row's path, host and scheme left out."""
    keys = [key for key in frame.columns if key.startswith("path.") or key == "ext"]
    kept = frame.kept_hashes({}, without=[key for key in frame.columns if key not in keys])
    return np.unique(kept, return_inverse=True)[1].reshape(-1)
