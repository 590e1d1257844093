"""Operations applied to a query as a whole: deep tokens, added parameters, sets of values, order, queries that are a path."""

from ..urls import PLACEHOLDER
from ..urls.query_paths import SEGMENT_KEY, SLASH, query_path
from .actions import Change, Context, Mark, added_text
from .operations import SetOfValues
from .table import OpTable

__all__ = ["new_query_at_length"]


def new_query_at_length(table: OpTable, query: str, context: Context, changes: list[Change]) -> str:
    """Return *query* in the canonical key, with operations on more than single parameters applied."""
    pieces = []
    if table.semicolons and ";" in query:
        changes.append((table.operations_on("query")[0].rule.id, "query", ";"))
        query = "&".join(sorted(query.replace(";", "&").split("&")))
    seen: set[str] = set()
    path = query_path(query)
    for piece in query.split("&") if query else ():
        parts = []
        for part in piece.split(";"):
            if path and part == f"{path}=":
                parts.append(_new_query_path(table, path, context, changes))
                seen.update(f"{SEGMENT_KEY}{n}" for n in range(path.count(SLASH) + 1))
                path = ""
            else:
                parts.append(_new_parameter(table, part, seen, context, changes))
        kept = [part for part in parts if part]
        if kept:
            pieces.append(";".join(kept))
    for key, operation, rule in table.added:
        if key.startswith("q.") and key not in seen:
            text = added_text(key, operation, context)
            if text is not None:
                seen.add(key)
                changes.append((rule, key, None))
                pieces.append(f"{key[2:]}={text}")
    pieces.sort()
    return "&".join(_distinct(table, pieces, context, changes) if table.distinct else pieces)


def _new_parameter(table: OpTable, part: str, seen: set[str], context: Context, changes: list[Change]) -> str:
    """Return the parameter *part* (``name=value``) in the canonical key, "" where it is dropped.

    *seen* are the keys of the parameters before it; its own is added.
    """
    name, _, value = part.partition("=")
    key = "q." + name
    # Deep tokens are those of the first value; a repeat is one token.
    outcome = (table.outcome if key in seen else table.deep_outcome)(key, value, context, changes)
    seen.add(key)
    if outcome is Mark.PASS and table.bare and name and not value:
        outcome = table.bare_outcome(name, context, changes)
        if isinstance(outcome, str):
            return f"{outcome}="
    if outcome is Mark.PASS:
        return part
    return f"{name}={outcome}" if isinstance(outcome, str) else ""


def _new_query_path(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return the parameter that is the path *path* in the canonical key, "" where all of it is dropped.

    A dropped segment before one that stays is shown as ``*``, so that no segment moves.
    """
    texts: list[str] = []
    stays = 0
    for number, text in enumerate(path.split(SLASH)):
        outcome = table.deep_outcome(f"{SEGMENT_KEY}{number}", text, context, changes)
        if outcome is Mark.PASS or isinstance(outcome, str):
            texts.append(outcome if isinstance(outcome, str) else text)
            stays = number + 1
        else:
            texts.append(PLACEHOLDER)
    return SLASH.join(texts[:stays]) + "=" if stays else ""


def _distinct(table: OpTable, pieces: list[str], context: Context, changes: list[Change]) -> list[str]:
    """Return the sorted *pieces*, without repeats of the parameters that are sets of values."""
    kept: list[str] = []
    for piece in pieces:
        if kept and kept[-1] == piece and ";" not in piece:
            name, _, value = piece.partition("=")
            key = f"q.{name}"
            rule = next((bound.rule.id for bound in table.operations_on(key) if bound.operation == SetOfValues()), None)
            if rule is not None:
                changes.append((rule, key, value))
                continue
        kept.append(piece)
    return kept
