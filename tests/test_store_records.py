"""What crawls have seen comes out of the store as it went in, from a file and from a server alike, until it is forgotten."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from scrapy_dedup import Observation
from scrapy_dedup.store import Store

from .conftest import Project
from .store_rows import State, discarded, of_bytes, record, seen, sighting, texts, version

DAY = 86_400
SITE = "example.com"


@pytest.fixture
def store(store_target: str) -> Iterator[Store]:
    with Store.open(store_target) as opened:
        yield opened


def names(rows: Any) -> list[str]:
    """The last parts of the URLs of rows or observations, sorted."""
    return sorted(row.url.rpartition("/")[2] for row in rows)


def sketched(store: Store) -> list[str]:
    return names(row for row in store.observations() if row.sketch is not None)


def test_what_goes_in_comes_out(store: Store) -> None:
    headers, hops = {"etag": "x", "content-language": "de"}, ["http://example.com/hop"]
    row = seen("a", headers=headers, canonical="http://example.com/canonical", hops=hops, spider="shop")
    image = of_bytes("a.png", b"\x89PNG", "image/png")
    moved = seen("r", None, status=302, redirect="http://example.com/a")
    store.add([row, image, moved, seen("gone", None, status=404), seen("head", None)])
    found = {observation.url: observation for observation in store.observations()}
    prints = row.fingerprints
    assert prints is not None
    assert found.pop(row.url) == Observation(
        row.url,
        prints.text,
        canonical=row.canonical,
        time=row.time,
        length=row.length,
        bag=prints.bag,
        unseen=prints.unseen,
        headers=headers,
        sketch=prints.sketch,
    )
    png = found.pop(image.url)
    assert (png.fingerprint, png.words, png.sketch) == (image.fingerprints and image.fingerprints.digest, None, None)
    assert {each.url[19:]: (each.status, each.redirect, each.fingerprint) for each in found.values()} == {
        "r": (302, "http://example.com/a", ""),
        "gone": (404, None, ""),
    }, "status 200 without content tells nothing"


@pytest.mark.parametrize(
    "url", ["http://example.com/\ud800", "http://example.com/é", "http://example.com/\0", "no url"]
)
def test_any_url_and_any_fingerprint_are_taken(store: Store, url: str) -> None:
    prints: Any = of_bytes("a", b"", "image/png").fingerprints
    for text in ("f1", "redirect:http://a/", "F" * 32, "x" * 15, "x" * 16, "é", "0" * 32):
        store.add([seen("", None, url=url, fingerprints=type(prints)(prints.kind, text, text, text))])
        (found,) = store.observations()
        assert found.url == url.replace("\ud800", "\\ud800").replace("\0", "\\x00")
        assert (found.fingerprint, found.bag) == (text, text)


def test_the_latest_of_each_url_of_a_site_a_scope_and_a_time(store: Store) -> None:
    store.add([seen("a", "old", time=1.0), seen("b", time=5_000.0), seen("c", site="other.com"), seen("down", "x")])
    store.add([seen("a", "new", time=2.0), seen("a", None, time=3.0), seen("d", scope="members", time=5_000.0)])
    store.add([seen("down", "error", status=503), seen("b", time=5_000.0)])
    found = {observation.url.rpartition("/")[2]: observation for observation in store.observations()}
    assert found["a"].time == 2.0  # the answer to HEAD does not hide it
    assert found["a"].fingerprint == seen("a", "new").fingerprints.text  # type: ignore[union-attr]
    chosen = [((), {}), (("", SITE), {}), (("members",), {}), (("", "none.com"), {}), (("",), {"since": 2_000.0})]
    expected = [["a", "b", "c", "down"], ["a", "b", "down"], ["d"], [], ["b"]]
    assert [names(store.observations(*args, **kwargs)) for args, kwargs in chosen] == expected  # type: ignore[arg-type]
    counts = [(each.scope, each.site, each.responses, each.urls) for each in store.sites()]
    assert counts == [("", SITE, 7, 3), ("", "other.com", 1, 1), ("members", SITE, 1, 1)]
    assert [each.site for each in store.sites("members")] == [SITE]
    assert store.unstable_urls() == store.unstable_urls("", SITE) == {"http://example.com/a"}
    assert store.unstable_urls("members") == set()


def test_two_answers_of_one_crawl_are_a_control(store: Store) -> None:
    """Answers of a cache, errors and older crawls are none."""
    store.add(
        [
            *(seen("old", "before", time=1_000.0), seen("old", "now", time=9_000.0)),
            *(seen("twice", "first", time=9_000.0), seen("twice", "second", time=9_100.0)),
            *(seen("cached", "first", time=9_000.0), seen("cached", "first", time=9_100.0, from_cache=True)),
            *(seen("failed", "first", time=9_000.0), seen("failed", None, time=9_100.0, status=404)),
        ]
    )
    found = [(each.url.rpartition("/")[2], each.time) for each in store.observations(repeats_within=3_600.0)]
    assert [time for name, time in found if name == "twice"] == [9_000.0, 9_100.0], "the oldest first"
    others = [("cached", 9_100.0), ("failed", 9_100.0), ("old", 9_000.0)]
    assert sorted(set(found) - {("twice", 9_000.0), ("twice", 9_100.0)}) == others


def test_a_failed_batch_leaves_nothing_and_readers_are_not_disturbed(store: Store) -> None:
    with pytest.raises(TypeError):
        store.add([seen("a"), seen("b", headers={"x": object()})])
    assert store.sites() == []
    store.add(seen(str(i), time=float(i)) for i in range(2_500))
    rows = store.observations()
    first = next(rows)
    store.add([seen("new")])
    assert len({first.url, *(row.url for row in rows)}) == 2_500


def test_sketches_of_a_site_are_bounded(store_target: str) -> None:
    """Equal pages share one, and each site has room of its own."""
    with Store.open(store_target, sketches_per_site=3) as store:
        store.add([seen("a", "a"), seen("b", "b")])
    with Store.open(store_target, sketches_per_site=3) as store:
        store.add([seen(x, x) for x in "bcdaf"])
        store.add([seen("g", "g"), seen("h", "b"), seen("i", site="other.com")])
        assert sketched(store) == ["a", "b", "c", "h", "i"]
        assert {row.words for row in store.observations("", SITE)} == {2}
        assert len({row.fingerprint for row in store.observations("", SITE)}) == 6
        store.forget(SITE)
        store.add([seen("k", "k")])
        assert sketched(store) == ["i", "k"]


def test_versions_come_url_by_url_the_oldest_first_and_go_with_their_pages(store: Store) -> None:
    shown = {"a": {1.0: "one", 4.0: "two", 5.0: "one"}, "b": {2.0: "other"}}
    store.add(
        [seen(name, time=at, version=version(text)) for name, found in shown.items() for at, text in found.items()]
    )
    store.add([seen("c", time=3.0)])
    found: dict[str, dict[float, str]] = {}
    for url, at, each, _ in store.versions():
        found.setdefault(url.rpartition("/")[2], {})[at] = texts(each)
    assert found == shown
    assert list(found["a"]) == [1.0, 4.0, 5.0]
    assert [texts(each) for _, _, each, _ in store.versions(since=4.5)] == ["one"]
    assert {each.version and texts(each.version) for each in store.observations(versions=True)} == {
        "one",
        "other",
        None,
    }
    assert {each.version for each in store.observations()} == {None}
    store.add([seen("b", time=9.0 * DAY, version=version("late"))])
    assert store.prune(max_age_days=1, now=9.0 * DAY) == 5
    assert [texts(each) for _, _, each, _ in store.versions()] == ["late"]
    store.forget(SITE)
    assert list(store.versions()) == []


def test_where_there_is_no_room_versions_in_between_go(store_target: str) -> None:
    """Those of a page are spread over time, its first and its latest among them; a text that is shown again and again stays."""
    pages, crawls = 10, 40
    with Store.open(store_target, sketches_per_site=200) as store:
        for crawl in range(crawls):
            said = {n: "always" if n == 0 and crawl % 2 else f"{n} {crawl}" for n in range(pages)}
            store.add([seen(f"{n}", time=float(crawl), version=version(text)) for n, text in said.items()])
        found: dict[str, list[float]] = {}
        for url, at, *_ in store.versions():
            found.setdefault(url, []).append(at)
        assert sum(map(len, found.values())) <= 200 + crawls
        assert all(times[0] == 0.0 and times[-1] == crawls - 1.0 and len(times) >= 6 for times in found.values())
        assert "always" in {texts(each) for _, _, each, _ in store.versions()}
        assert len(names(store.observations())) == pages == len(found)
    with Store.open(store_target, sketches_per_site=4) as store:
        store.add([seen(str(n), site="other.com", version=version(f"text {n}")) for n in range(10)])
        assert len(list(store.versions("", "other.com"))) == 4


def test_the_ledger_has_one_row_of_a_url_in_each_job_until_that_ends(store: Store) -> None:
    rows = [
        discarded("a", callback="parse_item", meta={"depth": 2, "tags": ["x", None]}),
        discarded("b", spider="second"),
    ]
    store.add([*rows, discarded("c", scope="members")])
    assert [row._replace(id=None) for row in store.discards()] == rows
    assert names(store.discards("", spider="shop")) == ["a"]
    assert names(store.discards("members")) == ["c"]
    store.add([discarded("a", rule="second"), discarded("a", rule="third", time=2_000.0)])
    assert [row.rule for row in store.discards(spider="shop")] == ["third"]
    assert names(store.discards(since=1_500.0)) == ["a"]
    store.add([rows[0]._replace(job=job) for job in ("one", "two")])
    store.add([rows[0]._replace(job="one", state=State.SAMPLED)])
    assert names(store.discards(job="one")) == []
    assert names(store.discards(job="two")) == ["a"]
    store.lose_queue("", "shop", "one")
    assert [row.state for row in store.discards(state=None, job="one")] == [State.LOST]
    for job in ("one", "two"):
        store.end_job("", "shop", job)
    assert [(row.job, row.state) for row in store.discards(state=None, spider="shop")] == [("", State.PENDING)]


def test_marked_discards(store: Store) -> None:
    store.add([discarded(x) for x in "abc"])
    a, b, c = (row.id or 0 for row in store.discards())
    store.mark_discards([a], State.REPLAYED)
    store.mark_discards([b], State.RELEASED)
    store.mark_discards([], State.RELEASED)
    assert [row.id for row in store.discards()] == [c]
    assert [row.state.value for row in store.discards(state=None)] == ["replayed", "released", "pending"]
    store.add([discarded("a")])  # filtered again, by a later crawl
    assert names(store.discards()) == ["a", "c"]
    many = [f"http://a.test/{number:03}" for number in range(200)]
    store.add([discarded("", url=url, scope="mixed", time=float(number)) for number, url in enumerate(many)])
    mixed = [many.index(row.url) for row in store.discards("mixed", mixed=True)]
    assert sorted(mixed) == list(range(200))
    assert 30 < sum(number < 100 for number in mixed[:100]) < 70, "some are as any others"


def test_a_site_is_forgotten_and_what_is_old(store: Store) -> None:
    store.add([seen("a", "peculiar"), seen("b"), seen("c", site="other.com"), seen("d", scope="s")])
    store.add([discarded("a"), discarded("e", site="other.com"), sighting("a")])
    assert store.forget(SITE, "") == 2
    assert [(each.scope, each.site) for each in store.sites()] == [("", "other.com"), ("s", SITE)]
    assert (store.forget(SITE), store.forget("none.com"), store.forget("other.com")) == (1, 0, 1)
    assert (list(store.discards()), list(store.sightings())) == ([], [])
    store.add([seen("old", "old", time=1.0 * DAY), seen("new", time=5.0 * DAY), seen("shared", time=1.0 * DAY)])
    store.add([discarded("old", time=1.0 * DAY), discarded("new", time=5.0 * DAY)])
    assert store.prune(max_age_days=3, now=6.0 * DAY) == 3
    assert (names(store.observations()), names(store.discards()), sketched(store)) == (["new"], ["new"], ["new"])
    assert (store.prune(max_age_days=3, now=6.0 * DAY), store.prune()) == (0, 0)
    store.add([*(seen(str(i), str(i)) for i in range(10)), *(discarded(str(i)) for i in range(10))])
    assert store.prune(max_rows=4) == 14
    assert names(store.observations()) == names(store.discards()) == ["6", "7", "8", "9"]
    assert (store.prune(max_rows=4), store.prune(max_rows=0)) == (0, 8)


def test_a_file_holds_no_secrets_nothing_that_was_forgotten_and_no_more_than_it_must() -> None:
    path = Path("store.sqlite")

    def size() -> int:
        return sum(file.stat().st_size for file in Path().glob("store.sqlite*"))

    secret = "http://me:secret@example.com/"
    with Store.open(path) as store:
        store.add([seen("", url=secret, canonical=secret, redirect=secret, hops=[secret]), seen("c", site="other.com")])
        store.add([discarded("", url=secret, key=secret, taken_for=secret), seen("rareword"), discarded("rareword")])
        assert store.forget(SITE) == 2
        bodies = [" ".join(f"<p>word{n * i} and some more text" for i in range(100)) for n in range(300)]
        store.add([of_bytes(f"p/{n}", body.encode(), "text/html") for n, body in enumerate(bodies)])
    content = b"".join(file.read_bytes() for file in Path().glob("store.sqlite*"))
    assert b"secret" not in content
    assert b"rareword" not in content
    before = size()
    assert before / len(bodies) < 2_500
    with Store.open(path) as store:
        store.prune(max_rows=2)
    assert 0 < size() < before / 5


@pytest.mark.postgresql
def test_a_file_and_a_server_give_the_same_answers(project: Project, postgresql_url: str) -> None:
    """Names differ in case, and in characters that languages sort in other ways."""
    odd = ["a", "B", "b", "é", "z", "Z-1", "_", "~"]
    states = [State.PENDING, State.OWED] * 8
    pages = [
        seen(f"{name}/{turn}", f"text {name} of some words", time=1_000.0 + turn, spider="shop" if turn else "Älter")
        for name in odd
        for turn in range(3)
    ]
    ledger = [
        discarded(name, rule=rule, time=2_000.0 + at, state=state, job="Job" if at % 2 else "")
        for at, (name, rule, state) in enumerate(zip(odd * 2, ["aa", "AA", "bb"] * 6, states, strict=False))
    ]
    asked = [
        ("dedup", "ledger", "--json"),
        ("dedup", "ledger", "--json", "--by-rule"),
        ("dedup", "ledger", "--json", "--containing", "COM/B"),
        ("dedup", "explain", "--json", "http://example.com/é"),
    ]
    answers = []
    for target in (str(project.folder / "store.sqlite"), postgresql_url):
        record(target, *pages)
        record(target, *ledger, *map(sighting, odd), *(seen(f"{name}/0", "text a", time=1_500.0) for name in odd))
        found = [project.scrapy(*command, "-s", f"DEDUP_STORE={target}").stdout for command in asked]
        assert all(found)
        with Store.open(target) as store:
            rows = [*store.observations(repeats_within=900.0), *store.sightings(), *store.sites()]
            answers.append(([[json.loads(line) for line in each.splitlines()] for each in found], rows))
    one, other = answers
    assert one == other
