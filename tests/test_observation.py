import base64
import gzip
import json
from pathlib import Path

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.content.sketch import sketch_of_html
from scrapy_dedup.observation import ObservationError, ObservationFileError, read_jsonl, without_userinfo


def test_url_and_fingerprint_are_enough() -> None:
    seen = Observation("http://example.com/", "f1")
    assert (seen.url, seen.fingerprint, seen.status) == ("http://example.com/", "f1", 200)
    assert {seen.canonical, seen.redirect, seen.time, seen.length, seen.bag, seen.words} == {None}


def test_everything_else_is_by_keyword() -> None:
    with pytest.raises(TypeError):
        Observation("http://example.com/", "f1", "http://example.com/canonical")  # type: ignore[call-arg]


def test_is_a_value() -> None:
    one = Observation("http://example.com/", "f1", headers={"etag": "x"})
    assert one == Observation("http://example.com/", "f1", headers={"etag": "x"})
    assert len({one, Observation("http://example.com/", "f1", headers={"etag": "x"})}) == 1
    with pytest.raises(AttributeError):
        one.url = "other"  # type: ignore[misc]


def test_words_come_from_the_sketch() -> None:
    sketch = sketch_of_html("<p>four words of text</p>")
    assert Observation("http://example.com/", sketch.text, sketch=sketch).words == 4
    assert Observation("http://example.com/", "f1", words=7).words == 7


@pytest.mark.parametrize(
    ("url", "kept"),
    [
        ("http://me:secret@example.com/a", "http://example.com/a"),
        ("http://me@example.com", "http://example.com"),
        ("http://a@b:c@example.com/d", "http://example.com/d"),
        ("//me@example.com/", "//example.com/"),
        (" http:\\\\me:secret@example.com/", " http:\\\\example.com/"),
        ("HTTP://me@EXAMPLE.com/?q=a@b", "HTTP://EXAMPLE.com/?q=a@b"),
        ("http://example.com/a@b", "http://example.com/a@b"),
        ("http://example.com?q=//a@b", "http://example.com?q=//a@b"),
        ("http://example.com#//a@b", "http://example.com#//a@b"),
        ("mailto:me@example.com", "mailto:me@example.com"),
        ("", ""),
    ],
)
def test_without_userinfo(url: str, kept: str) -> None:
    assert without_userinfo(url) == kept


def test_userinfo_leaves_every_url() -> None:
    secret = "http://me:secret@example.com/"
    seen = Observation(secret, "f1", canonical=secret, redirect=secret)
    assert seen.url == seen.canonical == seen.redirect == "http://example.com/"
    assert "secret" not in repr(seen)


@pytest.mark.parametrize(
    ("row", "problem"),
    [
        ({"fingerprint": "f"}, "url is missing"),
        ({"url": "http://a/"}, "fingerprint is missing"),
        ({"url": "", "fingerprint": "f"}, "url is empty"),
        ({"url": 5, "fingerprint": "f"}, "url is 5: it must be text"),
        ({"url": "http://a/", "fingerprint": ""}, "fingerprint of http://a/ is empty"),
        ({"url": "http://a/", "fingerprint": None}, "fingerprint is None"),
        ({"url": "http://a/", "fingerprint": "f", "status": "200"}, "status is '200'"),
        ({"url": "http://a/", "fingerprint": "f", "status": True}, "status is True"),
        ({"url": "http://a/", "fingerprint": "f", "time": "yesterday"}, "time is 'yesterday'"),
        ({"url": "http://a/", "fingerprint": "f", "length": 1.5}, "length is 1.5"),
        ({"url": "http://a/", "fingerprint": "f", "headers": ["etag"]}, "headers is"),
        ({"url": "http://a/", "fingerprint": "f", "headers": {"etag": 1}}, "headers is"),
        ({"url": "http://a/", "fingerprint": "f", "sketch": "AAAA"}, "sketch cannot be read"),
        ({"url": "http://a/", "fingerprint": "f", "sketch": "?"}, "sketch cannot be read"),
        ({"url": "http://a/", "fingerprint": "f", "sketch": 3}, "sketch is 3"),
        (["http://a/", "f"], "not a JSON object"),
    ],
)
def test_wrong_values_are_named(row: object, problem: str) -> None:
    with pytest.raises(ObservationError) as caught:
        Observation.from_json(row)  # type: ignore[arg-type]
    assert str(caught.value).startswith(problem)


def test_no_content_needs_another_status_or_a_redirect() -> None:
    assert Observation("http://a/", "", status=404).fingerprint == ""
    assert Observation("http://a/", "", redirect="http://b/").fingerprint == ""


def test_from_json_takes_all_fields_and_ignores_others() -> None:
    sketch = sketch_of_html("<p>text</p>")
    seen = Observation.from_json(
        {
            "url": "http://a/",
            "fingerprint": "f",
            "site": "a",
            "canonical": "http://a/c",
            "redirect": None,
            "status": 200,
            "time": "2026-01-31T12:00:00Z",
            "length": 10,
            "bag": "b",
            "headers": {"etag": "x"},
            "sketch": base64.b64encode(sketch.to_bytes()).decode(),
        }
    )
    assert seen == Observation(
        "http://a/",
        "f",
        canonical="http://a/c",
        time=1_769_860_800.0,
        length=10,
        bag="b",
        headers={"etag": "x"},
        sketch=sketch,
    )
    assert Observation.from_json({"url": "u", "fingerprint": "f", "time": "2026-01-31T12:00:00"}).time == seen.time


@pytest.mark.parametrize("name", ["seen.jsonl", "seen.jsonl.gz"])
def test_read_jsonl(tmp_path: Path, name: str) -> None:
    lines = [json.dumps({"url": f"http://a/é{i}", "fingerprint": "f"}, ensure_ascii=False) for i in range(3)]
    text = "\n".join((*lines[:2], "", lines[2], ""))
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    assert [seen.url for seen in read_jsonl(path)] == [f"http://a/é{i}" for i in range(3)]
    assert [seen.url for seen in read_jsonl(str(path))] == [f"http://a/é{i}" for i in range(3)]


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ('{"url": "http://a/"}', "fingerprint is missing"),
        ("[]", "not a JSON object"),
        ('{"url": "http://a/", "fingerprint": "f", "status": "ok"}', "status is 'ok'"),
    ],
)
def test_a_bad_line_is_named(tmp_path: Path, line: str, problem: str) -> None:
    path = tmp_path / "seen.jsonl"
    path.write_text('{"url": "http://a/", "fingerprint": "f"}\n' + line + "\n")
    rows = read_jsonl(path)
    assert next(rows).url == "http://a/"
    with pytest.raises(ObservationFileError) as caught:
        next(rows)
    error = caught.value
    assert (error.path, error.line) == (str(path), 2)
    assert error.problem.startswith(problem)
    assert str(error).startswith(f"{path}, line 2: {problem}")
    assert '{"url": "http://example.com/' in error.remedy


@pytest.mark.parametrize("cut", [20, 60])
def test_a_cut_file_is_named(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "seen.jsonl.gz"
    text = "\n".join(json.dumps({"url": f"http://a/{i * i}", "fingerprint": "f"}) for i in range(1000))
    path.write_bytes(gzip.compress(text.encode())[:-cut])
    with pytest.raises(ObservationFileError, match=r"seen\.jsonl\.gz, line \d+: "):
        list(read_jsonl(path))


def test_a_file_that_is_no_gzip_is_named(tmp_path: Path) -> None:
    path = tmp_path / "seen.jsonl.gz"
    path.write_text("{}")
    with pytest.raises(ObservationFileError, match="line 1: unreadable"):
        list(read_jsonl(path))


def test_a_missing_file_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        list(read_jsonl(tmp_path / "none.jsonl"))
