"""A server that answers as a recorded site did, in a process of its own, and counts at the server.

``python -m tests.benchmarks.crawling.server FILE.jsonl.gz PORT [OPTION]..``
listens on 127.0.0.1 and nowhere else, and prints the port. A line on its standard input makes it print what it was asked for since the last
one, as a JSON object ``{"METHOD recorded URL": count}``; it ends when its standard input closes. A URL
that was not recorded answers 404. On a port other than the recorded one, the absolute links in the
pages name that port. With ``--noise`` something is added to each HTML page at each response (see ``noise``). A clock that
the site itself shows is that of the machine, or goes on by ``--step`` seconds with each response, as that of the noise;
with ``--close`` answers have no Content-Length and end with the connection.
"""

import asyncio
import json
import socket
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from itertools import count
from pathlib import Path
from urllib.parse import urlsplit

from ..command import flag, option, parsed
from ..recordings.recording import Answer, Recording
from .noise import KINDS, Noise, at_present, real_clock, stepping
from .serving import ServerProcess, serve


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

    def take(self) -> dict[str, int]:
        """What was asked for since the last call: ``{"GET http://..": count}``."""
        counts: dict[str, int] = json.loads(self.told("take"))
        return counts


def is_free(port: int) -> bool:
    """True when nothing listens on that port of 127.0.0.1."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


def head_of(answer: Answer, length: int, location: str, *, close: bool = False) -> str:
    """The status line and headers of an answer; with *close* the connection ends it, and not its length."""
    reason = HTTPStatus(answer.status).phrase if answer.status in set(HTTPStatus) else "Status"
    lines = [f"HTTP/1.1 {answer.status} {reason}", "Connection: close" if close else f"Content-Length: {length}"]
    lines += [f"Content-Type: {answer.content_type}"] if answer.content_type else []
    lines += [f"Location: {location}"] if location else []
    return "\r\n".join(lines)


async def serve_recording(path: Path, port: int, noise: Noise, *, close: bool = False) -> None:
    """Serve until standard input closes."""
    recording = Recording.load(path)
    pages = {answer.address: answer for answer in recording.answers.values()}
    asked: Counter[str] = Counter()
    answered = count(1)

    async def respond(method: str, target: str, headers: Mapping[str, str]) -> tuple[str, bytes]:
        parts = urlsplit("//" + headers.get("host", "127.0.0.1"))
        host, listening = parts.hostname or "", parts.port or 80
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
        return head_of(found, len(body), location, close=close), body

    def told(_: str) -> str:
        counts = json.dumps(asked)
        asked.clear()
        return counts

    await serve(respond, told, port, close=close)


def main() -> None:
    """Serve the recording that the arguments name."""
    options = parsed(
        __doc__,
        [
            option("file", type=Path),
            option("port", type=int),
            option("--noise", default="", help=f"of {', '.join(KINDS)}; nothing by default"),
            option("--style", choices=("class", "plain"), default="class"),
            option("--share", type=float, default=1.0, help="of the URLs whose pages carry the noise"),
            option("--step", type=float, default=0.0, help="seconds from response to response; 0: the real clock"),
            flag("--close", "end answers with the connection"),
        ],
        None,
    )
    clock = stepping(time.time(), options.step) if options.step else real_clock
    noise = Noise(tuple(filter(None, options.noise.split(","))), options.style, share=options.share, clock=clock)
    asyncio.run(serve_recording(options.file, options.port, noise, close=options.close))


if __name__ == "__main__":
    main()
