"""A redesign: what was learned before it is not mixed with what is learned after it."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from random import Random

import pytest

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.versions import version_of
from scrapy_dedup.learning.site_pages import SitePages
from scrapy_dedup.masks.learning import mask_of
from scrapy_dedup.masks.learning.counts.epochs import Epochs, PageVersions, latest_epoch
from scrapy_dedup.masks.learning.learn import AGED
from scrapy_dedup.masks.model import TransientPath
from scrapy_dedup.store.store import Store
from scrapy_dedup.urls.templates import template_of
from tests.test_masks_learning import text_of
from tests.test_masks_learning_losses import SITE, crawl, learned

DAY = 86_400.0


def online(*names: object) -> str:
    return f"{Random(repr(names)).randrange(10_000)} users online"


def old_page(page: int, k: int, kind: str = "item") -> str:
    return (
        f"<html><body><div class=head><a href=/>Home</a></div><p class=online>{online(kind, page, k)}</p>"
        f"<div class=main><h1>{text_of('title', page, words=4)}</h1><p>{text_of('main', page, words=60)}</p>"
        f"<p class=note>{text_of('note', page)}</p></div><p class=foot>All rights reserved</p></body></html>"
    )


def new_page(page: int, k: int, kind: str = "item") -> str:
    """The number of users has moved; where the note stood in the old design is a text that changes, in the new one."""
    return (
        f"<html><body class=new><header><nav><a href=/>Home</a></nav><b class=count>{online(kind, page, k)}</b></header>"
        f"<article class=main><h1>{text_of('title', page, words=4)}</h1><section>{text_of('main', page, words=60)}</section>"
        f"<p class=online>{text_of('stock', page)}</p></article><footer>All rights reserved</footer></body></html>"
    )


def seen(page: int, designs: str, kind: str = "item", crawls: Sequence[int] = ()) -> PageVersions:
    """A page in versions of the old design (o), the new one (n) and a third (t)."""
    made = {"o": old_page, "n": new_page, "t": third_page}
    versions = [version_of(made[design](page, k, kind)) for k, design in enumerate(designs)]
    url = f"http://shop.example/{kind}/{page}/"
    # All but a minute apart: the number of users is drawn anew each time.
    return PageVersions(url, versions, (), crawls, [(60.0 * k, url) for k in range(len(versions))])


def third_page(page: int, k: int, kind: str = "item") -> str:
    return f"<html><body><table><tr><td>{online(kind, page, k)}<th>{text_of('main', page)}</table><form>Go</form>"


def left(epochs: Epochs) -> list[int]:
    return [len(page.versions) for page in epochs.latest]


def hidden(mask: Mask | None) -> list[str]:
    assert mask is not None
    return [path.selector.rpartition("/")[2] for path in mask.paths if path.is_hidden]


def left_out(mask: Mask) -> list[str]:
    """What pages are compared without, be it stripped or not."""
    return [path.selector.rpartition("/")[2] for path in mask.paths if path.is_left_out]


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "evidence.sqlite") as found:
        yield found


# -- which versions are of which epoch


def test_the_versions_before_a_redesign_are_left_behind() -> None:
    epochs = latest_epoch([seen(page, "oonn") for page in range(6)])
    assert left(epochs) == [2] * 6
    assert [len(page.versions) for page in epochs.past] == [2] * 6
    assert latest_epoch([seen(page, "ooo") for page in range(6)]).past == ()


def test_pages_that_were_fetched_in_one_design_only_are_told_by_their_places() -> None:
    epochs = latest_epoch([*[seen(page, "on") for page in range(4)], seen(7, "nn"), seen(8, "o"), seen(9, "n")])
    assert left(epochs) == [1, 1, 1, 1, 2, 1]
    assert {page.name[-2] for page in epochs.latest} == {"0", "1", "2", "3", "7", "9"}


def test_two_redesigns() -> None:
    pages = [seen(0, "oonntt"), seen(1, "ooonn"), seen(2, "onnntt"), seen(3, "nnt"), seen(4, "oott"), seen(5, "nnnt")]
    epochs = latest_epoch(pages)
    assert {page.name[-2]: len(page.versions) for page in epochs.latest} == {"0": 2, "2": 2, "3": 1, "4": 2, "5": 1}


def test_two_designs_side_by_side_are_no_redesign() -> None:
    assert not latest_epoch([seen(page, "on" if page % 2 else "no") for page in range(8)]).past
    assert not latest_epoch([seen(page, "ono") for page in range(8)]).past


def test_a_page_that_looks_otherwise_now_is_no_redesign() -> None:
    assert not latest_epoch([seen(0, "oon"), *[seen(page, "ooo") for page in range(1, 8)]]).past
    assert not latest_epoch([seen(0, "oon"), seen(1, "oon"), *[seen(page, "ooo") for page in range(2, 8)]]).past


def test_pages_that_were_not_fetched_since_do_not_speak_against_a_redesign() -> None:
    turned = [seen(page, "oon", crawls=(0, 1, 2)) for page in range(2)]
    stayed = [seen(page, "oo", crawls=(0, 1)) for page in range(2, 8)]
    assert left(latest_epoch([*turned, *stayed])) == [1, 1]
    stayed = [seen(page, "oo", crawls=(0, 2)) for page in range(2, 8)]
    assert not latest_epoch([*turned, *stayed]).past


def test_a_kind_of_a_single_page_turns_with_its_site() -> None:
    home = seen(1, "oon", kind="home")
    assert not latest_epoch([home]).past
    assert left(latest_epoch([home, *[seen(page, "oon") for page in range(3)]])) == [1, 1, 1, 1]
    assert left(latest_epoch([home, seen(1, "oon", kind="news")])) == [1, 1]


# -- masks


def test_the_mask_is_of_the_latest_epoch() -> None:
    pages = [seen(page, "ooonnn") for page in range(8)]
    assert hidden(mask_of(pages)) == ["b.count"]
    assert hidden(mask_of([seen(page, "oo") for page in range(8)])) == ["p.online"]


def test_a_place_that_passed_once_is_content_now() -> None:
    def stock(page: int, k: int) -> str:
        return new_page(page, k).replace("<article class=main>", "").replace("</article>", "")

    versions = {
        f"http://shop.example/item/{n}/": [*[old_page(n, k) for k in range(3)], *[stock(n, k) for k in range(3)]]
        for n in range(8)
    }
    mask = learn_mask(versions, times={url: [60.0 * k for k in range(6)] for url in versions})
    html = stock(20, 9)
    assert text_of("stock", 20) in mask.text(html)
    assert online("item", 20, 9).split()[0] not in mask.text(html)


def test_what_was_learned_before_a_redesign_is_forgotten_then() -> None:
    before = mask_of([seen(page, "ooo") for page in range(8)])
    said = Mask(
        before.site, (*before.paths, TransientPath("html/body/p.mine", state="strip")), templates=before.templates
    )
    # Nothing is known yet of the new design.
    assert hidden(mask_of([seen(page, "oon") for page in range(8)], previous=said)) == ["p.mine"]
    assert hidden(mask_of([seen(page, "oonn") for page in range(8)], previous=said)) == ["b.count", "p.mine"]


def test_places_that_are_met_no_more_are_forgotten() -> None:
    before = mask_of([seen(page, "ooo") for page in range(8)])
    (kind,) = before.templates
    new = [seen(page, "nnn") for page in range(8)]
    assert sorted(hidden(mask_of(new, previous=before, looked_at={kind: AGED - 1}))) == ["b.count", "p.online"]
    assert hidden(mask_of(new, previous=before, looked_at={kind: AGED})) == ["b.count"]
    old = [seen(page, "o") for page in range(8)]
    assert hidden(mask_of(old, previous=before, looked_at={kind: AGED})) == ["p.online"], "it is still there"


@pytest.mark.parametrize("again", ["oo", "ooo"])
def test_what_is_known_of_kinds_of_pages_that_are_seen_once_now_stays(again: str) -> None:
    """Another store, which knows two versions of some kinds of pages only, says nothing of the others."""
    before = mask_of([seen(page, "ooo", kind) for kind in ("item", "news") for page in range(8)])
    now = [*(seen(page, again) for page in range(3)), *(seen(page, "o", "news") for page in range(8))]
    for mask in (mask_of(now, previous=before), mask_of(now[3:], previous=before)):
        assert {(path.key, path.slot, path.templates) for path in mask.paths} == {
            (path.key, path.slot, path.templates) for path in before.paths
        }
        assert mask.templates == before.templates


def test_wording_that_is_new_counts_for_all_kinds() -> None:
    before = mask_of([seen(page, "ooo", kind) for kind in ("item", "news") for page in range(8)])

    def reworded(page: int, designs: str, kind: str) -> PageVersions:
        found = seen(page, designs, kind)
        versions = [
            version_of(old_page(page, k, kind).replace("users online", "guests here")) for k in range(len(designs))
        ]
        return PageVersions(found.name, versions, (), (), found.fetches)

    now = [*(reworded(page, "ooo", "item") for page in range(8)), *(reworded(page, "o", "news") for page in range(8))]
    mask = mask_of(now, previous=before)
    for kind in ("item", "news"):
        html = old_page(20, 1, kind).replace("users online", "guests here")
        assert online(kind, 20, 1).split()[0] not in mask.text(html, url=f"http://shop.example/{kind}/20/")


# -- rules and masks from a store


def two_designs() -> dict[str, list[tuple[float, str]]]:
    return {
        f"http://{SITE}/item/{n}/": [
            *[(k * 60.0, old_page(n, k)) for k in range(3)],
            *[(30 * DAY + k * 60.0, new_page(n, k)) for k in range(3)],
        ]
        for n in range(8)
    }


def test_pages_of_the_past_design_are_compared_under_what_passed_then() -> None:
    kept = [(url, at, version_of(html)) for url, found in two_designs().items() for at, html in found]
    masks = SitePages(SITE, kept).masks(None, None)
    assert hidden(masks.mask) == ["b.count"]
    assert hidden(masks.comparing) == ["b.count", "p.online"]
    assert masks.mask is not None
    assert masks.comparing is not None
    assert masks.mask.version != masks.comparing.version
    url = f"http://{SITE}/item/1/"
    prints = [masks.comparing.masked(version_of(html), url=url) for _, html in two_designs()[url]]
    assert len(set(prints[:3])) == len(set(prints[3:])) == 1
    assert prints[0] != prints[3]


def test_what_passed_then_hides_nothing_of_a_page_that_was_seen_once_since() -> None:
    """Only pages that were seen once have the place now: what stands there tells them apart."""

    def advertised(page: int, k: int) -> str:
        return old_page(page, k).replace("<p class=online>", "<p class=extra>").replace("users online", "offers")

    def now(page: int, offers: str) -> str:
        return new_page(page, 0).replace("<body class=new>", f"<body class=new><p class=extra>{offers}</p>")

    kept = []
    for n in range(8):
        url = f"http://{SITE}/item/{n}/"
        kept += [(url, k * DAY, version_of(advertised(n, k))) for k in range(3)]
        kept += [(url, (30 + k) * DAY, version_of(new_page(n, k))) for k in range(3)]
    once = {f"http://{SITE}/item/{amount}/": now(8, f"{amount} offers") for amount in (100, 200)}
    kept += [(url, 33 * DAY, version_of(html)) for url, html in once.items()]
    masks = SitePages(SITE, kept).masks(None, None)
    mask = masks.comparing
    assert mask is not None
    one, other = (mask.masked(version_of(html), url=url) for url, html in once.items())
    assert one != other


def test_a_redesign_between_two_crawls(store: Store) -> None:
    def pages(design: str, k: int) -> dict[str, str]:
        made = old_page if design == "o" else new_page
        return {f"http://{SITE}/item/{n}/": made(n, k) for n in range(12)}

    crawl(store, pages("o", 0), pages("o", 1), pages("o", 2))
    first = learned(store).masks
    assert left_out(first[SITE]) == ["p.online"]
    crawl(store, *[{}] * 30, pages("n", 3))
    second = learned(store, masks=first).masks
    assert left_out(second[SITE]) == []
    crawl(store, *[{}] * 31, pages("n", 4), pages("n", 5))
    third = learned(store, masks=second).masks
    assert left_out(third[SITE]) == ["b.count"]
    assert len({first[SITE].version, second[SITE].version, third[SITE].version}) == 3
    assert third[SITE].templates == {template_of(f"http://{SITE}/item/1/")}
