"""The tests' own server: what the other tests rely on."""

from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from .server import Answer, Asked, Server, page, redirect


def read(url: str) -> str:
    with urlopen(url) as response:
        return response.read().decode()


def test_routes_and_counts(serve):
    def echo(asked: Asked) -> str:
        return page(f"{asked.path} {asked.query.get('q')}", "/next?a=1&b=2")

    server = serve({"/": "start", "/search/*": echo, "/search/deep/*": "deep", "/old": redirect("/")})
    assert read(server.url("/")) == "start"
    assert "&amp;b=2" in read(server.url("/search/x?q=1"))
    assert read(server.url("/search/deep/x")) == "deep"
    assert read(server.url("/old")) == "start"
    with pytest.raises(HTTPError, match="404") as caught:
        urlopen(server.url("/missing"))
    caught.value.close()
    assert server.hits == {"/": 2, "/search/x?q=1": 1, "/search/deep/x": 1, "/old": 1, "/missing": 1}
    assert server.downloads == 6
    server.reset()
    assert server.downloads == 0


def test_methods_bodies_and_hosts():
    with Server(lambda asked: Answer(asked.body[::-1], headers={"X-Host": asked.host})) as server:
        with urlopen(Request(server.url("/", host="localhost"), data=b"abc")) as response:
            assert response.read() == b"cba"
            assert response.headers["X-Host"] == f"localhost:{server.port}"
        with urlopen(Request(server.url("/"), method="HEAD")) as response:
            assert response.read() == b""
        assert server.counted(method="HEAD") == {"/": 1}
        assert server.counted(host="localhost") == {"/": 1}


def test_a_body_that_ends_with_the_connection():
    with Server({"/": Answer("all of it", close=True)}) as server, urlopen(server.url("/")) as response:
        assert response.read() == b"all of it"
        assert response.headers["Content-Length"] is None


def test_hang_up():
    with Server({"/": Answer(hang_up=True)}) as server, pytest.raises(OSError, match="closed connection"):
        urlopen(server.url("/"))
