"""The benchmarks measure what they say: scores on hand-made cases, and a small recording crawled."""

import gzip
from pathlib import Path

import pytest

from tests.benchmarks import recorded
from tests.benchmarks.crawling.noise import KINDS
from tests.benchmarks.crawling.server import Server
from tests.benchmarks.labelled import Row, split_rows
from tests.benchmarks.recordings.pages import identity
from tests.benchmarks.recordings.recording import Answer, Recording, answer, write_recording
from tests.benchmarks.scoring.checks import Check, report
from tests.benchmarks.scoring.reachability import ClosedWorld
from tests.benchmarks.scoring.score import Score, averages, lost_pages, mean, missed_duplicates, pooled, score

HOST = "http://127.0.0.1:8999"


def test_one_merge_can_lose_three_of_four_pages() -> None:
    contents = ["big"] * 1000 + ["a", "b", "c"]
    merged = score(["same key"] * 1003, contents)
    assert (merged.pages, merged.kept, merged.represented, merged.lost) == (4, 1, 1, 3)
    assert merged.lost_rate == 0.75
    # The 999 right merges are credited, the three wrong ones are not ..
    assert merged.oracle_compression == 1
    # .. and a pair count would hardly have seen them.
    assert merged.false_positive_rate == pytest.approx(3003 / (1003 * 1002 / 2))
    assert merged.false_positive_rate < 0.01


def test_the_first_url_of_a_key_stands_for_it() -> None:
    merged = score(["k"] * 4, ["a", "b", "b", "b"])
    assert (merged.saved, merged.lost, merged.oracle_compression) == (0, 1, 0)


def test_a_page_is_not_lost_when_another_key_shows_it() -> None:
    merged = score(["k", "k", "l"], ["a", "b", "b"])
    assert (merged.lost, merged.saved, merged.false_pairs) == (0, 0, 1)


def test_formulas_of_the_pattern_tree_paper() -> None:
    # 10 URLs of 4 pages; the keys leave 5 URLs, which show all 4, one of them twice.
    contents = list("aaaabbbccd")
    scores = score(list("1111222345"), contents)
    assert scores.compression == pytest.approx(1 - 5 / 10)
    assert scores.dup_reduction == pytest.approx(1 - (1 - 4 / 5) / (1 - 4 / 10))
    assert scores.oracle_compression == pytest.approx(5 / 6)
    assert scores.false_positive_rate == 0


def test_nothing_to_merge_has_no_rate() -> None:
    scores = score(["a", "b"], ["x", "y"])
    assert scores.oracle_compression is None
    assert scores.dup_reduction is None
    assert scores.false_positive_rate is None
    assert score([], []) == Score(0, 0, 0, 0)
    assert mean([None, 0.5, 1.0]) == 0.75
    assert mean([None]) is None


def test_pooled_scores_are_scores_of_the_pool() -> None:
    one, other = (["a", "a", "b"], ["x", "x", "y"]), (["c", "c"], ["p", "q"])
    assert pooled([score(*one), score(*other)]) == score(one[0] + other[0], one[1] + other[1])
    of_both = averages([score(*one), score(*other)])
    assert of_both["micro"]["lost_rate"] == 1 / 4
    assert of_both["macro"]["lost_rate"] == (0 + 1 / 2) / 2


def test_a_url_is_kept_saved_or_falsely_merged_and_a_duplicate_removed_or_missed() -> None:
    found = score(list("kkklmn"), list("aabaca"))
    assert (found.urls, found.kept, found.saved, found.false_merges) == (6, 4, 1, 1)
    assert (found.duplicates, found.lost, found.missed, found.removed) == (3, 1, 2, 1)
    assert found.removed_share == 1 / 3


def test_what_was_lost_and_what_was_missed_is_named() -> None:
    urls, keys, contents = ["u1", "u2", "u3"], ["k", "k", "l"], ["a", "b", "a"]
    assert lost_pages(urls, keys, contents) == [("u2", "u1", "k")]
    assert missed_duplicates(urls, keys, contents) == [("u3", "u1")]


def test_halves_are_disjoint_and_always_the_same() -> None:
    rows = [Row(f"http://a.example/{i}", str(i % 10), None, None) for i in range(200)]
    first, second = split_rows(rows, "url", 0)
    assert sorted(first + second, key=rows.index) == rows
    assert (first, second) == split_rows(rows, "url", 0)
    assert first != split_rows(rows, "url", 1)[0]
    first, second = split_rows(rows, "page", 0)
    assert not {row.fingerprint for row in first} & {row.fingerprint for row in second}
    assert len(first) + len(second) == 200


def test_the_papers_split_learns_from_a_fifth_and_scores_on_all() -> None:
    rows = [Row(f"http://a.example/{i}", str(i % 10), None, None) for i in range(200)]
    training, scored = split_rows(rows, "paper", 0)
    assert len(training) == 40
    assert scored == rows
    assert training == split_rows(rows, "paper", 0)[0] != split_rows(rows, "paper", 1)[0]


def test_redirects_are_evidence_but_no_content() -> None:
    row = Row("http://a.example/1", "redirect:http://a.example/2", None, "http://a.example/2")
    seen = row.observation()
    assert row.is_redirect
    assert (seen.redirect, seen.status) == ("http://a.example/2", 302)


def test_a_missed_figure_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    assert report([Check("fine", 0.5, 0.5)]) == 0
    assert report([Check("fine", 1, most=1), Check("shop: saved", 0.25, 0.5), Check("none", None, 1)]) == 1
    printed = capsys.readouterr().err
    assert "shop: saved: 0.25, must be at least 0.5" in printed
    assert "none: no figure" in printed
    assert "fine: 1," not in printed


def test_identity_of_a_page() -> None:
    page = "<title>T</title><body><script>no()</script><!-- no --><p>one two 12:34:56 <b>three</b> end"
    same = "<title>T</title><body><p>one two <b>three</b></p><p>end 09:59</p><style>x</style>"
    other_order = "<title>T</title><body>two one three end"
    assert identity(page.encode(), "text/html") == identity(same.encode(), "text/html")
    assert identity(page.encode(), "text/html").bag == identity(other_order.encode(), "text/html").bag
    assert identity(page.encode(), "text/html").text != identity(other_order.encode(), "text/html").text
    assert identity(b"{}", "application/json") != identity(b"{} ", "application/json")
    assert identity(b"", "text/html") == identity(b"", "text/html; charset=nonsense")


def link(href: str, text: str) -> str:
    return f"<a href='{href}'>{text}</a>"


@pytest.mark.parametrize(("linked_from_start", "beyond"), [(False, True), (True, False)])
def test_pages_beyond_the_edge_of_a_recording(linked_from_start: bool, beyond: bool) -> None:
    front = link("/a?s=1", "a one") + link("/a?s=2", "a two")
    if linked_from_start:
        front += link("/deep?s=2", "deep")
    recording = Recording(
        "edge",
        [
            answer(f"{HOST}/", front, depth=0),
            answer(f"{HOST}/a?s=1", "words " + link("/deep?s=1", "deep")),
            answer(f"{HOST}/a?s=2", "words " + link("/deep?s=2", "deep")),
            answer(f"{HOST}/deep?s=2", "deep page " + link("/deeper?s=2", "deeper")),
            answer(f"{HOST}/deeper?s=2", "deeper page"),
        ],
    )
    world = ClosedWorld(recording, [f"{HOST}/", f"{HOST}/a?s=1"])
    lost = [[f"{HOST}/deep?s=2"], [f"{HOST}/deeper?s=2"]]
    assert world.unreachable(lost) == [beyond, beyond]
    # Its twin was not fetched either: then nothing excuses the loss.
    assert ClosedWorld(recording, [f"{HOST}/"]).unreachable(lost) == [False, False]


def small_shop() -> list[Answer]:
    """A start page and 30 products, each under three session ids; ``p`` matters, ``sid`` does not."""
    words = ["alpha", "beta", "gamma", "delta", "epsilon", "zeta"]
    products = [(p, sid) for p in range(30) for sid in range(3)]
    front = "".join(link(f"/item?p={p}&sid=s{p * 7 + sid}x", f"item {p}") for p, sid in products)
    about = [" ".join(f"{words[(p + i) % 6]}{p * i}" for i in range(30)) for p in range(30)]
    return [
        answer(f"{HOST}/", front, depth=0),
        *(answer(f"{HOST}/item?p={p}&sid=s{p * 7 + sid}x", f"<h1>Item {p}</h1>{about[p]}") for p, sid in products),
        answer(f"{HOST}/old", status=301, location=f"{HOST}/"),
    ]


def test_server_answers_as_recorded_on_another_port(tmp_path: Path) -> None:
    from urllib.request import urlopen

    path = tmp_path / "shop.jsonl.gz"
    page = f"<a href='{HOST}/x'>x</a> <a href='/go?to=127.0.0.1%3A8999'>go</a>"
    write_recording(path, [answer(f"{HOST}/", page), answer(f"{HOST}/old", status=301, location=f"{HOST}/")])
    with Server(path) as server:
        with urlopen(f"http://127.0.0.1:{server.port}/old") as response:
            body = response.read().decode()
        assert f"http://127.0.0.1:{server.port}/x" in body
        assert f"127.0.0.1%3A{server.port}" in body
        assert server.take() == {f"GET {HOST}/old": 1, f"GET {HOST}/": 1}
        assert server.take() == {}


def test_cut_bodies_end_in_the_digest_of_the_whole_ones(tmp_path: Path) -> None:
    paths = ("/a.gz", "/b.gz", "/c.gz")
    answers = [answer(HOST + path, "cut", content_type="application/gzip", depth=0) for path in paths]
    write_recording(tmp_path / "site.jsonl.gz", answers)
    with gzip.open(tmp_path / "site.labels.tsv.gz", "wt") as labels:
        labels.write("requested_url\tsha1_body\n")
        labels.writelines(f"{HOST}{path}\t{digest}\n" for path, digest in zip(paths, "112", strict=True))
    recording = Recording.load(tmp_path / "site.jsonl.gz")
    assert [recording.answers[HOST + path].body for path in paths] == [b"cut1", b"cut1", b"cut2"]
    one, same, other = (recording.identities[HOST + path] for path in paths)
    assert one == same != other


def test_recording_crawled_plain_cold_and_warm(tmp_path: Path) -> None:
    path = tmp_path / "shop.jsonl.gz"
    write_recording(path, small_shop())
    result = recorded.run(path, tmp_path / "projects", any_port=True)
    plain, cold, warm = (result[name] for name in ("plain", "cold", "warm"))
    assert (plain.downloads, plain.text, plain.bag) == (91, 31, 31)
    assert 31 <= cold.downloads <= 91, "it learns while it runs, if it runs long enough"
    assert cold.lost == ()
    assert (warm.downloads - warm.verifying, warm.bag, warm.lost) == (31, 31, ())
    assert (warm.saved_share(plain) or 0) >= 0.9
    assert result.rules >= 1
    assert all(check.holds for check in recorded.checks(result))


@pytest.mark.usefixtures("_forked_benchmarks")
def test_injected_noise_and_closed_connections_leave_the_pages_what_they_are(tmp_path: Path) -> None:
    path = tmp_path / "shop.jsonl.gz"
    write_recording(path, small_shop())
    result = recorded.run(path, tmp_path / "projects", any_port=True, noise=KINDS, close=True)
    for crawl in result.crawls:
        assert (crawl.text, crawl.bag, crawl.lost) == (31, 31, ())
    assert result["plain"].downloads in (91, 92)  # the start page twice, where it is linked
    assert result["plain"].stats.get("log_count/ERROR", 0) == 0


def test_a_recorded_site_with_a_clock_shows_the_present_time(tmp_path: Path) -> None:
    from urllib.request import urlopen

    path = tmp_path / "clock.jsonl.gz"
    pages = [answer(f"{HOST}/{n}", f"<p>page {n}</p><p>at 2001-02-03 10:00:{n:02} +0000</p>") for n in range(20)]
    write_recording(path, pages)
    recording = Recording.load(path)
    assert recording.has_clock
    assert len({page.bag for page in recording.identities.values()}) == 20
    with Server(path, step=60.0) as server:
        shown = []
        for _ in range(2):
            with urlopen(f"http://127.0.0.1:{server.port}/7") as response:
                shown.append(response.read().decode())
    assert shown[0] != shown[1]
    assert all(text.startswith("<p>page 7</p><p>at 20") and "2001-02-03" not in text for text in shown)
