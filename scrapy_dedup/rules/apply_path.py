"""Operations applied to the origin and the path of a URL in normal form, all at once."""

import re
from collections.abc import Sequence

from ..urls import PLACEHOLDER
from ..urls.origins import Origin
from ..urls.paths import PathSegment, param_key, path_key, segments_of, split_extension
from .actions import Change, Context, Mark, Outcome
from .order import in_order
from .table import OpTable, first_outcome

_GONE = (Mark.DROP, Mark.CUT)


def new_origin(table: OpTable, origin: Origin, context: Context, changes: list[Change]) -> str:
    """Return the text of *origin* in the canonical key.

    A scheme and a domain must be there: dropped, they are ``http`` and the first domain
    of the site group.
    """
    scheme = table.outcome("scheme", origin.scheme, context, changes)
    if scheme is Mark.PASS:
        scheme = origin.scheme
    elif not isinstance(scheme, str) or scheme == PLACEHOLDER:
        scheme = "http"
    domain = origin.domain
    if origin.group:
        outcome = table.outcome("host.0", domain, context, changes)
        if outcome is not Mark.PASS:
            domain = outcome if isinstance(outcome, str) and outcome != PLACEHOLDER else origin.group[0]
    texts: list[Outcome] = []
    for number, label in enumerate(origin.labels, 1):
        outcome = table.outcome(f"host.{number}", label, context, changes)
        texts.append(label if outcome is Mark.PASS else outcome)
    if table.added:
        text = table.addition(f"host.{len(texts) + 1}", context, changes)
        if text is not None:
            texts.append(text)
    labels = [text for text in _with_gaps(texts) if text is not None]
    return origin.compose(scheme, tuple(labels), domain)


def new_path(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return *path* in the canonical key."""
    if table.positions_only and ";" not in path and "=" not in path:
        path = _new_positions(table, path, context, changes)
    elif table.pairs_only and not (table.segment_pairs and ";" in path):
        path = _new_pairs(table, path, context, changes)
    else:
        path = _new_segments(table, path, context, changes)
    for key, orders in table.orders.items():
        for operation, rule in orders:
            ordered = in_order(path, key, operation)
            if ordered != path:
                changes.append((rule, key, path))
                path = ordered
    return path


def _new_segments(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return *path* with the operations on any of its keys applied."""
    segments, slash = segments_of(path)
    texts: list[Outcome] = []  # of the positional segments
    places: list[int] = []
    written: list[str | None] = []
    params: set[str] = set()
    last = max((number for number, segment in enumerate(segments) if not segment.name), default=-1)
    additions = _additions(table, sum(not segment.name for segment in segments), context, changes)
    if additions:
        # The extension is that of the path: it follows the last of the added segments.
        extension = segments[last].extension if last >= 0 else None
        additions[-1] += _extension(table, extension, True, context, changes)
    outcomes = [table.deep_outcome(segment.key, segment.value, context, changes) for segment in segments]
    while table.added and last >= 0 and (segments[last].name or _is_gone(segments[last], outcomes[last])):
        last -= 1  # an extension that is added follows the last segment that is left
    for number, (segment, outcome) in enumerate(zip(segments, outcomes, strict=True)):
        rest = "" if additions else _extension(table, segment.extension, number == last, context, changes)
        rest += _params(table, segment, context, changes, params)
        if segment.name:
            value = segment.value if outcome is Mark.PASS else outcome
            written.append(f"{segment.name}={value}{rest}" if isinstance(value, str) else rest or None)
            continue
        places.append(number)
        written.append(None)
        if outcome is Mark.PASS:
            texts.append(segment.value + rest)
        elif isinstance(outcome, str):
            texts.append(outcome + rest)
        else:
            # What stays of a dropped segment (extension, parameters) keeps its place.
            texts.append(PLACEHOLDER + rest if rest else outcome)
    for number, text in zip(places, _with_gaps(texts), strict=True):
        written[number] = text
    kept = [text for text in written if text is not None] + additions
    if slash:
        slash = table.outcome("path.trail", "/", context, changes) not in _GONE
    elif table.added:
        slash = table.addition("path.trail", context, changes) is not None
    return "/" + "/".join(kept) + ("/" if slash and kept else "")


def _is_gone(segment: PathSegment, outcome: Outcome) -> bool:
    """Return whether nothing of a segment is left."""
    return outcome in _GONE and segment.extension is None and not segment.params


def _additions(table: OpTable, count: int, context: Context, changes: list[Change]) -> list[str]:
    """Return the segments that are added after *count* ones."""
    added: list[str] = []
    while table.added and count < 64:
        text = table.addition(path_key(count), context, changes)
        if text is None:
            break
        added.append(text)
        count += 1
    return added


def _extension(table: OpTable, extension: str | None, last: bool, context: Context, changes: list[Change]) -> str:
    """Return the extension with its dot, "" for none; the *last* segment of a path may be given one."""
    if extension is not None:
        outcome = table.outcome("ext", extension, context, changes)
        if outcome is not Mark.PASS:
            extension = outcome if isinstance(outcome, str) else None
    elif last and table.added:
        extension = table.addition("ext", context, changes)
    return "" if extension is None else f".{extension}"


def _params(table: OpTable, segment: PathSegment, context: Context, changes: list[Change], seen: set[str]) -> str:
    """Return the matrix parameters of a segment; *seen* are the keys of those before, and of these."""
    rest = ""
    for name, value in segment.params:
        key = param_key(name)
        # Deep tokens are those of the first value.
        outcome = (table.outcome if key in seen else table.deep_outcome)(key, value, context, changes)
        seen.add(key)
        if outcome is Mark.PASS:
            rest += f";{name}" if value is None else f";{name}={value}"
        elif isinstance(outcome, str):
            rest += f";{name}={outcome}"
    return rest


def _new_positions(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return *path*, which is nothing but segments, with the operations on these applied."""
    texts = path.split("/")
    slash = not texts[-1]
    if slash:
        del texts[-1]
    count = len(texts) - 1  # texts[0] is empty: nothing precedes the first slash
    if not count:
        return "/"
    rest = ""  # what follows the last segment, dropped or not
    if "." in texts[count] and (table.extension or _has(table, count - 1)):
        texts[count], extension = split_extension(texts[count])
        if extension is not None:
            outcome = first_outcome(table.extension, "ext", extension, context, changes)
            if outcome is Mark.PASS:
                rest = f".{extension}"
            elif isinstance(outcome, str):
                rest = f".{outcome}"
    for position, operations in table.positions:
        number = position + 1
        if number > count:
            continue
        outcome = first_outcome(operations, f"path.{position}", texts[number], context, changes)
        if outcome is Mark.PASS:
            continue
        if isinstance(outcome, str):
            texts[number] = outcome
        elif rest and number == count:
            texts[number] = PLACEHOLDER
        elif outcome is Mark.CUT or number == len(texts) - 1:
            del texts[number]
        else:
            texts[number] = PLACEHOLDER
    if len(texts) == 1:
        return "/"
    if rest:
        texts[-1] += rest
    if slash and (not table.slash or first_outcome(table.slash, "path.trail", "/", context, changes) not in _GONE):
        texts.append("")
    return "/".join(texts)


def _has(table: OpTable, position: int) -> bool:
    return any(number == position for number, _ in table.positions)


_pair = re.compile(r"/([A-Za-z0-9_.\-]+)=([^/;]*)|;([^/;=]*)(?:(=)([^/;]*))?")


def _new_pairs(table: OpTable, path: str, context: Context, changes: list[Change]) -> str:
    """Return *path* with the operations on matrix parameters or key=value segments applied, where there are no others."""

    def written(match: re.Match[str]) -> str:
        segment, segment_value, name, mark, value = match.groups()
        if segment is not None:
            outcome = table.outcome("s." + segment, segment_value, context, changes)
            start = f"/{segment}="
        else:
            outcome = table.outcome(param_key(name), value if mark else None, context, changes)
            start = f";{name}="
        if outcome is Mark.PASS:
            return match[0]
        return start + outcome if isinstance(outcome, str) else ""

    return _pair.sub(written, path) or "/"


def _with_gaps(texts: Sequence[Outcome]) -> list[str | None]:
    """Return the text of each place: ``*`` for one that is dropped before one that stays."""
    written: list[str | None] = []
    stays = False
    for text in reversed(texts):
        if isinstance(text, str):
            stays = True
            written.append(text)
        else:
            written.append(PLACEHOLDER if stays and text is Mark.DROP else None)
    written.reverse()
    return written
