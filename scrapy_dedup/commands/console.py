"""Where commands print, and show what they are doing: what sites write, such as ``[id]``, ``[/b]``, ``:a:`` or ESC, is no markup of ours."""

import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Final, TextIO

from rich import box
from rich.console import Console, ConsoleOptions, RenderableType
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn
from rich.segment import Segment
from rich.table import Table
from rich.text import Text

from ..files.control_characters import escaped
from .problems import unescaped

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


def show(text: str, record: Mapping[str, Any], *, as_json: bool, file: TextIO | None = None) -> None:
    """Print what is to be said: as a line of JSON, or in words, which may go to another file than the standard output."""
    if as_json:
        print_json(record)
    else:
        print(text, file=file)


def table(
    names: Iterable[str], rows: Iterable[Iterable[Any]], *, right: Iterable[str] = (), whole: Iterable[str] = ()
) -> Table:
    """Return a table; columns of numbers stand to the *right*, and what is to be copied is *whole* on a narrow terminal, too."""
    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), show_edge=False)
    for name in names:
        made.add_column(name, overflow="fold", justify="right" if name in right else "left", no_wrap=name in whole)
    for row in rows:
        made.add_row(*map(str, row))
    return made


def with_marks(text: str) -> Text:
    """Return a text with ⟦marks⟧, what stands between them in colour."""
    line = Text(text)
    line.highlight_regex("⟦[^⟧]*⟧?", MARKED)
    return line


@contextmanager
def progress(doing: str) -> Iterator[Callable[[str, int, int], None]]:
    """Show what one is *doing* on standard error, where that is a terminal; yield a function that shows how far that is: it takes
    what is done, and a part of a whole (0: unknown)."""
    columns = TextColumn("{task.description}"), BarColumn(), TimeElapsedColumn(), TimeRemainingColumn()
    console = plain_console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not sys.stderr.isatty()) as bar:
        task = bar.add_task(doing, total=None)

        def show(what: str, done: int, total: int) -> None:
            is_new = what != bar.tasks[0].description  # it is shown at once, however soon the next one comes
            bar.update(task, description=what, completed=done, total=total or None, refresh=is_new)

        yield show
