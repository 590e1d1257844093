import base64
import gzip
import json
from pathlib import Path

import pytest

from scrapy_dedup import Observation, learn_rules
from scrapy_dedup.observation import (
    ObservationError,
    ObservationFileError,
    observations_from,
    read_jsonl,
    without_userinfo,
)
from scrapy_dedup.pages.response import sketch_of_html


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


def test_lines_may_be_pairs(tmp_path: Path) -> None:
    path = tmp_path / "seen.jsonl"
    path.write_text('["http://a/", "f"]\n{"url": "http://b/", "fingerprint": "g"}\n')
    assert list(read_jsonl(path)) == [Observation("http://a/", "f"), Observation("http://b/", "g")]


def test_pairs_and_mappings_are_observations() -> None:
    row = {"url": "http://a/", "fingerprint": "f", "status": 200, "time": "1970-01-01T00:01:00Z", "more": 1}
    whole = Observation("http://c/", "f", length=3)
    found = list(observations_from([("http://a/", "f"), ["http://b/", "g"], row, whole]))
    assert found[:3] == [
        Observation("http://a/", "f"),
        Observation("http://b/", "g"),
        Observation("http://a/", "f", time=60.0),
    ]
    assert found[3] is whole
    seen = [(f"http://shop.test/item?id={i}&sid={sid:032x}", str(i)) for i in range(12) for sid in (i * 3, i * 7 + 1)]
    rows = [{"url": url, "fingerprint": fingerprint} for url, fingerprint in seen]
    book = learn_rules(Observation(*each) for each in seen)
    assert [rule.status.value for rule in book] == ["active"]
    assert learn_rules(iter(seen)) == learn_rules(rows) == book


@pytest.mark.parametrize(
    ("rows", "problem"),
    [
        ([("http://a/", "f"), "http://a/"], r"observations\[1\] is of type str \('http://a/'\): "),
        ([("http://a/", "f", 200)], r"observations\[0\] is of type tuple \(\('http://a/', 'f', 200\)\): "),
        ([None], r"observations\[0\] is of type NoneType \(None\): "),
        ({"http://a/": "f"}, r"observations\[0\] is of type str "),
        ([b"x" * 100], r"observations\[0\] is of type bytes \(b'x+\.\.\.\): "),
        ("seen.jsonl", r"observations is of type str .* read_jsonl"),
        (Path("seen.jsonl"), r"observations is of type Posix"),
        (Observation("http://a/", "f"), r"observations is of type Observation "),
        (None, r"observations is of type NoneType "),
    ],
)
def test_what_is_no_observation_is_a_type_error(rows: object, problem: str) -> None:
    with pytest.raises(TypeError, match=problem) as caught:
        learn_rules(rows)  # type: ignore[arg-type]
    assert '[("http://example.com/a?sid=1", "9f86d081")' in str(caught.value)


def test_a_wrong_value_is_named_with_its_position() -> None:
    with pytest.raises(ObservationError, match=r"observations\[1\]: fingerprint is 5: it must be text"):
        learn_rules([("http://a/", "f"), ("http://a/", 5)])  # type: ignore[list-item]
    with pytest.raises(ObservationError, match=r"observations\[0\]: url is missing"):
        learn_rules([{"fingerprint": "f"}])


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ("{", "not JSON"),
        ('{"url": "http://a/"}', "fingerprint is missing"),
        ("[]", "neither an object nor a pair"),
        ('["http://a/", "f", "g"]', "neither an object nor a pair"),
        ('"http://a/"', "neither an object nor a pair"),
        ('["http://a/", 5]', "fingerprint is 5: it must be text"),
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
