"""What differs on each response of the benchmark sites: it is there, it differs, and the page's own text stays."""

import re
from itertools import pairwise

import pytest

from scrapy_dedup.content.sketch import sketch_of_html
from tests.benchmarks.crawling.noise import KINDS, TYPED, Noise, stepping, usual
from tests.benchmarks.crawling.site_clock import at_present, has_clock

PAGE = b"<!doctype html><html><head><title>t</title></head><body class='x'><p>its own text</p></body></html>"
WHERE = {"clock": "now", "counter": "visits", "teasers": "teasers", "token": "request", "duration": "generated"}


def noise(**said: object) -> Noise:
    return Noise(**{"kinds": KINDS, "clock": stepping(1_790_000_000, 1), **said})  # type: ignore[arg-type]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_stands_on_the_page_and_is_another_one_at_each_response(kind):
    source = noise(kinds=(kind,))
    pages = [source.on(PAGE).decode() for _ in range(20)]
    assert all(f'class="{WHERE[kind]}"' in page and "<p>its own text</p>" in page for page in pages)
    assert len({sketch_of_html(page).bag for page in pages}) > 15
    assert not any(f'class="{WHERE[other]}"' in page for page in pages for other in KINDS if other != kind)


def test_what_is_added_is_inside_the_body_around_the_content():
    page = noise().on(PAGE).decode()
    above, _, below = page.partition("<p>its own text</p>")
    assert above.startswith("<!doctype html><html><head><title>t</title></head><body class='x'><div class=\"now\">")
    assert below.endswith(" s</div></body></html>")
    assert noise().on(b"<p>a fragment</p>").decode().count("a fragment") == 1
    assert noise().on(b"") == b""


def test_the_same_seed_gives_the_same_and_another_one_does_not():
    assert [noise().on(PAGE) for _ in range(2)] == [noise().on(PAGE)] * 2
    assert noise(seed=2).on(PAGE) != noise().on(PAGE)


def test_without_what_varies_typed_noise_is_equal_and_the_counter_rises():
    source = noise(kinds=TYPED)
    pages = [source.on(PAGE).decode() for _ in range(30)]
    assert len({re.sub(r"(?<=request\">)\w+|\d", "", page) for page in pages}) == 1
    counts = [int(re.findall(r"Visitor no. (\d+)", page)[0]) for page in pages]
    assert all(one < two for one, two in pairwise(counts))
    seconds = [re.findall(r"\d\d:\d\d:(\d\d)", page)[0] for page in pages]
    assert all(int(two) == (int(one) + 1) % 60 for one, two in pairwise(seconds))


def test_plain_style_has_no_names():
    page = noise(style="plain").on(PAGE).decode()
    assert page.count("<p>") == 5
    assert page.count("class=") == 1


def test_half_of_the_urls_carry_it_and_always_the_same_ones():
    source = noise(share=0.5)
    targets = [f"/page/{number}" for number in range(400)]
    first, second = ([source.on(PAGE, target) == PAGE for target in targets] for _ in range(2))
    assert first == second
    assert 150 < sum(first) < 250


def test_quiet_sites_stay_as_they_are():
    assert usual(quiet=True).on(PAGE) == PAGE
    assert usual(quiet=False).on(PAGE) != PAGE
    with pytest.raises(ValueError, match="no such noise: weather"):
        Noise(("weather",))


def test_a_site_clock_is_the_time_that_goes_on_from_page_to_page():
    def pages(*last: str) -> list[bytes]:
        return [f"<p>edited 2020-01-0{n % 9} 1{n % 9}:00:00</p><p>{text}</p>".encode() for n, text in enumerate(last)]

    running = pages(*(f"at 2026-11-21 10:{n // 60:02}:{n % 60:02} +0000" for n in range(200)))
    assert has_clock(running)
    assert not has_clock(running[::-1])
    assert not has_clock(pages(*["no clock"] * 50))  # dates of the content come and go
    assert not has_clock([*running[:20], *([b"<p>none</p>"] * 5)])
    assert at_present(running[7], 1_790_000_000).decode().endswith("<p>at 2026-09-21 14:13:20 +0000</p>")
    assert b"edited 2020-01-07 17:00:00" in at_present(running[7], 1_790_000_000)
    assert at_present(b"<p>none</p>", 0) == b"<p>none</p>"
