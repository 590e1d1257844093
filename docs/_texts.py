"""The texts of the documentation, which ``make lint`` looks through: the files, without what is code in them."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

_FENCED = re.compile(r"^( *)(```|~~~).*?^\1\2 *$", re.MULTILINE | re.DOTALL)
#: A directive of code, or a paragraph that ends in "::", and the indented lines below it.
_BLOCK = re.compile(
    r"(?P<kept>^( *)(?:\.\. (?:code-block|literalinclude)::.*|(?! *\.\. ).*::)\n)(?:\n|\2 +.*\n)+", re.MULTILINE
)
_INLINE = {".md": re.compile(r"(`{1,2})(?!`).+?(?<!`)\1(?!`)"), ".rst": re.compile(r"``.+?``", re.DOTALL)}


def text_files(root: Path = ROOT) -> list[Path]:
    """Return the files of the documentation, and those of the project's folder."""
    found = [path for folder in (root, root / "docs") for kind in ("*.md", "*.rst") for path in folder.glob(kind)]
    found += [path for kind in ("*.md", "*.rst") for path in (root / "docs").glob(f"*/{kind}")]
    return sorted(
        path for path in found if not any(part.startswith((".", "_")) for part in path.relative_to(root).parts)
    )


def without_code(text: str, suffix: str) -> str:
    """Return a text with blanks in the place of its code, so that all else stands where it stood."""
    for pattern in (_FENCED if suffix == ".md" else _BLOCK, _INLINE[suffix]):
        text = pattern.sub(_blank, text)
    return text


def line_of(text: str, position: int) -> int:
    """Return the number of the line, from 1, of a position in a text."""
    return text.count("\n", 0, position) + 1


def _blank(match: "re.Match[str]") -> str:
    kept = match.groupdict().get("kept", "")
    return kept + re.sub(r"[^\n]", " ", match.group()[len(kept) :])
