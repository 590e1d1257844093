"""Where two versions of a page differ, worked out apart from the package that the benchmark measures."""

import re
from collections import defaultdict
from collections.abc import Mapping
from typing import Any

from lxml import etree

from .pages import fingerprint, parse

_digits = re.compile(r"\d+")


def places(html: str) -> dict[str, str]:
    """Each place of a page, and a digest of all that stands there in order.

    A place is the names of the elements down to it, with their ids and first classes, whose numbers do not count, and
    the attribute. Comments are places, and so is what stands in scripts.
    """
    root = parse(html.encode("utf-8", "replace"), "text/html; charset=utf-8")
    found: defaultdict[str, list[str]] = defaultdict(list)
    if root is not None:
        _gather(root, found)
    return {place: fingerprint("\0".join(texts)) for place, texts in found.items()}


def _gather(root: Any, found: defaultdict[str, list[str]]) -> None:
    path: list[str] = []
    for event, element in etree.iterwalk(root, events=("start", "end", "comment", "pi")):
        if event == "start":
            path.append(_step(element))
            place = "/".join(path)
            for name, value in element.attrib.items():
                found[f"{place}@{name}"].append(value)
            _say(found, place, element.text)
            continue
        if event == "end":
            path.pop()
        else:
            _say(found, "/".join([*path, "comment"]), element.text)
        _say(found, "/".join(path), element.tail)


def _say(found: defaultdict[str, list[str]], place: str, text: str | None) -> None:
    if text and (words := text.split()):
        found[place].append(" ".join(words))


def _step(element: Any) -> str:
    classes = element.get("class", "").split()
    return _digits.sub("0", f"{element.tag}#{element.get('id', '')}.{classes[0] if classes else ''}")


def differing(one: Mapping[str, str], other: Mapping[str, str]) -> set[str]:
    """The places at which two versions of a page differ."""
    return {place for place in one.keys() | other.keys() if one.get(place) != other.get(place)}
