"""What commands print, whoever wrote it: control characters, and what the output cannot encode, are printed as escapes."""

import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from typing import Any, TextIO, cast

from ...files.control_characters import escaped

__all__ = ["escaping", "unescaped"]


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
    """Let what is written to the standard streams be escaped."""
    with ExitStack() as stack:
        for stream, redirect in ((sys.stdout, redirect_stdout), (sys.stderr, redirect_stderr)):
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="backslashreplace")
            stack.enter_context(redirect(cast("TextIO", _Escaping(stream))))
        yield


def unescaped(stream: TextIO) -> TextIO:
    """Return the stream below one that escapes: for what writes the control characters of a terminal itself."""
    return stream.stream if isinstance(stream, _Escaping) else stream
