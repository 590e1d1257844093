"""Checks that no phrase of ``_wording.txt`` is used in the documentation, in what it says of settings, and in log messages.

``python docs/_wording.py`` prints where one is, and what to write instead, and exits with 1 if there is any.
"""

import ast
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from _texts import ROOT, line_of, text_files, without_code

LIST = Path(__file__).with_name("_wording.txt")
#: Methods of loggers, and of the faults that are told in the log.
_LOGGED = frozenset("debug info warning error exception critical log report".split())


def phrases(path: Path = LIST) -> dict[str, str]:
    """Return phrase -> what is written instead."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and line[0] != "#"]
    return {phrase.strip(): instead.strip() for phrase, instead in (line.split("=>") for line in lines)}


def faults(unwanted: Mapping[str, str], root: Path = ROOT) -> Iterator[str]:
    """Yield a line for each place where a phrase is used."""
    patterns = {_pattern(phrase): f'write "{instead}"' for phrase, instead in unwanted.items()}
    for path in text_files(root):
        text = without_code(path.read_text(encoding="utf-8"), path.suffix)
        yield from _found(patterns, path.relative_to(root), text)
    for path in sorted((root / "scrapy_dedup").rglob("*.py")):
        for line, message in _messages(path.read_text(encoding="utf-8")):
            yield from _found(patterns, path.relative_to(root), message, line)


def _found(patterns: "Mapping[re.Pattern[str], str]", path: Path, text: str, line: int = 1) -> Iterator[str]:
    for pattern, remedy in patterns.items():
        for match in pattern.finditer(text):
            said = " ".join(match.group().split())
            yield f'{path}:{line + line_of(text, match.start()) - 1}: "{said}": {remedy}'


def _pattern(phrase: str) -> "re.Pattern[str]":
    words = [re.escape(word).replace(r"\*", r"\w*") for word in phrase.split()]
    return re.compile(r"(?<![\w/])" + r"\s+".join(words) + r"(?![\w/])", re.IGNORECASE)


def _messages(source: str) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the strings in calls of a logger, and in those that make a setting."""
    for call in ast.walk(ast.parse(source)):
        if isinstance(call, ast.Call) and _is_said(call.func):
            for each in (part for argument in call.args for part in ast.walk(argument)):
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield each.lineno, each.value


def _is_said(function: ast.expr) -> bool:
    """Whether users read the strings that a function is called with."""
    if isinstance(function, ast.Attribute):
        return function.attr in _LOGGED
    return isinstance(function, ast.Name) and function.id == "setting"


if __name__ == "__main__":
    wrong = list(faults(phrases()))
    print(*wrong, sep="\n", end="\n" if wrong else "")
    sys.exit(bool(wrong))
