"""Rules as an HTML table, which notebooks show."""

from collections.abc import Iterable, Sequence
from html import escape
from itertools import islice
from typing import Final

#: Rows that a table has at most; a line below it says how many rules are left out.
MOST_ROWS: Final = 100
_COLUMNS = ("site", "rule", "status", "what it does", "where", "evidence")


def html_table(rows: Iterable[Sequence[str]], count: int) -> str:
    """Return the table of the first of *count* rules, a row of texts each, everything in it escaped."""
    head = "".join(f"<th>{name}</th>" for name in _COLUMNS)
    body = "".join(f"<tr>{_cells(row)}</tr>" for row in islice(rows, MOST_ROWS))
    more = f"<p>and {count - MOST_ROWS} more</p>" if count > MOST_ROWS else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{more}"


def _cells(row: Sequence[str]) -> str:
    return "".join(f"<td>{escape(text)}</td>" for text in row)
