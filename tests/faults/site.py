"""A site in a process of its own, which kills the crawler of its pages when it has been asked so often.

``python -m tests.faults.site`` listens on 127.0.0.1 and prints its port. A line on its standard input is one of

    visit NUMBER        forget what was asked for; session ids are those of this visit from now on
    kill PID REQUESTS   send SIGKILL to that process when so many requests have come since the visit began
    fail PID REQUESTS   the same, also to all that it has started
    asked               print how many came

and is answered by a line. It ends when its standard input closes.
"""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random
from typing import Final
from urllib.parse import parse_qs, urlsplit

from ..benchmarks.crawling.serving import ServerProcess
from ..servers import kill_with_children

LISTS: Final = 6
LENGTH: Final = 14
COPIES: Final = 3
_SECONDS: Final = 0.005
"""Before an answer, so that several are on their way."""

PAGES: Final = frozenset({"start", *(f"list {of} page {at}" for of in range(LISTS) for at in range(1, LENGTH + 1))})


def kill(pid: int) -> None:
    """Kill a process, if it has not ended."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


class FaultySite(ServerProcess):
    """Serves the site."""

    def __init__(self) -> None:
        super().__init__("tests.faults.site")

    def visit(self, number: int) -> None:
        """Begin a visit: session ids are others than on the visit before."""
        self.told(f"visit {number}")

    def kill(self, pid: int, requests: int) -> None:
        """Kill a process when so many requests have come; there may be others after other numbers of requests."""
        self.told(f"kill {pid} {requests}")

    def fail(self, pid: int, requests: int) -> None:
        """The same with the processes that it has started, as where a machine fails."""
        self.told(f"fail {pid} {requests}")

    def asked(self) -> int:
        """How many requests have come since the visit began."""
        return int(self.told("asked"))


class _Site:
    """What the process knows."""

    def __init__(self) -> None:
        self._visit = 0
        self._asked = 0
        #: After so many requests: the processes to be killed, and how.
        self._victims: dict[int, list[tuple[int, Callable[[int], None]]]] = {}

    def told(self, line: str) -> str:
        """Do what a line says; return what is answered."""
        what, *numbers = line.split()
        if what == "visit":
            self._visit, self._asked, self._victims = int(numbers[0]), 0, {}
        elif what in ("kill", "fail"):
            how = kill if what == "kill" else kill_with_children
            self._victims.setdefault(int(numbers[1]), []).append((int(numbers[0]), how))
        return str(self._asked)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer what comes over one connection."""
        try:
            while True:
                _, target, _ = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split(" ", 2)
                self._asked += 1
                for victim, how in self._victims.pop(self._asked, ()):
                    how(victim)
                await asyncio.sleep(_SECONDS)
                body = self._page(target).encode()
                head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(body)}\r\n\r\n"
                writer.write(head.encode() + body)
                await writer.drain()
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()

    def _page(self, target: str) -> str:
        query = {name: values[0] for name, values in parse_qs(urlsplit(target).query).items()}
        if not query:
            return self._html("start", [(of, 1) for of in range(LISTS)])
        of, at = int(query["of"]), int(query["page"])
        # Each list leads to its own pages, some of them in any order, and to one of another list.
        shown = Random(f"{of} {at}").sample(range(1, LENGTH + 1), 4)
        return self._html(f"list {of} page {at}", [(of, other) for other in (at % LENGTH + 1, *shown)])

    def _html(self, name: str, linked: list[tuple[int, int]]) -> str:
        anchors = "".join(f'<a href="{link}">more</a>' for link in self._links(linked))
        words = " ".join(f"{name.replace(' ', 'x')}x{number}" for number in range(60))
        return f"<html><head><title>{name}</title></head><body><p>{words}</p>{anchors}</body></html>"

    def _links(self, linked: list[tuple[int, int]]) -> Iterator[str]:
        for of, at in linked:
            for copy in range(COPIES):
                yield f"/list?of={of}&amp;page={at}&amp;sid=v{self._visit}c{copy}n{of * 7 + at}"


async def main() -> None:
    """Serve until standard input closes."""
    site = _Site()
    server = await asyncio.start_server(site.serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(site.told(line), flush=True)
    server.close()


if __name__ == "__main__":
    asyncio.run(main())
