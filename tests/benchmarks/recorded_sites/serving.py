"""How a site's own process serves it: on a port of 127.0.0.1 that the system gives, until standard input closes."""

import sys
from collections.abc import Callable
from threading import Thread
from wsgiref.simple_server import WSGIRequestHandler, make_server


class _Silent(WSGIRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:  # noqa: A002
        pass


def serve(application: object, fill: Callable[[str], None] | None = None) -> None:
    """Serve a WSGI application, one request at a time; the port is printed, once the site has been filled by requests to it."""
    with make_server("127.0.0.1", 0, application, handler_class=_Silent) as server:  # type: ignore[arg-type]
        Thread(target=server.serve_forever).start()
        if fill:
            fill(f"http://127.0.0.1:{server.server_port}")
        print(f"port {server.server_port}", flush=True)
        sys.stdin.read()
        server.shutdown()
