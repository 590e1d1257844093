"""The benchmark of real page versions reads the truth as the curated texts have it, from small repositories made here."""

import json
import shutil
import subprocess
from collections.abc import Callable, Sequence
from contextlib import closing
from itertools import pairwise
from pathlib import Path

import pytest

from tests.benchmarks import curated_texts, snapshots
from tests.benchmarks.recordings.git_pages import Curated, Repository, documents
from tests.benchmarks.recordings.page_places import differing, places

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not on this machine")

START, DAY = 1_700_000_000, 86_400
TERMS = "the terms of this shop hold for all who buy here and nobody else"


class Made:
    """A repository that is made commit by commit, in one run of ``git fast-import``."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.stream: list[str] = []
        self.marks = 0
        subprocess.run(["git", "init", "-q", "--bare", str(path)], check=True)

    def commit(self, file: str, content: str, time: int, message: str) -> str:
        """Add a commit; returns its mark."""
        self.marks += 1
        who = f"Bot <bot@example.org> {time} +0000"
        self.stream.append(f"commit refs/heads/main\nmark :{self.marks}\nauthor {who}\ncommitter {who}\n")
        self.stream.append(f"data {len(message.encode())}\n{message}\n")
        self.stream.append(f'M 100644 inline "{file}"\ndata {len(content.encode())}\n{content}\n')
        return f":{self.marks}"

    def write(self) -> dict[str, str]:
        """Make the repository; returns the commit of each mark."""
        marks = self.path / "marks"
        command = ["git", f"--git-dir={self.path}", "fast-import", "--quiet", f"--export-marks={marks}"]
        subprocess.run(command, input="".join(self.stream).encode(), check=True)
        subprocess.run(["git", f"--git-dir={self.path}", "symbolic-ref", "HEAD", "refs/heads/main"], check=True)
        return dict(line.split() for line in marks.read_text().splitlines())


def page(day: int, terms: str = TERMS, news: str = "") -> str:
    return (
        f"<html><body><h1>Terms</h1><p class=visits>{day * 7919 % 90_000 + 10_000} visits</p>"
        f"<div><p>{terms}</p></div>{news}</body></html>"
    )


Repositories = Callable[..., tuple[Path, Path]]


@pytest.fixture
def repositories(tmp_path: Path) -> Repositories:
    """Makes the repositories of one document, "Shop/Terms"."""

    def make(pages: Sequence[str], texts: dict[int, str], subjects: dict[int, str] | None = None) -> tuple[Path, Path]:
        """*pages*: a snapshot a day; *texts*, by day: what was extracted on it, where that was new."""
        raw, curated = Made(tmp_path / "snapshots"), Made(tmp_path / "versions")
        about = "Record new changes of Shop Terms\n\nX-source-document-location: https://shop.example/terms\n"
        marks = [raw.commit("Shop/Terms.html", html, START + day * DAY, about) for day, html in enumerate(pages)]
        raw.commit("Shop/Report.pdf", "no page", START, "First record of Shop Report")
        commits = raw.write()
        for day, text in texts.items():
            named = f"extracted from snapshot https://git.example/commit/{commits[marks[day]]}"
            subject = (subjects or {}).get(day, "Record new changes of Shop Terms")
            curated.commit("Shop/Terms.md", text, START + day * DAY, f"{subject}\n\n{named}\n")
        # Another document, so that the history does not end before the snapshots.
        curated.commit("Other/Terms.md", "other", START + 99 * DAY, "First record of Other Terms")
        curated.write()
        return raw.path, curated.path

    return make


def truths(paths: tuple[Path, Path]) -> list[tuple[bool | None, bool]]:
    with closing(Repository(paths[0])) as raw, closing(Repository(paths[1])) as curated:
        found = documents(raw.recorded(".html"))["Shop/Terms"]
        return [(truth.changed, truth.back) for truth in Curated(curated.recorded(".md")).truths(found)]


def test_a_text_holds_until_the_next_one_is_recorded(repositories: Repositories) -> None:
    paths = repositories([page(day) for day in range(6)], {1: "one", 3: "two", 5: "one"})
    assert truths(paths) == [(None, False), (False, False), (True, False), (False, False), (True, True)]


def test_a_text_that_was_extracted_anew_is_no_change(repositories: Repositories) -> None:
    again = {1: "Apply technical or declaration upgrade on Shop Terms"}
    paths = repositories([page(day) for day in range(4)], {0: "one", 1: "one, better read", 3: "two"}, again)
    assert [changed for changed, _ in truths(paths)] == [False, False, True]


def test_the_text_of_a_snapshot_that_is_not_there_makes_its_neighbours_unknown(tmp_path: Path) -> None:
    raw, curated = Made(tmp_path / "snapshots"), Made(tmp_path / "versions")
    for day in (0, 1, 3):
        raw.commit("Shop/Terms.html", page(day), START + day * DAY, "Record new changes of Shop Terms")
    raw.write()
    for day, text in ((0, "one"), (2, "two"), (9, "three")):
        curated.commit("Shop/Terms.md", text, START + day * DAY, f"Update Shop Terms\n\nfrom {'ab' * 20}\n")
    curated.write()
    assert [changed for changed, _ in truths((raw.path, curated.path))] == [False, None]


def test_where_several_pages_make_one_text_the_page_that_changed_must_be_the_only_one(tmp_path: Path) -> None:
    raw, curated = Made(tmp_path / "snapshots"), Made(tmp_path / "versions")
    marks = {
        (part, day): raw.commit(f"Shop/Terms #{part}.html", page(day, part), START + day * DAY, "Record new changes")
        for day in range(3)
        for part in ("a", "b")
    }
    commits = raw.write()
    for day, text, named in (
        (0, "one", {"a": 0, "b": 0}),
        (1, "two", {"a": 1, "b": 0}),
        (2, "three", {"a": 2, "b": 2}),
    ):
        names = "\n".join(f"- https://git.example/commit/{commits[marks[at]]}" for at in named.items())
        curated.commit("Shop/Terms.md", text, START + day * DAY, f"Record new changes of Shop Terms\n\n{names}\n")
    curated.write()
    with closing(Repository(raw.path)) as pages, closing(Repository(curated.path)) as texts:
        known = Curated(texts.recorded(".md"))
        found = documents(pages.recorded(".html"))
        changed = {name: [truth.changed for truth in known.truths(own)] for name, own in found.items()}
    assert changed == {"Shop/Terms #a": [True, None], "Shop/Terms #b": [False, None]}


def test_only_places_that_were_seen_changing_count_as_known() -> None:
    seen = [places(page(day)) for day in range(3)]
    known = set().union(*(differing(one, two) for one, two in pairwise(seen)))
    assert known == {"html#./body#./p#.visits"}
    assert differing(seen[0], places(page(9))) <= known
    assert not differing(seen[0], places(page(0, news="<p id=news7>news</p>"))) <= known
    attribute = "<a href='/x?t={}'>x</a><!-- {} --><script>var t = '{}'</script>"
    found = differing(*(places(page(1, news=attribute.format(*[number] * 3))) for number in (1, 2)))
    assert {place.rpartition("/")[2] for place in found} == {"a#.@href", "comment", "script#."}


@pytest.mark.parametrize(
    ("last", "known", "changed"),
    [(page(9), 1, 0), (page(9, news="<ul><li>something new</li></ul>"), 0, 0), (page(9, TERMS + " at all"), 0, 1)],
    ids=["known", "elsewhere", "changed"],
)
def test_pairs_are_counted_as_what_they_are(
    repositories: Repositories, capsys: pytest.CaptureFixture[str], last: str, known: int, changed: int
) -> None:
    texts = {0: TERMS} | ({9: f"{TERMS} at all"} if changed else {})
    paths = repositories([*(page(day) for day in range(9)), last], texts)
    assert snapshots.main([*map(str, paths), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["unchanged"], found["unchanged_known"], found["changed"]) == (1 - changed, known, changed)
    assert found["unknown"] == found["doubtful"] == 0
    # The counter is hidden, and nothing else. In what is stripped it may stay: on a single page it may be the page's own.
    if known:
        assert found["equal_known"]["compared"] == 1
        assert found["equal_known_before"] == {"compared": 0, "text": 0, "html": 0}
    assert found["made_equal"] == {"compared": 0, "text": 0, "html": 0}


def test_a_page_that_does_not_show_the_text_is_doubtful(
    repositories: Repositories, capsys: pytest.CaptureFixture[str]
) -> None:
    wall = "<html><body><h1>Log in</h1></body></html>"
    paths = repositories([*(page(day) for day in range(9)), wall], {0: TERMS})
    assert snapshots.main([*map(str, paths), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["doubtful"], found["pairs"]) == (1, [])


def test_every_run_of_ten_is_taken_unless_told(repositories: Repositories, capsys: pytest.CaptureFixture[str]) -> None:
    paths = repositories([page(day) for day in range(12)], {0: TERMS})
    for options, count in (([], 3), (["--most", "1"], 1)):
        assert snapshots.main([*map(str, paths), "--json", *options]) == 0
        assert json.loads(capsys.readouterr().out)["unchanged"] == count
    # No page changed truly, so that the check cannot hold.
    assert snapshots.main([*map(str, paths), "--check"]) == 1


def test_what_cannot_be_used_is_told(repositories: Repositories, capsys: pytest.CaptureFixture[str]) -> None:
    raw, curated = map(str, repositories([page(day) for day in range(3)], {0: TERMS}))
    for paths, message in (
        (("/nowhere", curated), "cannot be read as a git repository"),
        ((curated, curated), "has no HTML page"),
        ((raw, raw), "has no curated text"),
        ((raw, curated), "has no document with 10 snapshots"),
    ):
        assert snapshots.main(paths) == 2
        assert message in capsys.readouterr().err
    assert curated_texts.main([curated]) == 2
    assert "in 10 versions" in capsys.readouterr().err


def test_curated_texts_are_pages_whose_changes_are_true(
    repositories: Repositories, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {day: f"# Terms\n\n{TERMS}\n\n- clause {'abcdefghijkl'[day]} says {'so' * day}" for day in range(11)}
    _, curated = repositories([page(day) for day in range(11)], texts | {10: texts[3]})
    # The last text was there before.
    assert curated_texts.main([str(curated), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [change["document"] for change in found["changes"]] == ["Shop/Terms"]
