from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.retention import MOST_OF_KIND, MOST_VERSIONS
from scrapy_dedup.content.versions import Version
from scrapy_dedup.store.page_queries import fetched_within
from scrapy_dedup.store.store import Store

from .store_rows import seen

BLOCKS = (("html/body/p.clock", "", "It is noon"), ("html/body/a", "href", "/next?sid=1"))


def version(*texts: str) -> Version:
    return Version(tuple(("html/body/p", "", text) for text in texts))


@given(st.lists(st.tuples(st.text(), st.text(), st.text())))
def test_a_version_comes_back_as_it_was_packed(blocks: list[tuple[str, str, str]]) -> None:
    made = Version(tuple(blocks))
    assert Version.from_bytes(made.to_bytes()) == made


def test_versions_come_url_by_url_the_oldest_first(store_target: str) -> None:
    with Store.open(store_target) as store:
        store.add([
            seen("a")._replace(time=1.0, version=version("one").to_bytes()),
            seen("b")._replace(time=2.0, version=version("other").to_bytes()),
            seen("c")._replace(time=3.0),
            seen("a")._replace(time=4.0, version=version("two").to_bytes()),
            seen("a")._replace(time=5.0, version=version("one").to_bytes()),
        ])  # fmt: skip
        found = [(url, at, each) for url, at, each in store.versions()]
        of_a = [(at, each) for url, at, each in found if url == seen("a").url]
        assert of_a == [(1.0, version("one")), (4.0, version("two")), (5.0, version("one"))]
        assert len(found) == 4
        assert [each for _, _, each in store.versions(since=4.5)] == [version("one")]
        assert {each.version for each in store.observations(versions=True)} == {version("one"), version("other"), None}
        assert {each.version for each in store.observations()} == {None}


def test_versions_go_with_their_site_and_their_responses(store_target: str) -> None:
    with Store.open(store_target) as store:
        row = seen("a")
        store.add([row._replace(time=1.0, version=Version(BLOCKS).to_bytes()), row._replace(time=1e9)])
        assert store.prune(max_age_days=1, now=1e9) == 1
        assert list(store.versions()) == []
        store.add([row._replace(time=1e9, version=Version(BLOCKS).to_bytes())])
        assert [each.blocks for _, _, each in store.versions()] == [BLOCKS]
        store.forget(row.site)
        assert list(store.versions()) == []


def test_where_there_is_no_room_versions_in_between_go(store_target: str) -> None:
    """Those of a page are spread over time, and the latest ones are among them."""
    cap, pages, crawls = 400, 10, 60
    with Store.open(store_target, sketches_per_site=cap) as store:
        for crawl in range(crawls):
            rows = [
                seen(f"p/{n}")._replace(time=float(crawl), version=version(f"{n} {crawl}").to_bytes())
                for n in range(pages)
            ]
            store.add(rows)
        found = [(url, at) for url, at, _ in store.versions()]
        assert len(list(store.observations())) == pages
    assert len(found) <= cap
    for n in range(pages):
        times = [at for url, at in found if url == seen(f"p/{n}").url]
        assert len(times) >= MOST_VERSIONS
        assert (times[0], times[-1]) == (0.0, crawls - 1.0)


def test_pages_beyond_enough_of_their_kind_are_kept_in_fewer_versions(store_target: str) -> None:
    cap, pages, crawls = 800, 200, 6
    with Store.open(store_target, sketches_per_site=cap) as store:
        for crawl in range(crawls):
            rows = [
                seen(f"p/{n}")._replace(time=float(crawl), version=version(f"{n} {crawl}").to_bytes())
                for n in range(pages)
            ]
            store.add(rows)
        numbers = Counter(url for url, _, _ in store.versions())
        latest = Counter(at for _, at, _ in store.versions())
    assert numbers.total() <= cap
    assert set(numbers) == {seen(f"p/{n}").url for n in range(pages)}
    assert (
        sum(number > 2 for number in numbers.values()) >= MOST_OF_KIND > sum(number > 5 for number in numbers.values())
    )
    assert latest[crawls - 1.0] >= pages / 2


def test_versions_that_pages_share_stay_as_long_as_one_of_them_has_them(store_target: str) -> None:
    cap, crawls = 40, 60
    with Store.open(store_target, sketches_per_site=cap) as store:
        for crawl in range(crawls):
            text = "always" if crawl % 2 else str(crawl)
            store.add([seen("p")._replace(time=float(crawl), version=version(text).to_bytes())])
            other = seen("p", site="other.example", url="http://other.example/")
            store.add([other._replace(time=float(crawl), version=version(text).to_bytes())])
        for site in ("example.com", "other.example"):
            found = list(store.versions("", site))
            assert version("always") in [each for _, _, each in found]
            assert (found[0][1], found[-1][1]) == (0.0, crawls - 1.0)


def test_past_the_cap_no_version_is_kept(store_target: str) -> None:
    with Store.open(store_target, sketches_per_site=4) as store:
        store.add([seen(str(n))._replace(version=version(str(n)).to_bytes()) for n in range(10)])
        assert len(list(store.versions())) == 4
        assert len(list(store.observations())) == 10


def test_urls_fetched_twice_within_some_time(store_target: str) -> None:
    data = version("text").to_bytes()
    with Store.open(store_target) as store:
        fetches = {"soon": (0.0, 500.0), "late": (0.0, 901.0), "once": (5.0,), "again": (0.0, 5_000.0, 5_900.0)}
        rows = [seen(url)._replace(time=at, version=data) for url, times in fetches.items() for at in times]
        rows += [seen("bare")._replace(time=0.0), seen("bare")._replace(time=1.0, version=data)]
        rows += [seen("other", scope="b")._replace(time=at, version=data) for at in (0.0, 1.0)]
        store.add(rows)

        def found(before: float = 1e9) -> list[str]:
            return sorted(fetched_within(store, "", "example.com", 900.0, before=before))

        assert found() == [seen("again").url, seen("soon").url]
        assert found(before=5_900.0) == [seen("soon").url]
        assert found(before=500.0) == []
