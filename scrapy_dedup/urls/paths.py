"""The path of a URL as keys and values."""

import re
from dataclasses import dataclass

__all__ = [
    "PathSegment",
    "param_key",
    "path_key",
    "path_values",
    "put",
    "segments_of",
    "split_extension",
]

PATH_KEYS = tuple(f"path.{position}" for position in range(64))
_is_pair = re.compile(r"[A-Za-z0-9_.\-]+=").match


def path_key(position: int) -> str:
    """Return ``path.N``."""
    return PATH_KEYS[position] if position < 64 else f"path.{position}"


@dataclass(slots=True)
class PathSegment:
    """One segment of a path: text, key, matrix parameters.

    ``key`` is ``path.N``, or ``s.NAME`` of a key=value segment. ``value`` is without
    the extension, which only the last positional segment has.
    """

    key: str
    value: str
    extension: str | None = None
    name: str = ""
    params: tuple[tuple[str, str | None], ...] = ()

    def compose(self) -> str:
        """Return the segment's text."""
        text = f"{self.name}={self.value}" if self.name else self.value
        if self.extension is not None:
            text = f"{text}.{self.extension}"
        for name, value in self.params:
            text = f"{text};{name}" if value is None else f"{text};{name}={value}"
        return text


def split_extension(text: str) -> tuple[str, str | None]:
    """Return (stem, extension): up to five letters and digits, one a letter at least.

    >>> split_extension("index.html"), split_extension("v1.0"), split_extension(".rc")
    (('index', 'html'), ('v1.0', None), ('.rc', None))
    """
    stem, _, extension = text.rpartition(".")
    if stem and len(extension) <= 5 and extension.isalnum() and extension.isascii() and not extension.isdigit():
        return stem, extension
    return text, None


def segments_of(path: str) -> tuple[list[PathSegment], bool]:
    """Return (segments, whether a slash follows the last) of a path in normal form.

    >>> segments, slash = segments_of("/a;v=1/qid=7/b.html/")
    >>> [(s.key, s.value) for s in segments], segments[2].extension, slash
    ([('path.0', 'a'), ('s.qid', '7'), ('path.1', 'b')], 'html', True)
    """
    texts = path.split("/")
    if texts[0] == "" and len(texts) > 1:
        del texts[0]
    slash = len(texts) > 1 and texts[-1] == ""
    if slash or texts == [""]:
        del texts[-1]
    segments: list[PathSegment] = []
    last = None
    position = 0
    for text in texts:
        params: tuple[tuple[str, str | None], ...] = ()
        if ";" in text:
            text, *parts = text.split(";")
            params = tuple([_param(part) for part in parts])
        match = _is_pair(text) if "=" in text else None
        if match is not None:
            name = text[: match.end() - 1]
            segment = PathSegment("s." + name, text[match.end() :], None, name, params)
        else:
            last = segment = PathSegment(path_key(position), text, None, "", params)
            position += 1
        segments.append(segment)
    if last is not None:
        last.value, last.extension = split_extension(last.value)
    return segments, slash


def _param(text: str) -> tuple[str, str | None]:
    name, mark, value = text.partition("=")
    return name, value if mark else None


def path_values(path: str, values: dict[str, str | None]) -> None:
    """Put the keys and values of *path*, in normal form, into *values*."""
    if ";" not in path and "=" not in path:
        texts = path.split("/")
        if texts[0] == "" and len(texts) > 1:
            del texts[0]
        count = len(texts)
        last = texts[-1]
        if last == "":
            count -= 1
            if count:
                values["path.trail"] = "/"
                last = texts[count - 1]
        extension = None
        if "." in last:
            texts[count - 1], extension = split_extension(last)
        if count <= 64:
            values.update(zip(PATH_KEYS[:count], texts, strict=False))
        else:
            values.update((path_key(n), texts[n]) for n in range(count))
        if extension is not None:
            values["ext"] = extension
        values["path.len"] = str(count)
        return
    segments, slash = segments_of(path)
    repeats: dict[str, int] = {}
    count = 0
    for segment in segments:
        put(values, repeats, segment.key, segment.value)
        count += not segment.name
        if segment.extension is not None:
            values["ext"] = segment.extension
    for segment in segments:
        for name, value in segment.params:
            put(values, repeats, param_key(name), value)
    values["path.len"] = str(count)
    if slash:
        values["path.trail"] = "/"


def param_key(name: str) -> str:
    """Return the key of a matrix parameter; its brackets are no number of a repeat."""
    return "m." + name.replace("[", "%5B") if "[" in name else "m." + name


def put(values: dict[str, str | None], repeats: dict[str, int], key: str, value: str | None) -> None:
    """Put a value under its key; a repeat under ``key[1]``, ``key[2]``.."""
    if key in values:
        number = repeats[key] = repeats.get(key, 0) + 1
        key = f"{key}[{number}]"
    values[key] = value
