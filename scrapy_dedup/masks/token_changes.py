"""Tokens of a page, and which of them changed between two versions, as the transient-content document finds them.

Paragraphs on FIG. 1 and 5. What the method cannot see, whatever is done: a token counts as unchanged if it stands anywhere in the
other version, so two texts that change places mark nothing; paths know neither positions nor classes; what appears and stays is
marked like what is replaced.
"""

import json
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from sys import intern
from typing import Any, Final, NamedTuple

from xxhash import xxh3_64_intdigest

from ..pages.blocks import Rows
from ..pages.selectors import step_of
from ..pages.tokens import TokenKind, tokens
from ..pages.versions import Version
from .selectors import ALL, css_of

SKIPPED: Final = "…"
"""The children of a path that are too long: they never are transient, so that it is not promoted."""
_MAX_SIZE: Final = 1 << 28
"""Bytes of a table before compression; more is damage."""


@dataclass(frozen=True, slots=True)
class Options:
    """The thresholds of the method, with the document's values or, where it names none, with ours.

    Raises ValueError for a value that is out of range; the message names it and says what is right.
    """

    #: The document's T: a path is transient if at least this share of its tokens had changed.
    threshold: float = 0.5
    #: A page was reorganised, and teaches nothing, if more than this share of the tokens of two versions is marked.
    max_marked: float = 0.5
    #: A site was restructured, and has no transient path, if more than this share of its paths is transient.
    max_share: float = 0.5
    #: Longer paths are skipped; in characters, as the document writes them: ``<html><body>``.
    max_path: int = 1000

    @classmethod
    def of(cls, options: Mapping[str, Any]) -> "Options":
        """Return the options with these values. Raises ValueError for a name that there is not, and for a value that is out of range."""
        if unknown := [name for name in options if name not in cls.__slots__]:
            raise ValueError(f"there is no option {unknown[0]!r}: there are {', '.join(cls.__slots__)}")
        return cls(**options)

    def __post_init__(self) -> None:
        for name, value in asdict(self).items():
            is_length = name == "max_path"
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            if not is_number or not 0 < value <= (value if is_length else 1) or (is_length and value % 1):
                right = "a whole number of characters, at least 1" if is_length else "a number over 0, and 1 at most"
                raise ValueError(f"{name} is {value!r}: it is {right}")


# The tokens of a version (FIG. 1)


class TokenTable(NamedTuple):
    """The "tokens data structure" of one version of a page: where each token stands in its tree, and a fingerprint of what it says.

    Texts end at line ends, and blank ones are no tokens, as in the document's example. It is what a store keeps of a page for
    this method: nobody can read a text or a script in it.
    """

    #: For each token the number of the open tag in which it stands, -1 at the top; of an end tag, of the tag that it closes.
    parents: list[int]
    #: For each token the number of the end tag that closes it; -1 where it is no open tag, or never closed.
    ends: list[int]
    fingerprints: list[int]
    #: For each token the number of its path; -1 at the top, and for an end tag that closes nothing.
    paths: list[int]
    #: For each path the number of the path above it, which is less, or -1, and its last name.
    names: list[tuple[int, str]]

    def named(self, max_path: int) -> list[str]:
        """Return the paths, ``html/body/p``; of those longer than *max_path* that of the last one that is not, and a mark."""
        found: list[str] = []
        for above, name in self.names:
            before = found[above] if above >= 0 else ""
            path = f"{before}/{name}".lstrip("/")
            if before.endswith(SKIPPED) or len(path) + path.count("/") + 2 > max_path:
                path = before.removesuffix(f"/{SKIPPED}") + f"/{SKIPPED}"
            found.append(intern(path))
        return found


def token_table(html: str) -> TokenTable:
    """Return the tokens of a version (paragraphs "The web page parser 120 can divide", "The parser 120 keeps a stack")."""
    table = TokenTable([], [], [], [], [])
    known: dict[tuple[int, str], int] = {}
    opened = [(-1, "")]  # for each token, and the page itself, its number in the table and its name
    for token in tokens(html, lines=True):
        written = html[token.start : token.end].strip(" \t\n\f\r")
        opened.append((len(table.parents), token.name))
        if not written:
            continue
        parent, name = opened[token.parent + 1]
        path = table.paths[parent] if token.path.count("/") > 1 else -1
        # Elements that every page has may be there though no tag opens them.
        for each in filter(None, token.path.split("/") if path < 0 else ()):
            path = known.setdefault((path, each), len(known))
        if token.kind in (TokenKind.OPEN, TokenKind.EMPTY):
            path = known.setdefault((path, step_of(token.name)), len(known))
        elif token.kind is TokenKind.CLOSE and name != token.name:
            path = -1
        elif token.kind is TokenKind.CLOSE:
            table.ends[parent] = len(table.parents)
        table.parents.append(parent)
        table.ends.append(-1)
        table.fingerprints.append(xxh3_64_intdigest(written.encode("utf-8", "surrogatepass")))
        table.paths.append(path)
    return table._replace(names=list(known))


def packed_with_table(rows: Rows, html: Callable[[], str]) -> bytes:
    """Return the stored form of a version with the tokens of its page."""
    return Version.of(rows, packed_table(html())).to_bytes()


def packed_table(html: str) -> bytes:
    """Return the stored form of the tokens of a page: JSON, compressed, and how far it is to other tokens, not their numbers."""
    parents, ends, *rest = token_table(html)
    ups = [number - parent for number, parent in enumerate(parents)]
    downs = [end - number if end >= 0 else 0 for number, end in enumerate(ends)]
    return zlib.compress(json.dumps([ups, downs, *rest]).encode(), 1)


def unpacked_table(data: bytes) -> TokenTable:
    """Return the tokens stored as *data*. Raises ValueError where they are damaged."""
    reader = zlib.decompressobj()
    try:
        ups, downs, *rest = json.loads(reader.decompress(data, _MAX_SIZE))
        parents = [number - up for number, up in enumerate(ups)]
        table = TokenTable(parents, [number + down if down else -1 for number, down in enumerate(downs)], *rest)
        size = len(table.fingerprints)
        right = (
            reader.eof and not reader.unused_data,
            len(table.parents) == len(table.ends) == len(table.paths) == size,
            all(-1 <= parent < number for number, parent in enumerate(table.parents)),
            all(end == -1 or number < end < size for number, end in enumerate(table.ends)),
            all(-1 <= path < len(table.names) for path in table.paths),
            all(-1 <= above < number and isinstance(name, str) for number, (above, name) in enumerate(table.names)),
        )
    except (zlib.error, ValueError, TypeError, RecursionError) as error:
        raise ValueError(f"damaged token table: {error}") from error
    if not all(right):
        raise ValueError("damaged token table: cut off, too long, or a number is out of range.")
    return table


# What changed between two versions (FIG. 1 and 5)


class Changes(NamedTuple):
    """What changed between two versions of a page."""

    tables: Sequence[TokenTable]
    #: The "initial bit vectors": for each token whether the other version lacks its fingerprint.
    initial: Sequence[Sequence[bool]]
    #: The "final bit vectors": with the tags around what is marked; no bit is set for a reorganised page.
    final: Sequence[Sequence[bool]]
    #: For each token whether all bits of the subtree that it roots are set.
    whole: Sequence[Sequence[bool]]


def changes_of(first: TokenTable, second: TokenTable, options: Options) -> Changes:
    """Compare two versions of a page.

    Paragraph "the number of marked tokens in the two bit vectors 190 can be accumulated": where more than ``max_marked`` of the
    tokens of both are marked, tags around them included, the page was reorganised, and no bit is set. (The document does not say
    whether the tags count; with them, markup that was drawn anew weighs as much as text.)
    """
    tables = first, second
    # "An entry for every unique fingerprint" of the other version.
    others = {*second.fingerprints}, {*first.fingerprints}
    initial = [[each not in other for each in table.fingerprints] for table, other in zip(tables, others, strict=True)]
    marked = [extended(table, bits) for table, bits in zip(tables, initial, strict=True)]
    if sum(sum(final) for final, _ in marked) > options.max_marked * sum(map(len, initial)):
        marked = [([False] * len(bits), [False] * len(bits)) for bits in initial]
    return Changes(tables, initial, *zip(*marked, strict=True))


def extended(table: TokenTable, bits: Sequence[bool]) -> tuple[list[bool], list[bool]]:
    """Return *bits* with the tags around tokens all of which are marked, and for each token whether all of its subtree is.

    Paragraph "The output of the content identification module 100": tags with nothing between them enclose nothing transient. The subtree
    of an open tag reaches to its end tag; any other token is one by itself.
    """
    final, whole = list(bits), list(bits)
    # Of a tag: whether all that is in it is marked; None where nothing is.
    contents: list[bool | None] = [None] * len(final)
    # Backwards, so that the contents of a tag are done before the tag itself.
    for entry in reversed(range(len(final))):
        end = table.ends[entry] if table.ends[entry] >= 0 else entry
        if contents[entry]:
            final[entry] = final[end] = whole[end] = True
        whole[entry] = final[entry] and final[end] and contents[entry] is not False
        parent = table.parents[entry]
        if parent >= 0 and table.ends[parent] != entry:
            contents[parent] = whole[entry] and contents[parent] is not False
    return final, whole


def changed_paths(html: str, other: str, paths: Iterable[str]) -> set[str]:
    """Return those of transient *paths*, as CSS, on which something changed between two versions of a page.

    Paragraph on FIG. 2, "accompanied by analysis of the content associated with the path ... by comparing fingerprints": all that
    stands on such a path is transient then.
    """
    options = Options()
    changes = changes_of(token_table(html), token_table(other), options)
    changed = {
        f"{css_of(named[number], ALL)} "
        for table, bits in zip(changes.tables, changes.final, strict=True)
        for named in [table.named(options.max_path)]
        for number in {number for number, bit in zip(table.paths, bits, strict=True) if bit and number >= 0}
    }
    return {path for path in paths if any(path == "html" or each.startswith(f"{path} ") for each in changed)}
