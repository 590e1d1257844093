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
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ..crawling.serving import ServerProcess, html_head, serve
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

    async def respond(self, _: str, target: str, __: Mapping[str, str]) -> tuple[str, bytes]:
        """Answer after a while."""
        number, status, body = self._answer(target)
        await asyncio.sleep(SECONDS)
        return html_head(status, body, f"{HEADER}: {number}"), body

    def told(self, line: str) -> str:
        """Set the clock and the ledger; return the number of responses."""
        self.go_to(**json.loads(line))
        return str(self.number)

    def _answer(self, target: str) -> tuple[int, str, bytes]:
        self.number += 1
        served = self._site.respond(target, time.time() + self._shift, self.number)
        if served is None:
            return self.number, "404 Not Found", b"<p>404"
        if self._ledger is not None:
            with self._ledger.open("a", encoding="utf-8") as file:
                file.write(json.dumps(served.row(), ensure_ascii=False) + "\n")
        return self.number, "200 OK", served.html.encode()


if __name__ == "__main__":
    answers = _Answers(int(sys.argv[1]))
    asyncio.run(serve(answers.respond, answers.told))
