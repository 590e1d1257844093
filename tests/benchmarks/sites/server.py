"""A server of a made-up site on 127.0.0.1, in a process of its own, that counts what it is asked for.

    python -m tests.benchmarks.sites.server LEVEL SEED PORT [--only D4,T1] [--pages N] [--slots X1,X2]

prints the port. The site is asked for by its own host names, as an HTTP proxy would be (``GET
http://www.l2-0.example/``) or with a Host header; ``X-Forwarded-Proto: https`` stands for https.
``/`` lists hubs, hubs list every URL of the crawl, ``/robots.txt`` forbids what changes something.

Lines on standard input: ``take`` makes it print what it was asked for since the last one, as
``{"METHOD URL": count}``; ``time SECONDS`` sets its clock (seconds since 1970; it does not run by
itself); ``budget N`` makes it answer 429 to all but the next N requests. It ends when its standard
input closes.
"""

import argparse
import asyncio
import json
import sys
from collections import Counter
from collections.abc import Sequence
from html import escape
from http import HTTPStatus

from ..crawling.server import ServerProcess
from .crawl import Row, crawl
from .levels import LEVELS, level_knobs, sites_of
from .model import START, Knobs, Request
from .render import SLOTS, render
from .site import Site

PER_HUB = 100


class SiteServer(ServerProcess):
    """Serves a site of a level."""

    def __init__(
        self,
        level: str,
        seed: int = 0,
        *,
        only: Sequence[str] = (),
        pages: int | None = None,
        slots: Sequence[str] = (),
    ) -> None:
        options = [f"--only={','.join(only)}", f"--slots={','.join(slots)}"]
        options += [f"--pages={pages}"] if pages else []
        super().__init__("tests.benchmarks.sites.server", level, str(seed), "0", *options)

    def set_time(self, time: float) -> None:
        """Set the server's clock."""
        self.told(f"time {time}")

    def set_budget(self, requests: int) -> None:
        """Let the server answer so many requests more."""
        self.told(f"budget {requests}")


class Answers:
    """What the server says; knows nothing of sockets."""

    def __init__(self, site: Site, slots: Sequence[str] = ()) -> None:
        self.site = site
        self.slots = slots
        self.time = START
        self.budget: int | None = None
        self.asked: Counter[str] = Counter()
        self._rows = crawl(site)

    @property
    def listed(self) -> list[Row]:
        """The rows whose URLs the hubs list at this time."""
        return [row for row in self._rows if not row.late or row.time <= self.time]

    def answer(self, method: str, url: str) -> tuple[int, dict[str, str], str]:
        """(status, headers, body) of one request."""
        self.asked[f"{method} {url}"] += 1
        nonce = self.asked.total()
        if self.budget is not None:
            if self.budget <= 0:
                return 429, {}, "enough for today"
            self.budget -= 1
        request = Request.of(url)
        if request is None:
            return 400, {}, "no URL"
        match request.segments:
            case ():
                return 200, {}, self._index()
            case ("robots.txt",):
                return 200, {"Content-Type": "text/plain"}, self._robots()
            case ("hub", number) if number.isdigit():
                return self._hub(int(number))
        content = self.site.content(url, self.time)
        page = render(self.site, url, self.time, nonce, self.slots)
        if content is None or page is None:
            endpoint = self.site.endpoint_of(request)
            return endpoint.refusal if endpoint else 404, {}, "<p>there is no such page here, sorry</p>"
        headers = dict(content.headers)
        if content.redirect is not None:
            return content.status, headers | {"Location": content.redirect}, ""
        return content.status, headers, page.html

    def _index(self) -> str:
        hubs = range((len(self.listed) - 1) // PER_HUB + 1)
        return "<title>index</title>" + "".join([f'<a href="/hub/{number}">hub {number}</a>\n' for number in hubs])

    def _hub(self, number: int) -> tuple[int, dict[str, str], str]:
        rows = self.listed[number * PER_HUB : (number + 1) * PER_HUB]
        if not rows:
            return 404, {}, ""
        links = "".join([f'<a href="{escape(row.url)}">page</a>\n' for row in rows])
        return 200, {}, f"<title>hub {number}</title>{links}"

    def _robots(self) -> str:
        lines = ["User-agent: *"]
        if "T30" in self.site.endpoints:
            directory = self.site.endpoints["T30"].place.directory
            lines += [f"Disallow: /{directory}/account?action={name}" for name in ("logout", "delete")]
        return "\n".join([*lines, ""])


def url_of(target: str, headers: dict[str, str]) -> str:
    """The URL that a request is for, from its target and its headers."""
    if "://" in target.partition("?")[0]:
        return target
    scheme = headers.get("x-forwarded-proto", "http")
    return f"{scheme}://{headers.get('host', '127.0.0.1')}{target}"


async def serve(answers: Answers, port: int) -> None:
    """Serve until standard input closes."""

    async def answer_all(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await answer_one(reader, writer):
                pass
        except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, OSError, ValueError):
            pass
        finally:
            writer.close()

    async def answer_one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("utf-8", "surrogateescape").split("\r\n")
        method, target, _ = lines[0].split(" ", 2)
        headers = {name.lower(): text for name, _, text in (line.partition(": ") for line in lines[1:])}
        status, said, text = answers.answer(method, url_of(target, headers))
        body = text.encode()
        said = {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body)), **said}
        head = "\r\n".join(
            [f"HTTP/1.1 {status} {HTTPStatus(status).phrase}", *(f"{name}: {value}" for name, value in said.items())]
        )
        writer.write(head.encode("utf-8", "replace") + b"\r\n\r\n" + (b"" if method == "HEAD" else body))
        await writer.drain()
        return headers.get("connection", "").lower() != "close"

    server = await asyncio.start_server(answer_all, "127.0.0.1", port, limit=1 << 20)
    print(server.sockets[0].getsockname()[1], flush=True)
    while line := (await asyncio.to_thread(sys.stdin.readline)).split():
        match line:
            case ["time", seconds]:
                answers.time = float(seconds)
                print("ok", flush=True)
            case ["budget", count]:
                answers.budget = int(count)
                print("ok", flush=True)
            case _:
                print(json.dumps(answers.asked), flush=True)
                answers.asked.clear()
    server.close()


def main() -> None:
    """Serve the site that the arguments name."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.sites.server", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("level", choices=LEVELS)
    parser.add_argument("seed", type=int)
    parser.add_argument("port", type=int)
    parser.add_argument("--only", default="", help="one endpoint: D4")
    parser.add_argument("--pages", type=int)
    parser.add_argument("--slots", default="", help=f"passing parts, of {', '.join(SLOTS)}")
    args = parser.parse_args()
    only = [name for name in args.only.split(",") if name]
    knobs = level_knobs(args.level, Knobs(pages=args.pages) if args.pages else None)
    site = sites_of(args.level, args.seed, knobs, only)[0]
    asyncio.run(serve(Answers(site, [name for name in args.slots.split(",") if name]), args.port))


if __name__ == "__main__":
    main()
