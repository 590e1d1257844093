"""The recordings that are kept with the tests can be read, and their labels are of what was recorded."""

from pathlib import Path
from typing import Any

import pytest

from tests.benchmarks.recorded_sites import RECORDED_SITES
from tests.benchmarks.recorded_sites.make import SITES, write
from tests.benchmarks.recorded_sites.words import Words
from tests.benchmarks.recordings.recording import Recording, read_labels


def test_each_site_that_can_be_made_is_kept() -> None:
    assert [path.name for path in RECORDED_SITES] == sorted(f"{name}.jsonl.gz" for name in SITES)


@pytest.mark.parametrize("path", RECORDED_SITES, ids=lambda path: path.name)
def test_each_response_of_a_site_has_a_label(path: Path) -> None:
    recording = Recording.load(path)
    pages = read_labels(path.with_name(path.name.replace(".jsonl", ".labels.tsv")), "page")
    assert pages.keys() == recording.answers.keys()
    assert recording.start_urls == [f"http://127.0.0.1:{recording.port}/"]
    assert {url for url, page in pages.items() if page} == {
        url for url, answer in recording.answers.items() if answer.status == 200
    }
    assert len(set(pages.values())) < len(pages), "some of its pages have several URLs"


def test_a_page_is_one_whatever_was_counted_between_its_urls(tmp_path: Path) -> None:
    def row(query: str, views: int) -> dict[str, Any]:
        url, body = f"http://127.0.0.1:8999/forum/{query}", f"<p>{views} views</p>"
        kinds = {"status": 200, "location": None, "content_type": "text/html", "depth": 0, "length": len(body)}
        return {"requested_url": url, **kinds, "sha1_body": f"{views}", "body": body}

    write("machina", [row("", 1), row("?page=2", 1), row("?page=1", 2), row("?page=3", 2)], tmp_path)
    recording = Recording.load(tmp_path / "machina.jsonl.gz")
    assert [answer.body for answer in recording.answers.values()][2] == b"<p>2 views</p>"
    start, second, first, third = (page.bag for page in recording.identities.values())
    assert start == first == second != third, "the second one says the same as the start"


def test_made_up_texts_are_always_the_same() -> None:
    one, same, other = (Words(seed) for seed in ("a", "a", "b"))
    assert one.text(3) == same.text(3) != other.text(3)
    assert len(set(one.names(20))) == 20
