"""Directories that are one: found from as many equal pages as tell on the site, and no page is lost to those that are not."""

from collections.abc import Iterable, Iterator
from random import Random

import pytest

from scrapy_dedup import Observation, RuleBook, learn_rules
from scrapy_dedup.rules import Set

SITE = "http://docs.example"

Rows = list[tuple[str, str]]


def learned(rows: Iterable[tuple[str, str]]) -> RuleBook:
    return learn_rules([Observation(SITE + url, page) for url, page in rows])


def lost(book: RuleBook, rows: Rows) -> int:
    """Return the pages that no first URL of a key leads to."""
    reached: dict[str, str] = {}
    for url, page in rows:
        reached.setdefault(book.canonical_key(SITE + url), page)
    return len({page for _, page in rows} - set(reached.values()))


def equivalent(book: RuleBook, one: str, other: str) -> bool:
    return book.equivalent(SITE + one, SITE + other)


def versions(number: int, pages: int, unchanged: float = 0.4) -> Rows:
    """The pages of a manual's versions; ``stable`` is a name of the last but one."""
    rng = Random(0)
    rows, now = [], [f"page {page} of 0" for page in range(pages)]
    for version in range(number):
        now = [page if rng.random() < unchanged else f"page {i} of {version}" for i, page in enumerate(now)]
        names = [f"{version}.0", *(["stable"] if version == number - 2 else [])]
        rows += [(f"/en/manual/{name}/part-{i}.html", page) for name in names for i, page in enumerate(now)]
    return rows


@pytest.mark.parametrize("number", [14, 40])
def test_a_version_with_two_names(number: int) -> None:
    rows = versions(number, 60)
    book = learned(rows)
    assert equivalent(book, "/en/manual/stable/part-3.html", f"/en/manual/{number - 2}.0/part-3.html")
    assert equivalent(book, "/en/manual/stable/part-99.html", f"/en/manual/{number - 2}.0/part-99.html")
    assert not equivalent(book, "/en/manual/stable/part-3.html", f"/en/manual/{number - 1}.0/part-3.html")
    assert not equivalent(book, "/en/news/stable/part-3.html", f"/en/news/{number - 2}.0/part-3.html")
    assert lost(book, rows) == 0


def test_a_version_that_rules_see_by_its_parts() -> None:
    """Where almost all names have a number after a dot, only the others can be shown as another one."""
    rows = versions(40, 60)
    rows += [(url.replace("38.0", "77.5"), page) for url, page in rows if "/38.0/" in url]
    book = learned(rows)
    assert equivalent(book, "/en/manual/stable/part-3.html", "/en/manual/38.0/part-3.html")
    assert [dict(op.values) for rule in book for op in rule.ops.values() if isinstance(op, Set)] == [{"stable": "38.0"}]


def packages(number: int, own: int) -> Iterator[tuple[str, str]]:
    """Pairs of packages of one source, which share *own* files and differ in the read-me."""
    for source in range(number):
        for name in ("bin", "lib"):
            for i in range(own):
                yield f"/{name}{source}x/file{i}", f"file {i} of {source}"
            yield f"/{name}{source}x/readme", f"read me of {name}{source}"


def links(number: int, files: int, names: int = 2) -> Iterator[tuple[str, str]]:
    """Directories that have several names."""
    for source in range(number):
        for name in range(names):
            for i in range(files):
                yield f"/alias{name}of{source}x/file{i}", f"file {i} of the linked {source}"


def test_linked_directories_of_a_few_files() -> None:
    rows = [*packages(40, 3), *links(4, 6)]
    book = learned(rows)
    for source in range(4):
        assert equivalent(book, f"/alias0of{source}x/file5", f"/alias1of{source}x/file5")
    # So few files say nothing of one that was not there.
    assert not equivalent(book, "/alias0of1x/file9", "/alias1of1x/file9")
    assert not equivalent(book, "/alias0of1x/file1/more", "/alias1of1x/file1/more")
    assert not equivalent(book, "/bin1x/file1", "/lib1x/file1")
    assert lost(book, rows) == 0


def test_as_many_equal_files_as_elsewhere_do_not_tell() -> None:
    """Where five equal files leave the sixth another one, six equal files are no proof."""
    rows = [*packages(40, 5), *links(12, 6)]
    book = learned(rows)
    assert not equivalent(book, "/alias0of1x/file1", "/alias1of1x/file1")
    assert lost(book, rows) == 0


def test_few_pages_are_no_proof() -> None:
    book = learned([*packages(10, 3), *links(3, 6)])
    assert not equivalent(book, "/alias0of1x/file1", "/alias1of1x/file1")
    book = learned([*packages(10, 3), *links(4, 6)])
    assert equivalent(book, "/alias0of1x/file1", "/alias1of1x/file1")


def test_directories_with_other_names_in_them() -> None:
    """A directory that has a page more is another one, whatever the others are."""
    rows = [*packages(40, 3), *links(4, 6), *((f"/alias0of{n}x/more", f"more of {n}") for n in range(4))]
    book = learned(rows)
    assert not equivalent(book, "/alias0of1x/file1", "/alias1of1x/file1")
    assert lost(book, rows) == 0


def test_the_index_of_a_directory_names_it() -> None:
    """What the server shows of directories stays, and hides nothing of the files beside them."""
    rows = [*packages(40, 3), *links(4, 6)]
    for name in {url.split("/")[1] for url, _ in rows}:
        rows += [(f"/{name}/", f"index of {name}"), (f"/{name}/sub/", f"index of {name}/sub")]
    book = learned(rows)
    assert equivalent(book, "/alias0of1x/file5", "/alias1of1x/file5")
    assert not equivalent(book, "/alias0of1x/sub/", "/alias1of1x/sub/")
    assert lost(book, rows) == 0


def test_a_session_id_hides_no_directory() -> None:
    rng = Random(1)
    rows = [
        (f"{url}?s={rng.getrandbits(64):016x}", page)
        for url, page in [*packages(40, 3), *links(4, 6)]
        for _ in range(2)
    ]
    book = learned(rows)
    assert equivalent(book, "/alias0of1x/file5?s=0123456789abcdef", "/alias1of1x/file5?s=fedcba9876543210")
    assert lost(book, rows) == 0


def test_empty_pages_of_many_users_are_no_directory() -> None:
    """Users of whom nothing is known yet have the same pages; that one of them is another one shows later."""
    rows = []
    for user in range(200):
        for tab in range(6):
            page = f"nothing in {tab}" if user % 3 else f"{tab} of {user}"
            rows.append((f"/people/name{user}x/tab{tab}", page))
    book = learned(rows)
    assert not equivalent(book, "/people/name1x/tab1", "/people/name2x/tab1")


def two_levels(first: int, names: tuple[str, ...], other: str) -> tuple[Rows, Rows]:
    """Pairs of packages with the same pages of these *names*, and what is seen of them later: *other* pages of their own."""
    pages = [
        (f"/{name}{n}x/{page}", f"{page} of {n}") for n in range(first) for name in ("bin", "lib") for page in names
    ]
    return pages, [(other.format(url), f"{other} of {url}") for url, _ in pages]


@pytest.mark.parametrize("other", ["{}.html", "{}?log=1"])
def test_no_page_of_a_shape_that_directories_were_not_seen_with(other: str) -> None:
    """A breadth-first crawl meets one kind of pages in all directories, before it meets another kind in any."""
    seen, later = two_levels(40, ("readme", "license", "authors", "install"), other)
    rows = [*seen, *(row for row in later if row[0].startswith("/bin3"))]
    book = learned(rows)
    assert equivalent(book, "/bin5x/readme", "/lib5x/readme")
    for url, _ in later:
        assert not equivalent(book, url, url.replace("bin", "lib") if "bin" in url else url.replace("lib", "bin"))


def test_no_page_of_a_name_that_was_seen_in_other_directories_only() -> None:
    """That linked directories have a page says nothing of two that were only seen without it."""
    rows = [*links(30, 6), *(row for row in packages(30, 4) if "readme" not in row[0])]
    book = learned(rows)
    assert equivalent(book, "/alias0of1x/file5", "/alias1of1x/file5")
    assert equivalent(book, "/bin1x/file1", "/lib1x/file1")
    assert not equivalent(book, "/bin1x/file5", "/lib1x/file5")


@pytest.mark.parametrize("seed", range(2))
def test_packages_whose_names_have_nothing_in_common(seed: int) -> None:
    """Their files have names that all packages have: no URL of another package is nearer than those of its own."""
    rng = Random(seed)
    rows = []
    for _ in range(120):
        package, *links = (f"p{rng.randrange(10**6):x}q" for _ in range(1 + rng.choice((0, 0, 0, 2, 4))))
        for name in ("changelog", "copyright", "NEWS", "README", "TODO"):
            rows += [(f"/doc/{each}/{name}", f"{name} of {package}") for each in (package, *links)]
    rng.shuffle(rows)
    book = learned(rows)
    assert len({book.canonical_key(SITE + url) for url, _ in rows}) == len({page for _, page in rows})
    assert lost(book, rows) == 0
