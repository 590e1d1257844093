"""``scrapy learn-rules --probe N``: what no two links tell is asked of the site, with no more requests than it may take."""

import pytest

from .conftest import Project, Serve
from .crawling import rules_of, spot_checks
from .server import Asked, Server, page, prose

PAGES = 30


def unique(asked: Asked) -> str | int:
    """Pages with a parameter of no meaning (w) and one that matters (v), of which each link has a value of its own."""
    if asked.path == "/":
        links = [f"/{kind}/show?id={i}&{key}=a{i}" for kind, key in (("irr", "w"), ("rel", "v")) for i in range(PAGES)]
        return page("start", *links, *(f"/cart/show?do=delete&id={i}&n=a{i}" for i in range(PAGES)))
    if asked.path in ("/irr/show", "/rel/show", "/cart/show"):
        return page(prose(f"{asked.path}{asked.query.get('id')}{asked.query.get('v', '')}"))
    return 404


@pytest.fixture
def crawled(project: Project, serve: Serve) -> Server:
    server = serve(unique)
    project.told("crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_LEARN=off")
    assert server.downloads == 1 + 3 * PAGES
    server.reset()
    return server


def acting(project: Project, server: Server) -> list[str]:
    rules = rules_of(server.site, project.folder / "dedup-rules")
    return [key for rule in rules if rule["status"] == "active" for key in rule["ops"]]


def probed(project: Project, server: Server) -> tuple[int, int]:
    counted = spot_checks(server.site, project.folder / ".scrapy/dedup/store.sqlite")
    return counted["probes"], counted["contradicted"]


@pytest.mark.parametrize("dry", [False, True])
def test_what_probes_show_is_learned(project: Project, crawled: Server, dry: bool) -> None:
    """No two links lead to one page, so that nothing can be learned without asking; after a dry run what was asked is known."""
    if not dry:
        assert "no rules" in project.scrapy("learn-rules").stdout
    told = project.told("learn-rules", "--probe", "60", *(["--dry-run"] if dry else []))
    assert "q.w is irrelevant (by 10 pages)" in told
    assert "q.v is relevant (by 1 page)" in told
    assert 30 < crawled.downloads <= 60
    assert not [target for target in crawled.hits if "delete" in target]
    assert acting(project, crawled) == ([] if dry else ["q.w"])
    assert told.endswith("No file was written (--dry-run).\n") is dry
    crawled.reset()
    project.told("learn-rules")
    assert crawled.downloads == 0
    assert acting(project, crawled) == ["q.w"], "learned without a further request, and kept"
    assert probed(project, crawled) == (10, 0)
    told = project.scrapy("dedup", "explain", crawled.url("/irr/show?id=1&w=b")).stdout
    assert "10 probed pages, 0 against it" in told


def test_the_projects_settings_hold_and_no_more_is_asked_than_is_allowed(project: Project, crawled: Server) -> None:
    project.write(
        "shop/spiders/other.py",
        "import scrapy\n\n\nclass Other(scrapy.Spider):\n    name = 'other'\n"
        "    custom_settings = {'USER_AGENT': 'mine', 'CLOSESPIDER_PAGECOUNT': 1, 'HTTPCACHE_ENABLED': True}\n",
    )
    project.told("learn-rules", "--probe", "7", "--spider", "other")
    assert 3 <= crawled.downloads <= 7
    assert {asked.headers["user-agent"] for asked in crawled.asked} == {"mine"}


def test_nothing_in_doubt(project: Project, serve: Serve) -> None:
    server = serve({"/": page(prose("start"))})
    project.told("crawl", "shop", "-a", f"start={server.url('/')}")
    server.reset()
    assert "There was nothing to probe." in project.scrapy("learn-rules", "--probe", "9").stdout
    assert server.downloads == 0
