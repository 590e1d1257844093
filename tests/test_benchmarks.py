"""The benchmarks measure what they say: scores on hand-made cases, noise on pages, and a small recording crawled and replayed."""

import gzip
import json
import re
from itertools import pairwise
from pathlib import Path
from urllib.request import urlopen

import pytest

from .benchmarks import recorded, replay
from .benchmarks.crawling.noise import KINDS, TYPED, Noise, at_present, has_clock, stepping, usual
from .benchmarks.crawling.server import Server
from .benchmarks.labelled import Row, split_rows
from .benchmarks.recordings.recording import Recording, answer, identity, write_recording
from .benchmarks.scoring.reachability import ClosedWorld
from .benchmarks.scoring.score import Score, averages, lost_pages, mean, missed_duplicates, pooled, score

HOST = "http://127.0.0.1:8999"


def test_one_merge_can_lose_three_of_four_pages() -> None:
    merged = score(["same key"] * 1003, ["big"] * 1000 + ["a", "b", "c"])
    assert (merged.pages, merged.kept, merged.represented, merged.lost, merged.lost_rate) == (4, 1, 1, 3, 0.75)
    # The 999 right merges are credited, the three wrong ones are not, which a pair count would hardly have seen.
    assert merged.oracle_compression == 1
    assert merged.false_positive_rate == pytest.approx(3003 / (1003 * 1002 / 2))


@pytest.mark.parametrize(
    ("keys", "contents", "found"),
    [
        ("kkkk", "abbb", (0, 1, 0, 3, 2)),  # the first URL of a key stands for it
        ("kkl", "abb", (0, 0, 0, 1, 1)),  # no page is lost that another key shows
        ("kkklmn", "aabaca", (1, 1, 2, 1, 1)),
        ("ab", "xy", (0, 0, 0, 0, 0)),
    ],
)
def test_a_url_is_kept_saved_or_falsely_merged(keys: str, contents: str, found: tuple[int, ...]) -> None:
    one = score(list(keys), list(contents))
    assert (one.saved, one.lost, one.missed, one.false_merges, one.removed) == found


def test_formulas_of_the_pattern_tree_paper_and_averages() -> None:
    # 10 URLs of 4 pages; the keys leave 5 URLs, which show all 4, one of them twice.
    scores = score(list("1111222345"), list("aaaabbbccd"))
    assert scores.compression == pytest.approx(1 - 5 / 10)
    assert scores.dup_reduction == pytest.approx(1 - (1 - 4 / 5) / (1 - 4 / 10))
    assert (scores.oracle_compression, scores.false_positive_rate) == (pytest.approx(5 / 6), 0)
    none = score(["a", "b"], ["x", "y"])
    assert (none.oracle_compression, none.dup_reduction, none.false_positive_rate) == (None, None, None)
    assert (score([], []), mean([None, 0.5, 1.0]), mean([None])) == (Score(0, 0, 0, 0), 0.75, None)
    one, other = (["a", "a", "b"], ["x", "x", "y"]), (["c", "c"], ["p", "q"])
    assert pooled([score(*one), score(*other)]) == score(one[0] + other[0], one[1] + other[1])
    of_both = averages([score(*one), score(*other)])
    assert (of_both["micro"]["lost_rate"], of_both["macro"]["lost_rate"]) == (1 / 4, (0 + 1 / 2) / 2)
    urls, keys, contents = ["u1", "u2", "u3"], ["k", "k", "l"], ["a", "b", "a"]
    assert lost_pages(urls, keys, contents) == [("u2", "u1", "k")]
    assert missed_duplicates(urls, keys, contents) == [("u3", "u1")]


def test_splits_are_always_the_same() -> None:
    rows = [Row(f"http://a.example/{i}", str(i % 10), None, None) for i in range(200)]
    first, second = split_rows(rows, "url", 0)
    assert sorted(first + second, key=rows.index) == rows
    assert (first, second) == split_rows(rows, "url", 0)
    assert first != split_rows(rows, "url", 1)[0]
    first, second = split_rows(rows, "page", 0)
    assert not {row.fingerprint for row in first} & {row.fingerprint for row in second}
    training, scored = split_rows(rows, "paper", 0)
    assert (len(training), scored) == (40, rows)
    redirect = Row("http://a.example/1", "redirect:http://a.example/2", None, None).observation()
    assert (redirect.redirect, redirect.status) == ("http://a.example/2", 302)


def test_identity_of_a_page() -> None:
    page = "<title>T</title><body><script>no()</script><!-- no --><p>one two 12:34:56 <b>three</b> end"
    same = "<title>T</title><body><p>one two <b>three</b></p><p>end 09:59</p><style>x</style>"
    own, equal, other_order = (
        identity(text.encode(), "text/html") for text in (page, same, "<title>T</title><body>two one three end")
    )
    assert own == equal
    assert (own.bag == other_order.bag, own.text == other_order.text) == (True, False)
    assert identity(b"{}", "application/json") != identity(b"{} ", "application/json")
    assert identity(b"", "text/html") == identity(b"", "text/html; charset=nonsense")


def link(href: str, text: str) -> str:
    return f"<a href='{href}'>{text}</a>"


@pytest.mark.parametrize(("linked_from_start", "beyond"), [(False, True), (True, False)])
def test_pages_beyond_the_edge_of_a_recording(linked_from_start: bool, beyond: bool) -> None:
    front = link("/a?s=1", "a one") + link("/a?s=2", "a two") + link("/deep?s=2", "deep") * linked_from_start
    pages = {
        "/a?s=1": "words " + link("/deep?s=1", "deep"),
        "/a?s=2": "words " + link("/deep?s=2", "deep"),
        "/deep?s=2": "deep page " + link("/deeper?s=2", "deeper"),
        "/deeper?s=2": "deeper page",
    }
    answers = [answer(f"{HOST}/", front, depth=0), *(answer(HOST + path, body) for path, body in pages.items())]
    recording = Recording("edge", answers)
    lost = [[f"{HOST}/deep?s=2"], [f"{HOST}/deeper?s=2"]]
    assert ClosedWorld(recording, [f"{HOST}/", f"{HOST}/a?s=1"]).unreachable(lost) == [beyond, beyond]
    # Its twin was not fetched either: then nothing excuses the loss.
    assert ClosedWorld(recording, [f"{HOST}/"]).unreachable(lost) == [False, False]


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    """A start page and 30 products, each under three session ids; ``p`` matters, ``sid`` does not."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    products = {(p, n): f"/item?p={p}&sid=s{p * 7 + n}x" for p in range(30) for n in range(3)}
    about = [" ".join(f"{words[(p + i) % 6]}{p * i}" for i in range(30)) for p in range(30)]
    front = "".join(link(url, f"item {p}") for (p, _), url in products.items()) + link("/old", "old")
    answers = [answer(f"{HOST}/", front, depth=0)]
    answers += [answer(HOST + url, f"<h1>Item {p}</h1>{about[p]}") for (p, _), url in products.items()]
    path = tmp_path / "shop.jsonl.gz"
    write_recording(path, [*answers, answer(f"{HOST}/old", status=301, location=f"{HOST}/item?p=1&sid=s7x")])
    return path


@pytest.mark.usefixtures("_forked_benchmarks")
def test_recording_crawled_plain_cold_and_warm(shop: Path, tmp_path: Path) -> None:
    result = recorded.run(shop, tmp_path / "projects", any_port=True)
    plain, cold, warm = (result[name] for name in ("plain", "cold", "warm"))
    assert (plain.downloads, plain.text, plain.bag) == (91, 31, 31)
    assert 31 <= cold.downloads <= 91, "it learns while it runs, if it runs long enough"
    assert (cold.lost, warm.lost, warm.bag, warm.downloads - warm.verifying) == ((), (), 31, 31)
    assert result.rules >= 1
    assert all(check.holds for check in recorded.checks(result))


def test_a_first_crawl_is_replayed_in_simulated_time(shop: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert replay.main([str(shop), "--rate", "0", "--injected", "--json"]) == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["downloads"]["plain"] == 91
    assert found["lost"] == 0
    assert found["saved"]["warm"] == 1
    assert 1 > found["saved"]["after 3"] > found["saved"]["after 10"] > 0.6


def test_server_answers_as_recorded_on_another_port_and_shows_the_present_time(tmp_path: Path) -> None:
    front = f"<a href='{HOST}/x'>x</a> <a href='/go?to=127.0.0.1%3A8999'>go</a>"
    pages = [answer(f"{HOST}/{n}", f"<p>page {n}</p><p>at 2001-02-03 10:00:{n:02} +0000</p>") for n in range(20)]
    for name, answers in (
        ("site", [answer(f"{HOST}/", front), answer(f"{HOST}/old", status=301, location=f"{HOST}/")]),
        ("clock", pages),
    ):
        write_recording(tmp_path / f"{name}.jsonl.gz", answers)
    with Server(tmp_path / "site.jsonl.gz") as server:
        body = urlopen(f"http://127.0.0.1:{server.port}/old").read().decode()
        assert f"http://127.0.0.1:{server.port}/x" in body
        assert f"127.0.0.1%3A{server.port}" in body
        assert (server.take(), server.take()) == ({f"GET {HOST}/old": 1, f"GET {HOST}/": 1}, {})
    with Server(tmp_path / "clock.jsonl.gz", step=60.0, close=True) as server:
        shown = [urlopen(f"http://127.0.0.1:{server.port}/7").read().decode() for _ in range(2)]
    assert shown[0] != shown[1]
    assert all(text.startswith("<p>page 7</p><p>at 20") and "2001-02-03" not in text for text in shown)


def test_cut_bodies_end_in_the_digest_of_the_whole_ones(tmp_path: Path) -> None:
    paths = ("/a.gz", "/b.gz", "/c.gz")
    answers = [answer(HOST + path, "cut", content_type="application/gzip", depth=0) for path in paths]
    write_recording(tmp_path / "site.jsonl.gz", answers)
    with gzip.open(tmp_path / "site.labels.tsv.gz", "wt") as labels:
        labels.write("requested_url\tsha1_body\n")
        labels.writelines(f"{HOST}{path}\t{digest}\n" for path, digest in zip(paths, "112", strict=True))
    recording = Recording.load(tmp_path / "site.jsonl.gz")
    assert [recording.answers[HOST + path].body for path in paths] == [b"cut1", b"cut1", b"cut2"]


# -- noise

PAGE = b"<!doctype html><html><head><title>t</title></head><body class='x'><p>its own text</p></body></html>"


def test_noise_stands_around_the_text_of_a_page_and_is_another_one_at_each_response() -> None:
    names = {"clock": "now", "counter": "visits", "teasers": "teasers", "token": "request", "duration": "generated"}
    for kind in KINDS:
        source = Noise((kind,), clock=stepping(1_790_000_000, 1))
        pages = [source.on(PAGE).decode() for _ in range(20)]
        assert all(f'class="{names[kind]}"' in page and "<p>its own text</p>" in page for page in pages)
        assert len(set(pages)) > 15
        again = Noise((kind,), clock=stepping(1_790_000_000, 1))
        assert [again.on(PAGE).decode() for _ in range(20)] == pages
    assert usual(quiet=True).on(PAGE) == PAGE
    with pytest.raises(ValueError, match="no such noise: weather"):
        Noise(("weather",))
    half = [Noise(share=0.5).on(PAGE, f"/page/{number}") == PAGE for number in range(400)]
    assert 150 < sum(half) < 250


def test_without_what_varies_typed_noise_is_equal_and_the_counter_rises() -> None:
    source = Noise(TYPED, "plain", clock=stepping(1_790_000_000, 1))
    pages = [source.on(PAGE).decode() for _ in range(30)]
    assert len({re.sub(r"(?<=<p>)[0-9a-f]{16}|\d", "", page) for page in pages}) == 1
    counts = [int(re.findall(r"Visitor no. (\d+)", page)[0]) for page in pages]
    assert all(one < two for one, two in pairwise(counts))


def test_a_site_clock_is_the_time_that_goes_on_from_page_to_page() -> None:
    def pages(*last: str) -> list[bytes]:
        return [f"<p>edited 2020-01-0{n % 9} 1{n % 9}:00:00</p><p>{text}</p>".encode() for n, text in enumerate(last)]

    running = pages(*(f"at 2026-11-21 10:{n // 60:02}:{n % 60:02} +0000" for n in range(200)))
    assert has_clock(running)
    assert not has_clock(running[::-1])
    assert not has_clock(pages(*["no clock"] * 50))  # dates of the content come and go
    assert at_present(running[7], 1_790_000_000).decode().endswith("<p>at 2026-09-21 14:13:20 +0000</p>")
    assert at_present(b"<p>none</p>", 0) == b"<p>none</p>"
