"""A real HTTP server on loopback for the tests: routes are Python callables, every request is counted.

    with Server({"/": lambda asked: page("start", "/p?sid=1"), "/p": "a page", "/old": redirect("/p")}) as server:
        ... crawl server.url("/") ...
        assert server.hits["/p?sid=1"] == 1

A route is found by its exact path, else by the longest ``/prefix/*``, else by ``*``; what is not found answers 404.
It answers for every host name that leads to 127.0.0.1 (``server.url("/", host="localhost")``).
"""

import html
import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, urlsplit

from .waiting import PATIENCE

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(frozen=True, slots=True)
class Asked:
    """One request as the server saw it; ``target`` is the path with its query."""

    method: str
    host: str
    target: str
    headers: Mapping[str, str]
    body: bytes = b""

    @property
    def path(self) -> str:
        return urlsplit(self.target).path

    @property
    def query(self) -> dict[str, str]:
        """The last value of each query parameter."""
        return dict(parse_qsl(urlsplit(self.target).query, keep_blank_values=True))


@dataclass(frozen=True, slots=True)
class Answer:
    """What the server sends; ``hang_up`` closes without an answer, ``close`` ends the body with the connection.

    With ``close`` there is no Content-Length, as HTTP/1.0 servers and many CGI programs answer: a client that gets
    a part of the body only cannot tell.
    """

    body: str | bytes = b""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    content_type: str = "text/html; charset=utf-8"
    hang_up: bool = False
    close: bool = False


Route = str | bytes | int | Answer | Callable[[Asked], "str | bytes | int | Answer"]


def page(text: str, *links: str, title: str = "", canonical: str = "", head: str = "") -> str:
    """An HTML page with the given text in a paragraph and a link to each target."""
    if canonical:
        head += f'<link rel="canonical" href="{html.escape(canonical)}">'
    anchors = "".join(f'<li><a href="{html.escape(link)}">link</a></li>' for link in links)
    return (
        f"<!doctype html><html><head><title>{html.escape(title or text[:40])}</title>{head}</head>"
        f"<body><p>{html.escape(text)}</p><ul>{anchors}</ul></body></html>"
    )


def prose(seed: object, words: int = 60) -> str:
    """Some text that is the same for the same seed and different for another one."""
    return " ".join(f"w{seed}x{number}" for number in range(words))


def redirect(location: str, status: int = 302) -> Answer:
    return Answer(status=status, headers={"Location": location})


def as_json(value: Any) -> Answer:
    return Answer(json.dumps(value), content_type="application/json")


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # Headers and body are two writes, and the second one would wait for the client's delayed acknowledgement.
    disable_nagle_algorithm = True
    # Keep-alive connections end by themselves, so that no thread outlives its test for ever; clients end them before.
    timeout = PATIENCE
    server: "_HTTPServer"

    def answer(self) -> None:
        length = int(self.headers.get("Content-Length") or 0)
        asked = Asked(
            self.command,
            self.headers.get("Host", ""),
            self.path,
            {name.lower(): value for name, value in self.headers.items()},
            self.rfile.read(length),
        )
        answer = self.server.owner.answer(asked)
        if answer.hang_up:
            self.close_connection = True
            return
        body = answer.body.encode() if isinstance(answer.body, str) else answer.body
        self.send_response(answer.status)
        sent = {"Content-Type": answer.content_type, "Content-Length": str(len(body)), **answer.headers}
        if answer.close:
            del sent["Content-Length"]
            sent["Connection"] = "close"  # which BaseHTTPRequestHandler minds
        for name, value in sent.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = answer

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the tests count."""


class _HTTPServer(ThreadingHTTPServer):
    daemon_threads = True
    # Connections that find no room here are tried again by the client's system, seconds later.
    request_queue_size = 256
    owner: "Server"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients that are killed on purpose leave broken connections: no traceback for them."""


class Server:
    """The server; ``hits`` counts requests per target, ``asked`` lists them in order."""

    def __init__(self, routes: Mapping[str, Route] | Callable[[Asked], Any]) -> None:
        self.routes: Mapping[str, Route] = {"*": routes} if callable(routes) else dict(routes)
        self.asked: list[Asked] = []
        self._lock = threading.Lock()
        self._http = _HTTPServer(("127.0.0.1", 0), _Handler)
        self._http.owner = self
        self.port: int = self._http.server_address[1]
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)

    def __enter__(self) -> "Self":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(PATIENCE)

    def url(self, target: str = "/", host: str = "127.0.0.1") -> str:
        return f"http://{host}:{self.port}{target}"

    @property
    def site(self) -> str:
        """The name of the site in rule files."""
        return f"127.0.0.1:{self.port}"

    def is_of(self, url: str) -> bool:
        """Whether a URL leads here, whatever its host."""
        return urlsplit(url).port == self.port

    @property
    def hits(self) -> Counter[str]:
        """How often each target was asked for, robots.txt left out."""
        return self.counted()

    def counted(self, *, method: str | None = None, host: str | None = None) -> Counter[str]:
        """As ``hits``, for one method or one host (with or without its port) only."""
        with self._lock:
            return Counter(
                asked.target
                for asked in self.asked
                if asked.path != "/robots.txt"
                and (method is None or asked.method == method)
                and (host is None or host in (asked.host, asked.host.rpartition(":")[0]))
            )

    @property
    def downloads(self) -> int:
        return sum(self.hits.values())

    def reset(self) -> None:
        """Forget what was asked so far."""
        with self._lock:
            self.asked.clear()

    def answer(self, asked: Asked) -> Answer:
        with self._lock:
            self.asked.append(asked)
        route = self._route(asked.path)
        said = route(asked) if callable(route) else route
        if isinstance(said, Answer):
            return said
        if isinstance(said, int):
            return Answer(f"status {said}", status=said)
        return Answer(said)

    def _route(self, path: str) -> Route:
        if path in self.routes:
            return self.routes[path]
        prefixes = [key for key in self.routes if key.endswith("/*") and path.startswith(key[:-1])]
        if prefixes:
            return self.routes[max(prefixes, key=len)]
        return self.routes.get("*", 404)
