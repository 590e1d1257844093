"""Servers on 127.0.0.1 in a process of their own, that are told and asked by lines on their standard input."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

ROOT = Path(__file__).resolve().parents[3]
"""The folder from which ``tests.benchmarks`` can be imported."""


class ServerProcess:
    """The parent's side of a server: a context manager.

    The process prints its port, answers a line on its standard input with a line, and ends when that
    is closed.
    """

    def __init__(self, module: str, *arguments: str) -> None:
        self._command = [sys.executable, "-m", module, *arguments]
        self.port = 0

    def __enter__(self) -> Self:
        self._process = subprocess.Popen(
            self._command,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT)},
        )
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError("the server did not start")
        self.port = int(line)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._process.communicate(timeout=60)

    def told(self, line: str) -> str:
        """What the process answers to a line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


Respond = Callable[[str, str, Mapping[str, str]], Awaitable[tuple[str, bytes]]]
"""Takes method, target and headers; returns status line and headers, as one text without the empty line, and the body."""


async def serve(respond: Respond, told: Callable[[str], str], port: int = 0, *, close: bool = False) -> None:
    """Serve until standard input closes; *told* answers a line on it. With *close* each answer ends its connection."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            closes = False
            while not closes:
                lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                method, target, _ = lines[0].split(" ", 2)
                headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
                head, body = await respond(method, target, headers)
                writer.write(f"{head}\r\n\r\n".encode("latin-1", "replace") + (b"" if method == "HEAD" else body))
                await writer.drain()
                closes = close or headers.get("connection") == "close"
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", port, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(told(line), flush=True)
    server.close()


def html_head(status: str, body: bytes, *more: str) -> str:
    """The head of an answer that is HTML."""
    lines = (f"HTTP/1.1 {status}", "Content-Type: text/html; charset=utf-8", f"Content-Length: {len(body)}", *more)
    return "\r\n".join(lines)
