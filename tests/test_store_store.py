from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import select, text, update

from scrapy_dedup import Observation
from scrapy_dedup.content.fingerprints import fingerprint_body
from scrapy_dedup.content.versions import Version
from scrapy_dedup.store.rows import DiscardState
from scrapy_dedup.store.schema import discard, observation, page_sketch, page_version
from scrapy_dedup.store.store import SiteCount, Store

from .store_rows import discarded, seen, table_counts

DAY = 86_400


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "dedup" / "store.sqlite"


@pytest.fixture
def store(store_target: str) -> Iterator[Store]:
    with Store.open(store_target) as opened:
        yield opened


@pytest.fixture
def file_store(path: Path) -> Iterator[Store]:
    with Store.open(path) as opened:
        yield opened


def urls(store: Store, *args: str, **kwargs: float) -> list[str]:
    return sorted(o.url.removeprefix("http://example.com/") for o in store.observations(*args, **kwargs))  # type: ignore[arg-type]


def count(store: Store, table: str) -> int:
    return table_counts(store)[table]


def test_what_goes_in_comes_out(store: Store) -> None:
    row = seen(
        "a",
        headers={"etag": "x", "content-language": "de"},
        canonical="http://example.com/canonical",
        hops=["http://example.com/hop"],
        spider="shop",
    )
    store.add([row])
    prints = row.fingerprints
    assert prints is not None
    assert list(store.observations()) == [
        Observation(
            row.url,
            prints.text,
            canonical=row.canonical,
            time=row.time,
            length=row.length,
            bag=prints.bag,
            headers=row.headers,
            sketch=prints.sketch,
        )
    ]


def test_every_column_is_filled(store: Store) -> None:
    store.add(
        [
            seen(
                "a",
                headers={"etag": "x"},
                canonical="http://example.com/c",
                redirect="http://example.com/r",
                hops=["http://example.com/h"],
                spider="shop",
                version=Version(()).to_bytes(),
                ends=True,
                password=True,
            )
        ]
    )
    store.add([discarded("d", callback="parse", meta={"a": [1]})])
    for table in (observation, page_sketch, page_version, discard):
        (row,) = store.rows(select(table))
        assert [name for name, value in row._mapping.items() if value is None] == []


def test_other_content_is_its_digest(store: Store) -> None:
    prints = fingerprint_body(b"\x89PNG", "image/png")
    store.add([seen("a.png", None, fingerprints=prints)])
    (found,) = store.observations()
    assert (found.fingerprint, found.bag, found.words, found.sketch) == (prints.digest, prints.digest, None, None)


def test_redirects_and_errors_are_observations(store: Store) -> None:
    store.add(
        [
            seen("r", None, status=302, redirect="http://example.com/a"),
            seen("gone", None, status=404),
            seen("head", None),
        ]
    )
    found = {o.url[-4:]: o for o in store.observations()}
    assert found["om/r"].redirect == "http://example.com/a"
    assert found["gone"].status == 404
    assert {o.fingerprint for o in found.values()} == {""}
    assert "head" not in found  # status 200 without content tells nothing


def test_the_latest_of_each_url(store: Store) -> None:
    store.add([seen("a", "old", time=1.0), seen("b", "b")])
    store.add([seen("a", "new", time=2.0), seen("a", None, time=3.0)])
    found = {o.url: o for o in store.observations()}
    assert len(found) == 2
    assert found["http://example.com/a"].time == 2.0  # the answer to HEAD does not hide it
    assert found["http://example.com/a"].fingerprint == seen("a", "new").fingerprints.text  # type: ignore[union-attr]


def test_urls_that_changed(store: Store) -> None:
    store.add([seen("same"), seen("changed", "one"), seen("down"), seen("once"), seen("other", site="b.com")])
    store.add(
        [seen("same"), seen("changed", "two"), seen("down", "error", status=503), seen("other", "two", site="b.com")]
    )
    assert store.unstable_urls() == {"http://example.com/changed", "http://example.com/other"}
    assert store.unstable_urls("", "example.com") == {"http://example.com/changed"}
    assert store.unstable_urls("scope") == set()


def test_scope_site_and_time(store: Store) -> None:
    store.add(
        [seen("a"), seen("b", time=5_000.0), seen("c", site="other.com"), seen("d", scope="members", time=5_000.0)]
    )
    assert urls(store) == ["a", "b", "c"]
    assert urls(store, "", "example.com") == ["a", "b"]
    assert urls(store, "members") == ["d"]
    assert urls(store, "", "none.com") == []
    assert urls(store, "", since=2_000.0) == ["b"]
    assert store.sites() == [
        SiteCount("", "example.com", 2, 2, 1_000.0, 5_000.0),
        SiteCount("", "other.com", 1, 1, 1_000.0, 1_000.0),
        SiteCount("members", "example.com", 1, 1, 5_000.0, 5_000.0),
    ]
    assert [site.site for site in store.sites("members")] == ["example.com"]


def test_sites_count_responses_and_urls(store: Store) -> None:
    store.add([seen("a"), seen("a"), seen("b")])
    assert store.sites() == [SiteCount("", "example.com", 3, 2, 1_000.0, 1_000.0)]


def test_user_names_and_passwords_are_not_stored(file_store: Store, path: Path) -> None:
    secret = "http://me:secret@example.com/"
    file_store.add([seen("", url=secret, canonical=secret, redirect=secret, hops=[secret])])
    file_store.add([discarded("", url=secret, key=secret, taken_for=secret)])
    file_store.close()
    assert b"secret" not in path.read_bytes()


@pytest.mark.parametrize(
    "url", ["http://example.com/\ud800", "http://example.com/é", "http://example.com/\0", "no url"]
)
def test_any_url_is_taken(store: Store, url: str) -> None:
    store.add([seen("", url=url)])
    (found,) = store.observations()
    assert found.url == url.replace("\ud800", "\\ud800").replace("\0", "\\x00")


@pytest.mark.parametrize("fingerprint", ["f1", "redirect:http://a/", "F" * 32, "x" * 15, "x" * 16, "é", "0" * 32])
def test_any_fingerprint_is_taken(store: Store, fingerprint: str) -> None:
    prints = fingerprint_body(b"", "image/png")
    prints = type(prints)(prints.kind, fingerprint, fingerprint, fingerprint)
    store.add([seen("a", None, fingerprints=prints)])
    (found,) = store.observations()
    assert (found.fingerprint, found.bag) == (fingerprint, fingerprint)


def test_equal_pages_share_a_sketch(store: Store) -> None:
    store.add([seen("a"), seen("b"), seen("c", "other")])
    store.add([seen("d")])
    assert count(store, "page_sketch") == 2
    assert {o.url[-1]: o.words for o in store.observations()} == {"a": 3, "b": 3, "c": 2, "d": 3}
    store.add([seen("e", site="other.com")])
    assert count(store, "page_sketch") == 3  # a site can be forgotten by itself


def test_sketches_per_site_are_capped(store_target: str) -> None:
    with Store.open(store_target, sketches_per_site=3) as store:
        store.add([seen("a", "a"), seen("b", "b")])
    with Store.open(store_target, sketches_per_site=3) as store:
        store.add([seen(x, x) for x in "bcdaf"])
        store.add([seen("g", "g"), seen("h", "b")])
        store.add([seen("a", site="other.com")])
        assert count(store, "page_sketch") == 4
        kept = {o.url[-1]: o for o in store.observations("", "example.com")}
        assert {name for name, o in kept.items() if o.sketch is not None} == {"a", "b", "c", "h"}
        assert {o.words for o in kept.values()} == {2}
        assert len({o.fingerprint for o in kept.values()}) == 6


def test_sketches_are_spread_over_templates(store_target: str) -> None:
    """The pages that a crawl meets first leave room for those of other kinds."""
    with Store.open(store_target, sketches_per_site=100) as store:
        store.add([seen(f"item/{i}", f"item number {i}") for i in range(60)])
        store.add([seen(f"item/{i}", f"item number {i}") for i in range(60, 150)])
        assert count(store, "page_sketch") == 75
        store.add([seen(f"tag/{i}", f"tag number {i}") for i in range(50)])
        store.add([seen(f"item/{i}", f"item number {i}") for i in range(150, 160)])
        assert count(store, "page_sketch") == 95
        store.add([seen(f"user/{i}", f"user number {i}") for i in range(50)])
        assert count(store, "page_sketch") == 100


def test_a_failed_batch_leaves_nothing(store: Store) -> None:
    with pytest.raises(TypeError):
        store.add([seen("a"), seen("b", headers={"x": object()})])
    assert (count(store, "observation"), count(store, "page_sketch")) == (0, 0)
    store.add([seen("a")])
    assert count(store, "page_sketch") == 1


def test_a_damaged_sketch_is_left_out(store: Store) -> None:
    store.add([seen("a")])
    with store._transaction() as connection:
        connection.execute(update(page_sketch).values(data=b"\xff"))
    (found,) = store.observations()
    assert (found.sketch, found.words) == (None, 3)


def test_many_rows_are_streamed(store: Store) -> None:
    store.add(seen(str(i), time=float(i)) for i in range(2_500))
    rows = store.observations()
    first = next(rows)
    store.add([seen("new")])  # writing goes on beside a reader
    assert len({first.url, *(o.url for o in rows)}) == 2_500


@pytest.mark.skipif(not Path("/proc/self/fd").exists(), reason="the system does not list the open files of a process")
def test_what_is_not_read_to_its_end_is_closed(path: Path) -> None:
    with Store.open(path) as store:
        store.add([seen(f"http://example.com/{number}") for number in range(9)])
        rows = store.observations()
        next(rows)
    opened = {str(each.resolve()) for each in Path("/proc/self/fd").iterdir() if each.exists()}
    assert not [name for name in opened if name.startswith(str(path))]
    rows.close()


def test_reading_needs_no_sorting(file_store: Store) -> None:
    store = file_store
    plans: list[str] = []
    with store._engine.connect() as connection:
        original = store.rows

        def explain(query: object) -> object:
            sql = str(query.compile(connection.engine, compile_kwargs={"literal_binds": True}))  # type: ignore[attr-defined]
            plans.extend(row[3] for row in connection.execute(text("EXPLAIN QUERY PLAN " + sql)))
            return original(select(1).where(text("0")))

        store.rows = explain  # type: ignore[method-assign, assignment]
        list(store.observations("", "example.com"))
        list(store.observations())
    assert plans
    assert not [step for step in plans if "TEMP B-TREE" in step]
    assert any("observation_by_site" in step for step in plans)


# Discards


def test_discards(store: Store) -> None:
    rows = [
        discarded("a", callback="parse_item", meta={"depth": 2, "tags": ["x", None]}),
        discarded("b", rule="other", spider="second"),
        discarded("c", scope="members"),
    ]
    store.add(rows)
    found = list(store.discards())
    assert [row._replace(id=None) for row in found] == rows[:2]
    assert [row.url[-1] for row in store.discards("", spider="shop")] == ["a"]
    assert [row.url[-1] for row in store.discards("members")] == ["c"]


def test_some_discards_are_as_any_others(store: Store) -> None:
    """Their order has nothing to do with when they came, nor with what their URLs begin with."""
    urls = [f"http://a.test/{number:03}" for number in range(200)]
    store.add([discarded("", url=url, time=float(number)) for number, url in enumerate(urls)])
    found = [urls.index(row.url) for row in store.discards(mixed=True)]
    assert sorted(found) == list(range(200))
    assert 30 < sum(number < 100 for number in found[:100]) < 70
    assert [row.url for row in store.discards(since=150.0)] == urls[150:]


def test_one_discard_per_url_scope_and_spider(store: Store) -> None:
    store.add([discarded("a"), discarded("a", rule="second"), discarded("a", spider="other")])
    store.add([discarded("a", rule="third", time=2_000.0)])
    assert [(row.spider, row.rule) for row in store.discards()] == [("shop", "third"), ("other", "0badcafe")]


def test_each_job_has_its_discards_until_it_ends(store: Store) -> None:
    rows = [discarded(name) for name in "ab"]
    store.add([row._replace(job=job) for row in rows for job in ("one", "two")])
    store.add([rows[0]._replace(job="one", state=DiscardState.SAMPLED)])
    assert [(row.url, row.job) for row in store.discards(job="one")] == [(rows[1].url, "one")]
    assert len(list(store.discards(job="two"))) == 2
    for job in ("one", "two"):
        store.end_job("", rows[0].spider, job)
        assert [row.job for row in store.discards(state=None)].count("") == 2
    assert [(row.url, row.job) for row in store.discards(state=None)] == [(row.url, "") for row in rows]
    assert {row.state for row in store.discards(state=None)} == {DiscardState.PENDING}, "the latest one"


def test_marked_discards(store: Store) -> None:
    store.add([discarded(x) for x in "abc"])
    a, b, c = (row.id for row in store.discards())
    assert a is not None
    assert b is not None
    store.mark_discards([a], DiscardState.REPLAYED)
    store.mark_discards([b], DiscardState.RELEASED)
    store.mark_discards([], DiscardState.RELEASED)
    assert [row.id for row in store.discards()] == [c]
    assert [row.id for row in store.discards(state=DiscardState.REPLAYED)] == [a]
    assert [row.state.value for row in store.discards(state=None)] == ["replayed", "released", "pending"]
    store.add([discarded("a")])  # discarded again, by a later crawl
    assert [row.url[-1] for row in store.discards()] == ["a", "c"]


# Forgetting


def test_forget_a_site(store: Store) -> None:
    store.add([seen("rareword", "peculiar"), seen("b"), seen("c", site="other.com"), seen("d", scope="s")])
    store.add([discarded("rareword"), discarded("e", site="other.com")])
    assert store.forget("example.com", "") == 2
    assert [(site.scope, site.site) for site in store.sites()] == [("", "other.com"), ("s", "example.com")]
    assert store.forget("example.com") == 1
    assert store.forget("none.com") == 0
    assert (count(store, "page_sketch"), count(store, "discard")) == (1, 1)


def test_what_is_forgotten_is_overwritten(file_store: Store, path: Path) -> None:
    file_store.add([seen("rareword", "peculiar"), discarded("rareword"), seen("c", site="other.com")])
    assert file_store.forget("example.com") == 1
    files = [path, *path.parent.glob("store.sqlite-*")]
    assert not [file for file in files if b"rareword" in file.read_bytes()]


def test_sketches_come_again_after_forgetting(store_target: str) -> None:
    with Store.open(store_target, sketches_per_site=1) as store:
        store.add([seen("a", "a")])
        store.forget("example.com")
        store.add([seen("b", "b")])
        assert [o.sketch is not None for o in store.observations()] == [True]


def test_prune_by_age(store: Store) -> None:
    store.add([seen("old", "old", time=1.0 * DAY), seen("new", "new", time=5.0 * DAY)])
    store.add([discarded("old", time=1.0 * DAY), discarded("new", time=5.0 * DAY)])
    assert store.prune(max_age_days=3, now=6.0 * DAY) == 2
    assert urls(store) == ["new"]
    assert (count(store, "page_sketch"), count(store, "discard")) == (1, 1)
    assert store.prune(max_age_days=3, now=6.0 * DAY) == 0
    assert store.prune() == 0


def test_prune_by_number(store: Store) -> None:
    store.add(seen(str(i), str(i)) for i in range(10))
    store.add(discarded(str(i)) for i in range(10))
    assert store.prune(max_rows=4) == 12
    assert urls(store) == ["6", "7", "8", "9"]
    assert (count(store, "page_sketch"), count(store, "discard")) == (4, 4)
    assert store.prune(max_rows=4) == 0
    assert store.prune(max_rows=0) == 8


def test_a_shared_sketch_stays_while_it_is_used(store: Store) -> None:
    store.add([seen("a", time=1.0), seen("b", time=9.0 * DAY)])
    store.prune(max_age_days=1, now=9.0 * DAY)
    assert count(store, "page_sketch") == 1


def bytes_of(store: Store) -> int:
    assert store.path is not None
    return sum(path.stat().st_size for path in store.path.parent.glob(f"{store.path.name}*"))


def test_the_file_shrinks(file_store: Store) -> None:
    store = file_store
    store.add(seen(str(i), f"text {i} " * 20) for i in range(3_000))
    before = bytes_of(store)
    store.prune(max_rows=10)
    assert 0 < bytes_of(store) < before / 5


def test_bytes_per_page(file_store: Store) -> None:
    def page(number: int) -> str:
        return " ".join(f"<p>word{number * i} and some more text" for i in range(100))

    rows = [seen(f"p/{i}", None, fingerprints=fingerprint_body(page(i).encode(), "text/html")) for i in range(300)]
    file_store.add(rows)
    file_store.close()
    assert bytes_of(file_store) / len(rows) < 2_500


def test_pages_that_one_url_has_shown_in_one_crawl(store: Store) -> None:
    """Two answers of one crawl are a control; answers of a cache, errors and older crawls are none."""
    store.add(
        [
            seen("old", "before", time=1_000.0),
            seen("old", "now", time=9_000.0),
            seen("twice", "first", time=9_000.0),
            seen("twice", "second", time=9_100.0),
            seen("cached", "first", time=9_000.0),
            seen("cached", "first", time=9_100.0, from_cache=True),
            seen("failed", "first", time=9_000.0),
            seen("failed", None, time=9_100.0, status=404),
        ]
    )
    found = [(each.url.rpartition("/")[2], each.time) for each in store.observations(repeats_within=3_600.0)]
    assert [time for name, time in found if name == "twice"] == [9_000.0, 9_100.0], "the oldest first"
    assert sorted(found) == [
        ("cached", 9_100.0),
        ("failed", 9_100.0),
        ("old", 9_000.0),
        ("twice", 9_000.0),
        ("twice", 9_100.0),
    ]
