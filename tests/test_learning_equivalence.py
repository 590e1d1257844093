"""The rewrite rules of equivalence classes: odd input, laws, work."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.learning.methods.equivalence import Observed, inferred
from scrapy_dedup.learning.methods.rewriting import composed, segmented

from .rewrite_rules import class_rules, representative
from .work import work_of


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("/a", 1)],
        [("/a", 1), ("/b", 1)],
        [(f"/p?id={i}", 1) for i in range(5)],
        [(f"/p?id={i}", i) for i in range(50)],
        [(f"/p?a={i}&a={i + 1}&a[]={i}", i // 2) for i in range(50)],
        [("mailto:x@example.com", 1), ("http://[::1", 1), ("", 1), ("?", 1)],
        [("/" + "/".join("a" * n), n % 2) for n in range(90)],
        [(f"/%{i:02X}?{i}=;&=&;{i}", i % 7) for i in range(200)],
    ],
    ids=["nothing", "one", "two", "equal", "unique", "repeats", "no URLs", "deep", "escapes"],
)
def test_odd_input(rows: list[tuple[str, object]]) -> None:
    found = inferred([Observed(url, hash(page) % 100) for url, page in rows])
    for url, _ in rows:
        assert isinstance(found.normalized(url), str)
        assert composed(segmented(url).origin, [(s.key, s.text) for s in segmented(url).segments]) == url


def test_a_class_with_nothing_in_common() -> None:
    assert class_rules(["http://a.example/b", "http://a.example/c?d"]) == []
    assert representative(["http://a.example/b", "http://a.example/c"]) == "http://a.example"


URL = st.lists(st.sampled_from(["/", ";", "?", "&", "=", "a", "b=", "c", "#", "%20", "é"]), max_size=12).map("".join)


@given(URL)
def test_segments_compose_the_url(rest: str) -> None:
    url = "http://a.example/" + rest.replace("#", "")
    parts = segmented(url)
    assert composed(parts.origin, [(segment.key, segment.text) for segment in parts.segments]) == url


@given(st.lists(URL, min_size=1, max_size=5))
def test_every_url_of_a_class_is_rewritten_to_its_representative(rests: list[str]) -> None:
    urls = list(dict.fromkeys(f"http://a.example/{rest}".partition("#")[0] for rest in rests))
    target = representative(urls)
    for rule in class_rules(urls):
        for url in urls:
            rewritten = rule.rewrite(url)
            if rewritten is not None:
                assert texts(rewritten) == texts(target)


def texts(url: str) -> list[str]:
    """The segments of a URL, in any order; an empty one may have stood behind any separator."""
    return sorted(segment.text for segment in segmented(url).segments if segment.text)


def test_work_is_linear() -> None:
    def seen(pages: int) -> list[Observed]:
        return [Observed(f"http://a.example/view?id={i}&sid={i * 7 + n}", i) for i in range(pages) for n in range(3)]

    def inferring(pages: int) -> int:
        rows = seen(pages)
        return work_of(lambda: inferred(rows))

    assert len(inferred(seen(300)).active) == 1
    assert inferring(1_200) < 8 * 1.3 * inferring(150)
