"""Where commands print: what sites write, such as ``[id]``, ``[/b]``, ``:a:`` or ESC, is no markup of ours."""

import json
import sys
from collections.abc import Iterable, Mapping
from typing import Any, Final

from rich.console import Console, ConsoleOptions, RenderableType
from rich.segment import Segment
from rich.text import Text

from ...files.control_characters import escaped
from .escaping import unescaped

MARKED: Final = "red strike"
#: Columns where the output is no terminal: no line is broken there.
_UNBROKEN: Final = 100_000


class _PlainConsole(Console):
    """A console that writes colours, and no control characters of what it prints."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Return the parts of what is printed."""
        for part in super().render(renderable, options):
            yield part if part.control else Segment(escaped(part.text), part.style)


def plain_console(*, stderr: bool = False, **given: Any) -> Console:
    """Return a console that prints every string as it is."""
    file = unescaped(sys.stderr if stderr else sys.stdout)
    return _PlainConsole(file=file, highlight=False, markup=False, emoji=False, **given)


def print_lines(*shown: RenderableType) -> None:
    """Print texts and tables: as wide as the terminal is, or, where the output is none, in lines that are not broken."""
    if sys.stdout.isatty():
        plain_console().print(*shown, sep="\n")
        return
    console = plain_console(color_system=None, width=_UNBROKEN)
    with console.capture() as text:
        console.print(*shown, sep="\n")
    sys.stdout.writelines(f"{line.rstrip()}\n" for line in text.get().removesuffix("\n").split("\n"))


def print_long(line: Text) -> None:
    """Print a line that may hold a long URL: the terminal wraps it, so that it can be copied."""
    plain_console(soft_wrap=True).print(line)


def print_json(record: Mapping[str, Any]) -> None:
    """Print a line of JSON, whose ``type`` says what it is of."""
    sys.stdout.write(json.dumps(record) + "\n")


def with_marks(text: str) -> Text:
    """Return a text with ⟦marks⟧, what stands between them in colour."""
    line = Text(text)
    start = text.find("⟦")
    while start >= 0:
        end = text.find("⟧", start)
        end = len(text) if end < 0 else end + 1
        line.stylize(MARKED, start, end)
        start = text.find("⟦", end)
    return line
