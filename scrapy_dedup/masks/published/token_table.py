"""Token tables: the "tokens data structure" of one version of a page, and its stored form.

A table holds what the document's method looks at and nothing else: where each token stands in the tree of the page, and
a fingerprint of what it says. So a store keeps tables and not the HTML: nobody can read a token or a script
in it, and a learning that compares a page again need not parse it again.

The stored form is a zlib stream of text in UTF-8, columns joined by NUL (numbers by spaces), and the different
fingerprints after it, 8 bytes each, little-endian, in the order in which they are met.
"""

import zlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from struct import error as StructError
from struct import pack, unpack

from xxhash import xxh3_64_intdigest

from ...content.tokenizer.markup import HEADINGS, SPACE
from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token, tokens
from ...content.versions import packed_version, with_table


class Role(IntEnum):
    """What an entry is."""

    ROOT = 0
    """It roots a subtree."""
    CLOSE = 1
    """It is an end tag, which roots nothing."""
    CUT = 2
    """It is too deep for its path to be named."""


_COLUMNS = 6
_MAX_SIZE = 1 << 28
"""Bytes of a table before compression; more is damage."""


@dataclass(frozen=True, slots=True)
class TokenTable:
    """A version of a page, with an entry for each token.

    Texts end at line ends, and blank ones have no entry, as in the document's example.
    """

    #: For each entry the entry of the open tag in which it stands, -1 at the top.
    parents: tuple[int, ...]
    #: For each entry the entry of the end tag that closes it; -1 where it is no open tag, or never closed.
    ends: tuple[int, ...]
    #: For each entry its fingerprint (64 bits). Of a tag all of its text counts, of a text all but white space around it.
    fingerprints: tuple[int, ...]
    #: For each entry the number of the path that it counts for, -1 for none: with its own name for a tag, else of where
    #: it stands.
    nodes: tuple[int, ...]
    #: For each entry the number of its Role.
    roles: tuple[int, ...]
    #: For each path the number of the path above it, which is less, or -1, and the last name.
    names: tuple[tuple[int, str], ...]
    #: The tokens themselves; none in a table that was stored.
    tokens: tuple[Token, ...] = ()

    def __len__(self) -> int:
        """Return the number of entries."""
        return len(self.fingerprints)

    def path(self, node: int) -> str:
        """Return the path of a number, "" for -1."""
        names = []
        while node >= 0:
            node, name = self.names[node]
            names.append(name)
        return "/".join(reversed(names))


def _is_cut(token: Token) -> bool:
    """Return whether the token stands so deep that its path does not name all open tags."""
    return token.depth > (token.path.count("/") + 1 if token.path else 0)


def token_table(html: str) -> TokenTable:
    """Return the token table of one version (paragraph "The data structure generator 130 can generate")."""
    entries: list[Token] = []
    return _table(html, tokens(html, lines=True), entries)


def _table(html: str, found: Iterable[Token], entries: list[Token] | None = None) -> TokenTable:
    """Return the table of some tokens, which are kept if they are given a place in *entries*."""
    parents: list[int] = []
    ends: list[int] = []
    fingerprints: list[int] = []
    nodes: list[int] = []
    roles: list[int] = []
    # Paths as a tree, since a hostile page has as many long ones as it has tags.
    known: dict[tuple[int, str], int] = {}
    entry_of = {-1: -1}
    opened: dict[int, str] = {}
    bases = {-1: -1}  # open entry -> the path of what in it is too deep
    for index, token in enumerate(found):
        kind = token.kind
        written = html[token.start : token.end]
        if kind in (TokenKind.TEXT, TokenKind.RAW):
            written = written.strip(SPACE)
            if not written:
                continue
        entry, parent = len(parents), entry_of[token.parent]
        cut = _is_cut(token)
        node = above = nodes[parent] if parent >= 0 else -1
        if cut:
            node = bases[parent]
        elif kind in (TokenKind.OPEN, TokenKind.EMPTY):
            node = known.setdefault((above, token.name), len(known))
        if kind is TokenKind.OPEN:
            entry_of[index] = entry
            opened[entry] = token.name
            bases[entry] = node if cut else above
        elif kind is TokenKind.CLOSE and parent >= 0 and _closes(token.name, opened[parent]):
            ends[parent] = entry
        parents.append(parent)
        ends.append(-1)
        fingerprints.append(xxh3_64_intdigest(written.encode("utf-8", "surrogatepass")))
        nodes.append(node)
        role = Role.CLOSE if kind is TokenKind.CLOSE else Role.CUT if cut else Role.ROOT
        roles.append(role.value)
        if entries is not None:
            entries.append(token)
    columns = tuple(parents), tuple(ends), tuple(fingerprints), tuple(nodes), tuple(roles)
    return TokenTable(*columns, tuple(known), tuple(entries or ()))


def _closes(name: str, opened: str) -> bool:
    """Return whether an end tag found in the element *opened* is its own, not a stray one."""
    return name == opened or (name in HEADINGS and opened in HEADINGS)


def packed_with_table(html: str) -> bytes:
    """Return the stored form of the version that a page is of, with its table."""
    return with_table(packed_version(html), packed_table(html))


def packed_table(html: str) -> bytes:
    """Return the stored form of the table of a page."""
    # The tokens go one by one: of a long page they would take more room than all else.
    return _packed(_table(html, tokens(html, lines=True)))


def _packed(table: TokenTable) -> bytes:
    numbers: dict[int, int] = {}
    prints = [numbers.setdefault(each, len(numbers)) for each in table.fingerprints]
    columns = (
        # As steps, which are small, and the same for tokens that stand alike.
        [entry - parent for entry, parent in enumerate(table.parents)],
        [end - entry if end >= 0 else 0 for entry, end in enumerate(table.ends)],
        prints,
        table.nodes,
        table.roles,
        [node - above for node, (above, _) in enumerate(table.names)],
    )
    fields = [*[" ".join(map(str, column)) for column in columns], *[name for _, name in table.names]]
    text = "\0".join(fields).encode("utf-8", "surrogatepass")
    return zlib.compress(pack("<I", len(text)) + text + pack(f"<{len(numbers)}Q", *numbers), 1)


def unpacked_table(data: bytes) -> TokenTable:
    """Return the table stored as *data*, without its tokens. Raises ValueError where it is damaged."""
    try:
        return _unpacked(data)
    except (zlib.error, StructError, ValueError, LookupError) as error:
        raise ValueError(f"damaged token table: {error}") from error


def _unpacked(data: bytes) -> TokenTable:
    reader = zlib.decompressobj()
    inflated = reader.decompress(data, _MAX_SIZE)
    if not reader.eof or reader.unused_data:
        raise ValueError("cut off, too long, or followed by something else.")
    (length,) = unpack("<I", inflated[:4])
    text, prints = inflated[4 : 4 + length], inflated[4 + length :]
    different = unpack(f"<{len(prints) // 8}Q", prints)
    fields = text.decode("utf-8", "surrogatepass").split("\0")
    ups, ends, numbers, nodes, roles, steps = (tuple(map(int, field.split())) for field in fields[:_COLUMNS])
    names = fields[_COLUMNS:]
    if not _within(numbers, 0, len(different)):
        raise ValueError("a fingerprint is missing.")
    table = TokenTable(
        tuple([entry - up for entry, up in enumerate(ups)]),
        tuple([entry + step if step else -1 for entry, step in enumerate(ends)]),
        tuple([different[number] for number in numbers]),
        nodes,
        roles,
        tuple([(node - step, name) for node, (step, name) in enumerate(zip(steps, names, strict=True))]),
    )
    _check(table)
    return table


def _check(table: TokenTable) -> None:
    """Raise ValueError unless each number of a table names an entry or a path that it may name."""
    size = len(table)
    if not len(table.parents) == len(table.ends) == len(table.nodes) == len(table.roles) == size:
        raise ValueError("numbers are missing.")
    right = (
        all(-1 <= parent < entry for entry, parent in enumerate(table.parents)),
        all(end == -1 or entry < end < size for entry, end in enumerate(table.ends)),
        all(-1 <= above < node for node, (above, _) in enumerate(table.names)),
        _within(table.nodes, -1, len(table.names)),
        _within(table.roles, Role.ROOT, Role.CUT + 1),
    )
    if not all(right):
        raise ValueError("a number is out of range.")


def _within(numbers: Sequence[int], least: int, end: int) -> bool:
    return not numbers or (least <= min(numbers) and max(numbers) < end)
