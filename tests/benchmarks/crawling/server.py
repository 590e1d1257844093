"""A server that answers as a recorded site did, in a process of its own, and counts at the server.

``python -m tests.benchmarks.crawling.server FILE.jsonl.gz PORT [OPTION]..``
listens on 127.0.0.1 and nowhere else, and prints the port. A line on its standard input makes it print what it was asked for since the last
one, as a JSON object ``{"METHOD recorded URL": count}``; it ends when its standard input closes. A URL
that was not recorded answers 404. On a port other than the recorded one, the absolute links in the
pages name that port. With ``--noise`` something is added to each HTML page at each response (see ``noise``). A clock that
the site itself shows is that of the machine, or goes on by ``--step`` seconds with each response, as that of the noise;
with ``--close`` answers have no Content-Length and end with the connection.
"""

import argparse
import asyncio
import json
import os
import socket
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from http import HTTPStatus
from itertools import count
from pathlib import Path
from types import TracebackType
from urllib.parse import urlsplit

from typing_extensions import Self

from ..recordings.recording import Answer, Recording
from .noise import KINDS, Noise, real_clock, stepping
from .site_clock import at_present

ROOT = Path(__file__).resolve().parents[3]
"""The folder from which ``tests.benchmarks`` can be imported."""


class ServerProcess:
    """The parent's side of a server in a process of its own: a context manager.

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

    def take(self) -> dict[str, int]:
        """What was asked for since the last call: ``{"GET http://..": count}``."""
        counts: dict[str, int] = json.loads(self.told("take"))
        return counts

    def told(self, line: str) -> str:
        """What the process answers to a line."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        return self._process.stdout.readline()


class Server(ServerProcess):
    """Serves a recording."""

    def __init__(
        self,
        path: Path,
        port: int = 0,
        *,
        noise: Sequence[str] = (),
        style: str = "class",
        share: float = 1.0,
        step: float = 0.0,
        close: bool = False,
    ) -> None:
        """Serve on ``port`` when it is free, and else on any free one (0: any at once)."""
        free = port if port and is_free(port) else 0
        options = [f"--noise={','.join(noise)}", f"--style={style}", f"--share={share}", f"--step={step}"]
        options += ["--close"] if close else []
        super().__init__("tests.benchmarks.crawling.server", str(path.resolve()), str(free), *options)


def is_free(port: int) -> bool:
    """True when nothing listens on that port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def head_of(answer: Answer, length: int, location: str, *, close: bool = False) -> bytes:
    """The status line and headers of an answer; with *close* the connection ends it, and not its length."""
    try:
        reason = HTTPStatus(answer.status).phrase
    except ValueError:
        reason = "Status"
    lines = [f"HTTP/1.1 {answer.status} {reason}", "Connection: close" if close else f"Content-Length: {length}"]
    if answer.content_type:
        lines.append(f"Content-Type: {answer.content_type}")
    if location:
        lines.append(f"Location: {location}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1", "replace")


async def serve(path: Path, port: int, noise: Noise, *, close: bool = False) -> None:
    """Serve until standard input closes."""
    recording = Recording.load(path)
    pages = {answer.address: answer for answer in recording.answers.values()}
    asked: Counter[str] = Counter()
    listening = 0
    answered = count(1)

    async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await answer_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = dict(line.lower().split(": ", 1) for line in lines[1:] if ": " in line)
        host = urlsplit("//" + headers.get("host", "127.0.0.1")).hostname or ""
        target = recording.moved(target, listening, recording.port)
        found = pages.get((host, target))
        asked[f"{method} {found.url if found else f'http://{host}:{recording.port}{target}'}"] += 1
        if found is None:
            found = Answer("", 404, None, "text/plain", 0, "eJwDAAAAAAE=")
        body = recording.moved_body(found.body, listening)
        if found.is_html and found.status == 200:
            now = noise.clock(next(answered))
            body = noise.on(at_present(body, now) if recording.has_clock else body, found.address[1])
        location = recording.moved(found.location or "", recording.port, listening)
        writer.write(head_of(found, len(body), location, close=close) + (b"" if method == "HEAD" else body))
        await writer.drain()
        return not close and headers.get("connection") != "close"

    server = await asyncio.start_server(answer_all, "127.0.0.1", port, limit=1 << 20)
    listening = server.sockets[0].getsockname()[1]
    print(listening, flush=True)
    while await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(asked), flush=True)
        asked.clear()
    server.close()


def main() -> None:
    """Serve the recording that the arguments name."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.benchmarks.crawling.server", description=(__doc__ or "").split("\n", 1)[0]
    )
    parser.add_argument("file", type=Path)
    parser.add_argument("port", type=int)
    parser.add_argument("--noise", default="", help=f"of {', '.join(KINDS)}; nothing by default")
    parser.add_argument("--style", choices=("class", "plain"), default="class")
    parser.add_argument("--share", type=float, default=1.0, help="of the URLs whose pages carry the noise")
    parser.add_argument("--step", type=float, default=0.0, help="seconds from response to response; 0: the real clock")
    parser.add_argument("--close", action="store_true", help="end answers with the connection")
    options = parser.parse_args()
    clock = stepping(time.time(), options.step) if options.step else real_clock
    noise = Noise(tuple(filter(None, options.noise.split(","))), options.style, share=options.share, clock=clock)
    asyncio.run(serve(options.file, options.port, noise, close=options.close))


if __name__ == "__main__":
    main()
