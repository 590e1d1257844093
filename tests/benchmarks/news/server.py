"""A made-up news site on 127.0.0.1, in a process of its own with a clock of its own, that notes what it shows.

``python -m tests.benchmarks.news.server SEED`` prints its port. Each line on its standard input is a JSON object: ``shift``,
the seconds by which its clock is before that of the machine from then on, and ``ledger``, the file into which it writes,
for each response, a line with all pieces that were rendered (see ``pieces``). It answers with the number of responses
so far, and ends when its standard input closes. Each response tells its number in a header.
"""

import asyncio
import json
import sys
import time
from pathlib import Path
from typing import Final

from ..crawling.server import ServerProcess
from .site import NewsSite

HEADER: Final = "X-Response"
SECONDS: Final = 0.02
"""That the server waits before it answers: no site on the network is faster."""


class NewsServer(ServerProcess):
    """Serves the site of a seed."""

    def __init__(self, seed: int) -> None:
        super().__init__("tests.benchmarks.news.server", str(seed))

    def go_to(self, shift: float, ledger: Path) -> None:
        """Move the clock, and write another ledger from now on."""
        self.told(json.dumps({"shift": shift, "ledger": str(ledger.resolve())}))


class _Answers:
    """What the process knows."""

    def __init__(self, seed: int) -> None:
        self._site = NewsSite(seed)
        self._shift = 0.0
        self._ledger: Path | None = None
        self.number = 0

    def go_to(self, shift: float, ledger: str) -> None:
        self._shift, self._ledger = shift, Path(ledger)
        self._ledger.touch()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes over one connection."""
        try:
            while True:
                method, target, _ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
                number, status, body = self._answer(target)
                head = f"HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n"
                head += f"{HEADER}: {number}\r\n\r\n"
                await asyncio.sleep(SECONDS)
                writer.write(head.encode() + (b"" if method == "HEAD" else body))
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()

    def _answer(self, target: str) -> tuple[int, str, bytes]:
        self.number += 1
        served = self._site.respond(target, time.time() + self._shift, self.number)
        if served is None:
            return self.number, "404 Not Found", b"<p>404"
        if self._ledger is not None:
            with self._ledger.open("a", encoding="utf-8") as file:
                file.write(json.dumps(served.row(), ensure_ascii=False) + "\n")
        return self.number, "200 OK", served.html.encode()


async def main(seed: int) -> None:
    """Serve until standard input closes."""
    answers = _Answers(seed)
    server = await asyncio.start_server(answers.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        answers.go_to(**json.loads(line))
        print(answers.number, flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1])))
