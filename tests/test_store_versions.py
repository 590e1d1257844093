from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.content.versions import Version
from scrapy_dedup.store.store import Store

from .store_rows import seen

BLOCKS = (("html/body/p.clock", "", "It is noon"), ("html/body/a", "href", "/next?sid=1"))


def version(*texts: str) -> Version:
    return Version(tuple(("html/body/p", "", text) for text in texts))


@given(st.lists(st.tuples(st.text(), st.text(), st.text())))
def test_a_version_comes_back_as_it_was_packed(blocks: list[tuple[str, str, str]]) -> None:
    made = Version(tuple(blocks))
    assert Version.from_bytes(made.to_bytes()) == made


def test_versions_come_url_by_url_the_oldest_first(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        store.add_observations([
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


def test_versions_go_with_their_site_and_their_responses(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite") as store:
        row = seen("a")
        store.add_observations([row._replace(time=1.0, version=Version(BLOCKS).to_bytes()), row._replace(time=1e9)])
        assert store.prune(max_age_days=1, now=1e9) == 1
        assert list(store.versions()) == []
        store.add_observations([row._replace(time=1e9, version=Version(BLOCKS).to_bytes())])
        assert [each.blocks for _, _, each in store.versions()] == [BLOCKS]
        store.forget(row.site)
        assert list(store.versions()) == []


def test_past_the_cap_no_version_is_kept(tmp_path: Path) -> None:
    with Store.open(tmp_path / "store.sqlite", sketches_per_site=4) as store:
        store.add_observations([seen(str(n))._replace(version=version(str(n)).to_bytes()) for n in range(10)])
        assert len(list(store.versions())) == 4
        assert len(list(store.observations())) == 10
