"""What the entropies propose, on small sites whose truth is known."""

import random
from collections.abc import Callable, Iterable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.data.judgement import SiteUrls
from scrapy_dedup.learning.decision.validation import validated
from scrapy_dedup.learning.methods.entropy import EntropyChoices, FingerprintedUrl, host_rules, proposals, proposals_of
from scrapy_dedup.learning.proposals.combining import rules_of
from scrapy_dedup.learning.proposals.proposal import Proposal
from scrapy_dedup.rules import Ignore, Lower, Nested
from scrapy_dedup.urls import normal_form

SITE = "http://shop.com"


def sample(rows: Iterable[tuple[str, object]]) -> SiteUrls:
    """Paths (or URLs) and the page of each, as learners take them."""
    pages: dict[str, int] = {}
    content: dict[str, int] = {}
    for url, page in rows:
        content[normal_form(SITE + url if url.startswith("/") else url)] = pages.setdefault(str(page), len(pages))
    return SiteUrls("shop.com", list(content), list(content.values()))


def learned(rows: Iterable[tuple[str, object]]) -> list[Proposal]:
    return proposals(sample(rows), {})


def book(found: Iterable[Proposal]) -> RuleBook:
    return RuleBook(rules_of("shop.com", found))


def hexes(seed: int) -> Callable[[], str]:
    rng = random.Random(seed)
    return lambda: f"{rng.getrandbits(128):032x}"


def keys(found: Iterable[Proposal]) -> set[tuple[str, str]]:
    return {(",".join(key for key, _ in proposal.match), proposal.key) for proposal in found}


def test_one_session_id() -> None:
    sid = hexes(1)
    found = learned((f"/view?id={i}&sid={sid()}", i) for i in range(60) for _ in range(3))
    assert keys(found) == {("", "q.sid")}
    assert book(found).equivalent(f"{SITE}/view?id=7&sid={sid()}", f"{SITE}/view?id=7")


@pytest.mark.parametrize("junk", [2, 5])
def test_several_unique_parameters_do_not_hide_each_other(junk: int) -> None:
    token = hexes(2)
    names = [f"u{n}" for n in range(junk)]

    def url(i: int) -> str:
        return f"/view?id={i}&" + "&".join(f"{name}={token()}" for name in names)

    assert keys(learned((url(i), i) for i in range(60) for _ in range(3))) == {("", f"q.{name}") for name in names}


def test_a_parameter_that_pages_demand_is_put_back() -> None:
    """``page`` = 1 is no ``page``: so it varies with the page being the same, and still matters."""
    sid = hexes(3)
    rows = [(f"/view?id={i}&page={p}&sid={sid()}", (i, p)) for i in range(40) for p in (1, 2, 3) for _ in range(2)]
    rows += [(f"/view?id={i}&sid={sid()}", (i, 1)) for i in range(40)]
    assert keys(learned(rows)) == {("", "q.sid")}


def test_relevance_that_is_rare_is_seen_among_the_groups_it_breaks() -> None:
    """``lang`` matters on one page in ten: averaged over all URLs it is next to nothing."""
    rng = random.Random(4)
    rows = []
    for i in range(200):
        for lang in ("en", "de", "fr"):
            page = (i, lang) if i % 10 == 0 else (i,)
            rows += [(f"/view?id={i}&lang={lang}&ref={rng.randrange(9)}", page) for _ in range(3)]
    assert keys(learned(rows)) == {("", "q.ref")}


def test_a_pair_that_matters_together() -> None:
    """What is shown depends on whether a and b are equal; alone, each looks random."""
    sid = hexes(5)
    rows = [
        (f"/v?id={i}&a={a}&b={b}&s={sid()}", (i, a == b))
        for i in range(40)
        for a in (0, 1)
        for b in (0, 1)
        for _ in range(2)
    ]
    assert keys(learned(rows)) == {("", "q.s")}


def test_noise_of_fingerprints_puts_nothing_back() -> None:
    sid, rng = hexes(6), random.Random(6)
    rows = [
        (f"/view?id={i}&sid={sid()}&ref={rng.choice('abcde')}", i if rng.random() > 0.03 else f"noise {i} {n}")
        for i in range(200) for n in range(5)
    ]  # fmt: skip
    assert keys(learned(rows)) == {("", "q.sid"), ("", "q.ref")}


def test_conflicting_paths_have_rules_of_their_own() -> None:
    rng = random.Random(7)
    rows = [(f"/news?id={i}&view={rng.randrange(99)}", ("news", i)) for i in range(40) for _ in range(3)]
    rows += [(f"/report?id={i}&view={v}&s={s}", ("report", i, v)) for i in range(40) for v in range(3) for s in "ab"]
    rows += [(f"/report?id={i}&view=9", ("report", i, 0)) for i in range(40)]
    found = learned(rows)
    keys_of = book(found)
    assert keys_of.equivalent(f"{SITE}/news?id=1&view=2", f"{SITE}/news?id=1&view=3")
    assert not keys_of.equivalent(f"{SITE}/report?id=1&view=1", f"{SITE}/report?id=1&view=2")
    assert keys_of.equivalent(f"{SITE}/report?id=1&view=1&s=a", f"{SITE}/report?id=1&view=1&s=b")


def test_mirrors_of_the_host() -> None:
    found = learned((f"http://{host}.shop.com/watch?video={i}", i) for i in range(30) for host in ("www1", "www2"))
    assert found == [Proposal((), "host.1", Ignore(only=["www1", "www2"]))]


def test_case_of_whole_paths() -> None:
    rows = [
        (path, i)
        for i in range(30)
        for path in (f"/Docs/Page{'abc'[i % 3]}{i}.ASPX", f"/docs/page{'abc'[i % 3]}{i}.aspx")
    ]
    found = learned(rows)
    assert book(found).equivalent(f"{SITE}/DOCS/pageA0.aspx", f"{SITE}/docs/PAGEa0.ASPX")


def test_case_that_tells_pages_apart_is_kept() -> None:
    """Short ids: aB and Ab are two pages. What is before them may be written in either case."""
    ids = [a + b for a in "abcdefgh" for b in "ABCDEFGH"]
    rows = [(f"/{start}/{i if n else i.swapcase()}", f"{i} {n}") for i in ids for n in (0, 1) for start in ("go", "GO")]
    found = learned(rows)
    assert not book(found).equivalent(f"{SITE}/go/aB", f"{SITE}/go/Ab")
    assert book(found).equivalent(f"{SITE}/go/aB", f"{SITE}/GO/aB")


def test_case_that_was_never_met_in_two_ways_is_kept() -> None:
    sid = hexes(8)
    assert Lower() not in {
        p.operation for p in learned((f"/v?id=A{i}&sid={sid()}", i) for i in range(40) for _ in "ab")
    }


def test_case_may_matter_under_one_path_and_not_under_another() -> None:
    ids = [a + b for a in "abcdefgh" for b in "ABCDEFGH"]
    rows = [(f"/s/{name}", ("s", name)) for i in ids for name in (i, i.swapcase())]
    # So many of them that they alone would speak for the whole site.
    rows += [(path, ("docs", i)) for i in range(800) for path in (f"/Docs/Page{i}", f"/docs/page{i}")]
    found = book(learned(rows))
    assert found.equivalent(f"{SITE}/Docs/Page7", f"{SITE}/docs/PAGE7")
    assert not found.equivalent(f"{SITE}/s/aB", f"{SITE}/s/Ab")


def test_a_page_that_is_the_same_whatever_the_value() -> None:
    """Table 1 of the document: one fingerprint."""
    rows = [(f"/login?returnto={i}", "login") for i in range(50)] + [(f"/view?id={i}", i) for i in range(50)]
    assert book(learned(rows)).equivalent(f"{SITE}/login?returnto=1", f"{SITE}/login?returnto=2")
    assert not book(learned(rows)).equivalent(f"{SITE}/view?id=1", f"{SITE}/view?id=2")


def test_what_the_document_would_drop_on_no_evidence_is_not_proposed() -> None:
    """``v=1`` everywhere leaves the page open, H(F|V) = H(F): irrelevant to the document, unknown to us."""
    sid = hexes(11)
    chosen = sample((f"/view?id={i}&v=1&sid={sid()}", i) for i in range(40) for _ in range(2))
    as_printed = EntropyChoices(largest_tuple=1)
    pages = [FingerprintedUrl(url, content) for url, content in zip(chosen.urls, chosen.content, strict=True)]
    assert {"q.v", "q.sid"} <= {proposal.key for proposal in proposals_of(host_rules(pages, as_printed))}
    assert keys(proposals(chosen, {})) == {("", "q.sid")}


def test_nested_urls_of_the_site_itself() -> None:
    sid = hexes(9)
    rows = [(f"/view?id={i}&sid={sid()}", i) for i in range(40) for _ in range(3)]
    rows += [
        (f"/share?url=http://shop.com/view?id={i}%26sid={sid()}", ("share", i)) for i in range(40) for _ in range(3)
    ]
    found = learned(rows)
    assert Proposal((), "q.url", Nested()) in found
    assert book(found).equivalent(
        f"{SITE}/share?url=http://shop.com/view?id=3%26sid={sid()}", f"{SITE}/share?url=http://shop.com/view?id=3"
    )


def test_nested_urls_are_compared_as_their_own_path_has_it() -> None:
    """What is dropped below one path only is dropped in values that are URLs of that path."""
    rows: list[tuple[str, object]] = [(f"/view?id={i}&n={7 * i + s}", i) for i in range(40) for s in range(3)]
    rows += [(f"/list?n={n}", ("list", n)) for n in range(60)]
    rows += [
        (f"/share?url=http://shop.com/view?id={i}%26n={900 + 7 * i + s}", ("share", i))
        for i in range(40)
        for s in range(3)
    ]
    found = learned(rows)
    assert Proposal((), "q.url", Nested()) in found
    same, other = (f"{SITE}/share?url=http://shop.com/view?id={i}%26n=5" for i in (3, 4))
    assert book(found).equivalent(same, f"{SITE}/share?url=http://shop.com/view?id=3%26n=6")
    assert not book(found).equivalent(same, other)


@pytest.mark.parametrize(
    "rows",
    [
        [],
        [("/", 1)],
        [(f"/a?i={i}", i) for i in range(50)],
        [(f"/a?i={i}", 1) for i in range(50)],
        [("no url at all", 1), ("mailto:a@b", 1), ("http://[::1", 2)],
        [(f"/a/b/c?{'&'.join(f'k{n}={n * i}' for n in range(300))}", i % 3) for i in range(9)],
    ],
    ids=["nothing", "one URL", "all unique", "all one page", "no URLs", "many parameters"],
)
def test_odd_input(rows: list[tuple[str, object]]) -> None:
    found = proposals(
        SiteUrls(
            "shop.com",
            [url if " " in url or ":" in url else SITE + url for url, _ in rows],
            [int(str(p)) for _, p in rows],
        ),
        {},
    )
    assert all(isinstance(proposal, Proposal) for proposal in found)
    if len(rows) < 2 or rows[-1][1] == 49:
        assert found == []


@given(st.lists(st.tuples(st.text("ab?&=/%A.", max_size=9), st.integers(0, 3)), max_size=40))
def test_whatever_the_urls_nothing_is_raised(rows: list[tuple[str, int]]) -> None:
    chosen = sample((f"/{path}", page) for path, page in rows)
    validated(proposals(chosen, {}), chosen, {})


def test_the_same_urls_in_another_order_give_the_same() -> None:
    sid = hexes(10)
    rows = [(f"/view?id={i}&page={p}&sid={sid()}", (i, p)) for i in range(40) for p in (1, 2) for _ in range(2)]
    shuffled = random.Random(1).sample(rows, len(rows))
    assert set(learned(rows)) == set(learned(shuffled))
