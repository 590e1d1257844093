"""Exit codes of the commands, what keeps one from doing what was asked, and escapes in what one prints, whoever wrote it."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, TextIO, cast

from ..files.control_characters import escaped

#: Exit codes.
DONE, NOTHING, MISTAKE = 0, 1, 2


class Mistake(Exception):
    """What the user asked for cannot be done; the message is one line that says why and what would be right."""


class Nothing(Exception):
    """There is nothing to work on; the message is one line that says what to do about it."""


@contextmanager
def mistakes() -> Iterator[None]:
    """Turn the errors that a user can correct into :exc:`Mistake`."""
    from ..crawl.settings.dedup_settings import DedupSettingError
    from ..files.errors import RuleFileError
    from ..observation import ObservationError
    from ..store.store import StoreError

    try:
        yield
    except (DedupSettingError, ObservationError, RuleFileError, StoreError) as error:
        raise Mistake(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def output_file(name: str, option: str) -> Path:
    """Return the path of the file that an option names. Raises Mistake where it cannot be one."""
    path = Path(name)
    if path.is_dir():
        raise Mistake(f"{path} is a directory; {option} takes a file")
    if not path.parent.is_dir():
        raise Mistake(f"{path}: there is no folder {path.parent}; make it first")
    return path


class _Escaping:
    """A stream of text that escapes what is written to it; what it is else is that of ``stream``."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def write(self, text: str) -> int:
        """Write *text*."""
        return self.stream.write(escaped(text))

    def writelines(self, lines: Iterable[str]) -> None:
        """Write *lines*."""
        self.stream.writelines(map(escaped, lines))

    def __getattr__(self, name: str) -> Any:
        return getattr(self.stream, name)


@contextmanager
def escaping() -> Iterator[None]:
    """Let control characters, and what the output cannot encode, be written to the standard streams as escapes."""
    with ExitStack() as stack:
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            stack.enter_context(redirect(cast("TextIO", _Escaping(stream))))
        yield


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream below one that escapes: for what writes the control characters of a terminal itself."""
    return stream.stream if isinstance(stream, _Escaping) else stream
