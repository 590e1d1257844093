"""The comments that a user wrote into a table, and a table written anew with them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

__all__ = ["Comments", "Items", "commented", "comments_in", "header_in"]

Items = Sequence[tuple[str, str]]
"""(key, the line or lines that say it) of a table; the key of its header is ""."""
Comments = Mapping[str, tuple[str, str]]
"""By key: the lines of comments above it, and the comment behind it; those at the end of a table are above the key "-"."""

_AT_END = "-"


def commented(items: Items, comments: Comments) -> str:
    """Return the text of a table with its comments. Those of keys that it has no more stand after its header."""
    known = {key for key, _ in items} | {_AT_END}
    homeless = "".join([above + _own_line(behind) for key, (above, behind) in comments.items() if key not in known])
    texts = []
    for number, (key, text) in enumerate(items):
        above, behind = comments.get(key, ("", ""))
        texts.append(above + (text.rstrip("\n") + behind + "\n" if behind else text))
        if not number:
            texts.append(homeless)
    return "".join([*texts, comments.get(_AT_END, ("", ""))[0]])


def _own_line(behind: str) -> str:
    return behind.strip() + "\n" if behind.strip() else ""


def comments_in(text: str, table: str = "") -> dict[str, tuple[str, str]]:
    """Return the comments in *text*: of its top, or of the first of the *table* there. Nothing where it cannot be cut."""
    if "#" not in text:
        return {}
    import tomlkit  # here, since most crawls write nothing
    from tomlkit.exceptions import TOMLKitError

    try:
        document: Any = tomlkit.parse(text)
        return dict(_found(document[table][0] if table else document, is_table=bool(table)))
    except (TOMLKitError, KeyError, IndexError, TypeError, AttributeError, ValueError, RecursionError):
        return {}


def _found(table: Any, *, is_table: bool) -> Iterator[tuple[str, tuple[str, str]]]:
    if is_table and table.trivia.comment:
        yield "", ("", table.trivia.comment_ws + table.trivia.comment)
    above = ""
    for key, item in table.value.body if is_table else table.body:
        if key is None:
            comment = item.trivia.comment if hasattr(item, "trivia") else ""
            above += f"{comment}\n" if comment else ""
            continue
        trivia = getattr(item, "trivia", None)
        behind = trivia.comment_ws + trivia.comment if trivia is not None and trivia.comment else ""
        if above or behind:
            yield key.key, (above, behind)
        above = ""
    if above:
        yield _AT_END, (above, "")


def header_in(block: str) -> str:
    """Return the header of a block as it is written there, without what stands behind it."""
    line = block.partition("\n")[0]
    return line[: line.index("]]") + 2]
