"""Strategies for hypothesis: URLs as they are, URLs as they should not be, and any text."""

from hypothesis import strategies as st

_WORDS = ["a", "b", "id", "index.php", "page", "x-1", "v1.0", "ä", "%C3%A9", "%7e", "%2F", "%3b", "", "..", ".", "A"]
_TEXT = "abzAZ09-._~!$&'()*+,;=:@/?#[]|%\\ \t\n\"<>^`{}\x01\x7fäß漢İ\U0001f600"

names = st.sampled_from(["a", "b", "c", "utm_x", "utm_y", "tag[]", "sid", "t.x", "ü", "a%20b", ""])
words = st.one_of(st.sampled_from(_WORDS), st.text(_TEXT, max_size=6))
hosts = st.sampled_from(
    [
        "example.com",
        "EXAMPLE.com",
        "www.example.com",
        "a.b.example.co.uk",
        "localhost",
        "www.localhost",
        "127.0.0.1",
        "[::1]",
        "[0:0::1]",
        "bücher.example",
        "xn--bcher-kva.example",
        "ex%61mple.com",
        "example.com.",
        "a..example.com",
        "a_b.example.com",
        "*",
        "",
    ]
)
schemes = st.sampled_from(["http", "https", "HTTP", "ftp", "ws", "mailto", "x"])
userinfos = st.sampled_from(["", "", "", "u@", "u:p@", "%75:p%40@", "a@b@"])
ports = st.sampled_from(["", "", "", ":", ":80", ":443", ":8080", ":080", ":0", ":99999", ":x"])


@st.composite
def queries(draw: st.DrawFn) -> str:
    pieces = list(draw(st.sampled_from([[], [], ["/1/a/b", "&"], ["a/1", "&"], ["/a//", ";"]])))
    for _ in range(draw(st.integers(0, 5))):
        name, value = draw(names), draw(words)
        pieces.append(name + draw(st.sampled_from(["=", "=", "=", "", "=="])) + value)
        pieces.append(draw(st.sampled_from(["&", "&", "&", ";", "&&"])))
    return "".join(pieces[:-1])


@st.composite
def paths(draw: st.DrawFn) -> str:
    segments = []
    for _ in range(draw(st.integers(0, 4))):
        text = draw(
            st.one_of(words, st.sampled_from(["qid=1", "br=2", "a;jsessionid=5", "b;v", "c.html", "d.x;w=%2f"]))
        )
        segments.append(text.replace("?", "").replace("#", ""))
    return "".join(f"/{segment}" for segment in segments) + draw(st.sampled_from(["", "/"]))


@st.composite
def urls(draw: st.DrawFn) -> str:
    """URLs of all kinds, in good and in bad shape."""
    query = draw(queries())
    return "".join(
        [
            draw(schemes),
            draw(st.sampled_from(["://", "://", "://", "://", ":", ":/"])),
            draw(userinfos),
            draw(hosts),
            draw(ports),
            draw(paths()),
            draw(st.sampled_from(["?", ""])) if not query else "?" + query,
            draw(st.sampled_from(["", "", "#top", "#?a=1#"])),
        ]
    )


@st.composite
def plain_urls(draw: st.DrawFn) -> str:
    """URLs as a crawl meets them: http(s), a host with a registrable domain."""
    host = draw(st.sampled_from(["example.com", "www.example.com", "a.www.example.com", "example.com:8080"]))
    return f"{draw(st.sampled_from(['http', 'https']))}://{host}{draw(paths())}?{draw(queries())}"


_with_surrogates = st.text(st.characters(exclude_categories=()), max_size=10)
any_text = st.one_of(
    urls(),
    plain_urls(),
    st.text(),
    st.text(_TEXT),
    st.text(_TEXT).map("http://h/{}".format),
    _with_surrogates.map("http://example.com/{}?a=1".format),
)
