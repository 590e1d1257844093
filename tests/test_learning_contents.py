"""What one page is: which layer tells pages apart, what is no evidence, and how two responses are compared."""

import json
from itertools import combinations
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup import Mask, Observation
from scrapy_dedup.learning.contents import Contents, Difference, NoEvidence
from scrapy_dedup.masks.model import Place
from scrapy_dedup.pages.response import ContentKind, fingerprint_body, page_content, version_of
from scrapy_dedup.pages.versions import Version

from .mask_sites import page, words

HOST = "http://a.example"
SAME, DIFFERENT, UNDECIDED = Difference


def seen(target: str, html: str, *, at: float = 0.0, crawl: int = 1, **more: Any) -> Observation:
    """A response as a crawl records it."""
    url, found = HOST + target, fingerprint_body(html.encode(), "text/html; charset=utf-8", url=HOST + target)
    return Observation(
        url,
        found.text,
        bag=found.bag,
        unseen=found.unseen,
        sketch=found.sketch,
        version=version_of(html),
        time=at,
        crawl=crawl,
        **more,
    )


def answered(number: int, at: int) -> Observation:
    """A JSON answer of few words, with a clock in it, as a crawl records it."""
    url = HOST + f"/api/{number}"
    body = json.dumps({"id": number, "made": f"09:{at:02}", "name": words("name", number, number=2)}).encode()
    content = page_content(body, "application/json", url, kind=ContentKind.JSON)
    found = content.fingerprints
    assert content.rows is not None
    version = Version.of(content.rows)
    return Observation(url, found.text, bag=found.bag, sketch=found.sketch, version=version, time=float(at), crawl=1)


def shell(section: str, number: int, *, extra: str = "") -> str:
    """A page of an application: all of a section show one text, and a script holds what they are."""
    data = f'<script id="data" type="application/json">{{"product": {{"name": "{words(section, number)}"}}}}</script>'
    return page(f"Section {section}", f"<p>Please wait while {section} is loading</p>{data}{extra}")


def item(number: int, *, extra: str = "") -> str:
    return page(f"Item {number}", f"<p>{words('item', number, number=40)}</p>{extra}")


def identities(contents: Contents, responses: list[Observation]) -> list[str | None]:
    found = [contents.of(each) for each in responses]
    return [None if isinstance(each, NoEvidence) else each.identity for each in found]


def test_answers_of_json_are_compared_by_their_leaves_without_those_that_a_mask_hides() -> None:
    """Few words are enough in data; where nothing of it lasts, all of it tells what it is."""
    responses = [answered(number, at) for number in range(6) for at in (number, 20 + number)]
    plain = identities(Contents(responses), responses)
    assert (len(set(plain)), None in plain) == (12, False)
    clock, *others = (Place(f"$.{key}") for key in ("made", "id", "name"))
    lasting = identities(Contents(responses, Mask("a.example", (clock,))), responses)
    assert (len(set(lasting)), None in lasting) == (6, False)
    assert lasting[::2] == lasting[1::2]
    assert identities(Contents(responses, Mask("a.example", (clock, *others))), responses) == plain


def test_where_texts_tell_pages_apart_nothing_else_counts() -> None:
    """A token that nobody sees makes no other page, and URLs with session ids are one."""
    responses = [
        seen(
            f"/item?id={n}&sid={sid}", item(n, extra=f"<input type=hidden name=token value={words(n, sid, number=1)}>")
        )
        for n in range(12)
        for sid in "abc"
    ]
    found = identities(Contents(responses), responses)
    assert len(set(found)) == 12
    assert Contents(responses).compare(responses[0], responses[1]).difference is SAME


@pytest.mark.parametrize("again", [True, False])
def test_where_many_urls_show_one_text_the_unseen_layer_counts_if_it_was_seen_to_last(again: bool) -> None:
    """Each page of the application stands under two URLs; without a second response to one of these it tells nothing."""
    responses = [
        seen(f"/{s}/{n}{q}", shell(s, n)) for s in ("news", "shop") for n in range(10) for q in ("", "?from=list")
    ]
    responses += [seen("/news/3", shell("news", 3), at=60)] * again
    contents = Contents(responses)
    news = [each for each in responses if "/news/" in each.url]
    assert len(set(identities(contents, news))) == (10 if again else 1)
    compared = contents.compare(news[0], news[1])
    assert compared.difference is (SAME if again else UNDECIDED)
    assert contents.compare(news[0], news[2]).difference is (DIFFERENT if again else UNDECIDED)
    if not again:
        assert compared.why == "20 URLs like these show one answer"


def test_an_unseen_layer_that_changes_tells_nothing() -> None:
    responses = [seen(f"/news/{n}", shell("news", n, extra=f"<i data-at={n}></i>")) for n in range(10)]
    responses.append(seen("/news/3", shell("news", 3, extra="<i data-at=77></i>"), at=60))
    contents = Contents(responses)
    assert len(set(identities(contents, responses))) == 1
    assert contents.compare(responses[0], responses[1]).difference is UNDECIDED


def clock(at: float) -> str:
    return f"<p class=clock>It is {at:.0f} seconds past noon</p>"


#: A clock on each page: whether its page was fetched again in this crawl or in one before, whether a mask hides it -> what is known of two
#: session ids of one item, and of two items.
CLOCKS = {
    "nothing was fetched again": ([], False, UNDECIDED, UNDECIDED),
    "it was, and has changed": ([(1, 60.0)], False, UNDECIDED, UNDECIDED),
    "a mask hides it": ([(1, 60.0)], True, SAME, DIFFERENT),
    "a mask hides it, from crawl to crawl": ([(0, 60.0)], True, SAME, DIFFERENT),
}


@pytest.mark.parametrize("name", CLOCKS)
def test_a_difference_counts_where_pages_like_these_have_lasted(name: str) -> None:
    again, masked, one, two = CLOCKS[name]
    responses = [
        seen(f"/item?id={n}&sid={sid}", item(n, extra=clock(10 * n + k)), at=10 * n + k)
        for n in range(12)
        for k, sid in enumerate("abc")
    ]
    for crawl, at in again:
        after = at if crawl else at - 1e6
        responses.append(seen("/item?id=1&sid=a", item(1, extra=clock(after)), at=after, crawl=crawl))
    mask = (
        Mask("a.example", (Place("html/body/main/p.clock", slot=("It is", "seconds past noon")),)) if masked else None
    )
    contents = Contents(responses, mask)
    assert contents.compare(responses[0], responses[1]).difference is one
    assert contents.compare(responses[0], responses[3]).difference is two


#: What no page shows -> why it is no evidence.
NO_EVIDENCE = {
    "hardly any text": seen("/x", "<p>Not found"),
    "status": seen("/x", item(1), status=404),
    "cut off": seen("/item?id=1", item(1), ends=False),
    "hardly any text of its own": seen("/item?id=99", page("Item 1", "")),
}


MENU = "".join(f"<li>section {number}" for number in range(30))


@pytest.mark.parametrize(
    ("other", "others", "expected"),
    [
        pytest.param((1, "12:01"), 8, False, id="a clock"),
        pytest.param((2, "12:02"), 8, True, id="another page"),
        pytest.param((2, "12:02"), 0, False, id="nobody knows what is the template"),
    ],
)
def test_pages_are_unlike_that_share_less_than_half_of_what_is_their_own(
    other: tuple[int, str], others: int, expected: bool
) -> None:
    def shown(number: int, clock: str) -> Observation:
        body = f"<ul>{MENU}</ul><p>{words(number, number=20)}</p><p>{clock}</p>"
        return seen(f"/p/{number}?at={clock}", page(str(number), body))

    responses = [shown(1, "12:00"), shown(*other), *(shown(number, "12:03") for number in range(3, 3 + others))]
    assert Contents(responses).are_unlike(*responses[:2]) is expected


@pytest.mark.parametrize("why", NO_EVIDENCE)
def test_what_is_no_evidence(why: str) -> None:
    odd = NO_EVIDENCE[why]
    responses = [seen(f"/item?id={n}", page("Item 1", f"<p>{words(n)}</p>"), ends=True) for n in range(20)]
    contents = Contents([*responses, odd])
    assert contents.of(odd) == NoEvidence(why)
    assert contents.compare(odd, responses[0]) == (UNDECIDED, why)
    assert contents.compare(responses[0], odd) == (UNDECIDED, why)


def test_a_mask_that_hides_what_pages_are_about_tells_none() -> None:
    mask = Mask("a.example", (Place("html/body/main/p"), Place("html/body/main/h1"), Place("html/head/title")))
    responses = [seen(f"/item?id={n}", item(n)) for n in range(20)]
    assert set(identities(Contents(responses, mask), responses)) == {None}


responses_of_a_site = st.lists(
    st.builds(
        lambda kind, number, sid, at, crawl, extra: seen(
            f"/{kind}/{number}{sid}",
            {"item": item, "shell": lambda n, extra="": shell("s", n, extra=extra)}[kind](number, extra=extra),
            at=float(at),
            crawl=crawl,
        ),
        st.sampled_from(["item", "shell"]),
        st.integers(0, 3),
        st.sampled_from(["", "?sid=a", "?sid=b"]),
        st.integers(0, 200),
        st.integers(0, 1),
        st.sampled_from(["", clock(1), clock(2), "<i data-n=1></i>", "<i data-n=2></i>"]),
    ),
    min_size=2,
    max_size=14,
)


@given(found=responses_of_a_site)
def test_what_compares_agrees_with_the_contents(found: list[Observation]) -> None:
    """What is the same has one content, what is different has two, and the order of two says nothing."""
    contents = Contents(found)
    for one, other in combinations(found, 2):
        first, second = contents.of(one), contents.of(other)
        difference = contents.compare(one, other).difference
        assert contents.compare(other, one).difference is difference
        if NoEvidence in (type(first), type(second)):
            assert difference is UNDECIDED
        elif difference is not UNDECIDED:
            assert (first[0] == second[0]) is (difference is SAME)
        if (one.fingerprint, one.unseen) == (other.fingerprint, other.unseen):
            assert difference is not DIFFERENT


@given(found=responses_of_a_site, data=st.data())
def test_the_order_of_responses_does_not_matter(found: list[Observation], data: st.DataObject) -> None:
    single = list({(each.url, each.time): each for each in found}.values())
    mixed = data.draw(st.permutations(single))
    assert identities(Contents(single), single) == identities(Contents(mixed), single)
