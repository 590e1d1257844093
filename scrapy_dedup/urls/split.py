"""A URL cut into its pieces as they stand, nothing changed and nothing lost."""

import re
from dataclasses import dataclass

from .paths import path_key, split_extension
from .query_paths import SEGMENT_KEY, is_path

__all__ = ["Entry", "entries_of"]

# RFC 3986, appendix B, for any text: only a scheme is asked to look like one.
_split = re.compile(
    r"(?:([A-Za-z][A-Za-z0-9+.\-]*)(:))?(?:(//)([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?\Z",
    re.DOTALL,
).match
_slash = re.compile(r"/|%2[Ff]")
_is_pair = re.compile(r"[A-Za-z0-9_.\-]+=").match
_is_part = re.compile(r"(?:[\w.\-\[\]]|%5[BDbd])+=", re.ASCII).match


@dataclass(frozen=True, slots=True)
class Entry:
    """A piece of a URL: what stands before it (``&``), its key, its value, its text.

    ``value`` is None where the piece has no ``=``. Values are as the URL spells them.
    Keys beside those of the values: ``userinfo``, ``host``, ``port``, ``fragment``, and
    "" for what has no key (an empty query piece, a trailing slash).
    """

    lead: str
    key: str
    value: str | None
    text: str


def entries_of(url: str) -> tuple[Entry, ...]:
    """Return the pieces of *url*, any text; joined, they are the text again.

    >>> for entry in entries_of("http://u:p@a.b:80/x=1/y;z?&q=&r#f"):
    ...     print(entry.lead, entry.key, entry.value, entry.text)
     scheme http http
    :// userinfo u:p u:p
    @ host a.b a.b
    : port 80 80
    / s.x 1 x=1
    / path.0 y y
    ; m.z None z
    ?  None
    & q.q  q=
    & q.r None r
    # fragment f f
    """
    match = _split(url)
    assert match is not None  # every part may be empty
    scheme, colon, slashes, netloc, path, query, fragment = match.groups()
    entries: list[Entry] = []
    lead = ""
    if colon:
        entries.append(Entry("", "scheme", scheme, scheme))
        lead = ":"
    if slashes:
        _netloc_entries(lead + "//", netloc, entries)
        lead = ""
    _path_entries(lead, path, entries)
    if query is not None:
        _query_entries(query, entries)
    if fragment is not None:
        entries.append(Entry("#", "fragment", fragment, fragment))
    return tuple(entries)


def _netloc_entries(lead: str, netloc: str, entries: list[Entry]) -> None:
    userinfo, at, hostport = netloc.rpartition("@")
    if at:
        entries.append(Entry(lead, "userinfo", userinfo, userinfo))
        lead = "@"
    host, colon, port = hostport.rpartition(":")
    if not colon or "]" in port:
        host, colon, port = hostport, "", ""
    entries.append(Entry(lead, "host", host, host))
    if colon:
        entries.append(Entry(":", "port", port, port))


def _path_entries(lead: str, path: str, entries: list[Entry]) -> None:
    first, *texts = path.split("/")
    if first or lead:
        entries.append(Entry(lead, "", first, first))
    heads = [text.partition(";")[0] for text in texts]
    end = len(texts) - 1
    positional = [n for n, head in enumerate(heads) if not _is_pair(head) and (n < end or texts[n])]
    last = positional[-1] if positional else -1
    position = 0
    for number, text in enumerate(texts):
        head, *params = text.split(";")
        pair = _is_pair(head)
        if pair:
            key, value = "s." + head[: pair.end() - 1], head[pair.end() :]
            entries.append(Entry("/", key, value, head))
        elif number == end and not text:
            entries.append(Entry("/", "path.trail" if number else "", "/", ""))
        else:
            stem, extension = split_extension(head) if number == last else (head, None)
            entries.append(Entry("/", path_key(position), stem, stem))
            if extension is not None:
                entries.append(Entry(".", "ext", extension, extension))
            position += 1
        for param in params:
            name, mark, value = param.partition("=")
            entries.append(Entry(";", "m." + name, value if mark else None, param))


def _query_entries(query: str, entries: list[Entry]) -> None:
    lead = "?"
    path = False
    for piece in query.split("&"):
        parts = piece.split(";")
        if len(parts) > 1 and not all(map(_is_part, parts)):
            parts = [piece]
        for part in parts:
            name, mark, value = part.partition("=")
            if not path and not value and is_path(name):
                path = True
                slashes = ["", *_slash.findall(name)]
                for number, (slash, text) in enumerate(zip(slashes, _slash.split(name), strict=True)):
                    end = mark if number == len(slashes) - 1 else ""
                    entries.append(Entry(slash or lead, f"{SEGMENT_KEY}{number}", text, text + end))
                lead = ";"
                continue
            key = "q." + name if part else ""
            entries.append(Entry(lead, key, value if mark else None, part))
            lead = ";"
        lead = "&"
