"""Checks the links of the documentation without the network: files and anchors are there, and addresses are written right.

``python docs/_links.py`` prints what is wrong, a line each, and exits with 1 if anything is. Roles such as ``:doc:`` are
checked where Sphinx builds the documentation.
"""

import re
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from _texts import ROOT, line_of, text_files, without_code

_MARKDOWN = re.compile(r"\[[^\]\[]*\]\(<?([^)\s>]+)>?\)|<(https?:[^>]*)>")
_RESTRUCTURED = re.compile(
    r"`[^`]*?<([^`>]+)>`__?|^\.\. _[^:`]+: +(\S+)$|^\.\. (?:include|image|figure)::[ ]+(\S+)|^ +:target:[ ]+(\S+)",
    re.MULTILINE,
)
_LABEL = re.compile(r"^(?:\((.+)\)=|\.\. _([^:`]+):)$", re.MULTILINE)
_HEADING = {
    ".md": re.compile(r"^#+ +(.+?) *$", re.MULTILINE),
    ".rst": re.compile(r"^(\S.*)\n([=~^-])\2+$", re.MULTILINE),
}
_HOST = re.compile(r"[a-z0-9-]+(?:\.[a-z0-9-]+)+")


def faults(root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each link that is wrong."""
    for path in text_files(root):
        text = path.read_text(encoding="utf-8")
        kept = without_code(text, path.suffix)
        for match in (_MARKDOWN if path.suffix == ".md" else _RESTRUCTURED).finditer(kept):
            target = next(filter(None, match.groups()))
            problem = _problem(path, target)
            if problem:
                yield f"{path.relative_to(root)}:{line_of(text, match.start())}: {target}: {problem}"


def _problem(path: Path, target: str) -> str:
    """Return what is wrong with a link from *path*; "" if nothing is."""
    parts = urlsplit(target)
    if parts.scheme in {"http", "https"}:
        return "" if _HOST.fullmatch(parts.hostname or "") and not re.search(r"\s", target) else "this is no address"
    if parts.scheme:
        return "a link is a file, an http address or an https address"
    file = path if not parts.path else (path.parent / unquote(parts.path))
    if not file.exists():
        return "there is no such file"
    if parts.fragment and file.suffix in {".md", ".rst"} and parts.fragment not in _anchors(file):
        return "the file has no such heading"
    return ""


def _anchors(path: Path) -> set[str]:
    """Return the anchors of a text: its labels, and its headings as GitHub and MyST write them."""
    text = path.read_text(encoding="utf-8")
    found = {match.group(1) or match.group(2) for match in _LABEL.finditer(text)}
    for match in _HEADING[path.suffix].finditer(text):
        slug = re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", match.group(1).lower()))
        number = sum(1 for each in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", each))
        found.add(f"{slug}-{number}" if number else slug)
    return found


if __name__ == "__main__":
    wrong = list(faults())
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))
