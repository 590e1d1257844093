"""``scrapy learn-rules --probe N`` as its user meets it."""

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.learning.lifetime.running_counts import checks_in, with_checks
from scrapy_dedup.rules import Status

from .conftest import Project, Serve
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
    done = project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}", "-s", "DEDUP_LEARN=off")
    assert done.returncode == 0, done.stderr
    assert server.downloads == 1 + 3 * PAGES
    server.reset()
    return server


def test_what_probes_show_is_learned(project: Project, crawled: Server) -> None:
    """No two links lead to one page, so that nothing can be learned without asking."""
    nothing = project.scrapy("learn-rules")
    assert nothing.returncode == 0
    assert "no rules" in nothing.stdout
    done = project.scrapy("learn-rules", "--probe", "60")
    assert done.returncode == 0, done.stderr
    assert "q.w is irrelevant (by 10 pages)" in done.stdout
    assert "q.v is relevant (by 1 page)" in done.stdout
    assert 30 < crawled.downloads <= 60
    assert not [target for target in crawled.hits if "delete" in target]
    site = f"127.0.0.1:{crawled.port}"
    acting = [
        rule for rule in RuleBook.load(project.folder / "dedup-rules").for_site(site) if rule.status is Status.ACTIVE
    ]
    assert {key for rule in acting for key in rule.ops} == {"q.w"}
    counts = checks_in(str(project.folder / ".scrapy/dedup/store.sqlite"), "")
    assert [(check.rule, check.probes, check.contradicted) for check in counts] == [(acting[0].id, 10, 0)]
    assert (
        "10 probed pages, 0 against it" in project.scrapy("dedup", "explain", crawled.url("/irr/show?id=1&w=b")).stdout
    )
    again = project.scrapy("learn-rules")
    assert again.returncode == 0
    kept = with_checks(RuleBook.load(project.folder / "dedup-rules"), counts).for_site(site)
    assert [rule.evidence.probes for rule in kept if rule.evidence] == [10], "it stays when rules are learned again"


def test_a_dry_run_asks_and_shows_and_writes_no_rule(project: Project, crawled: Server) -> None:
    """What was asked is recorded, so that learning from it needs no further request."""
    done = project.scrapy("learn-rules", "--probe", "60", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "q.w is irrelevant (by 10 pages)" in done.stdout
    assert "q.w ignore" in done.stdout
    assert done.stdout.endswith("No file was written (--dry-run).\n")
    assert 30 < crawled.downloads <= 60
    assert not (project.folder / "dedup-rules").exists()
    crawled.reset()
    assert project.scrapy("learn-rules").returncode == 0
    assert crawled.downloads == 0
    (rule,) = (rule for rule in RuleBook.load(project.folder / "dedup-rules") if rule.status is Status.ACTIVE)
    counts = checks_in(str(project.folder / ".scrapy/dedup/store.sqlite"), "")
    assert (list(rule.ops), [(check.rule, check.probes) for check in counts]) == (["q.w"], [(rule.id, 10)])


def test_no_more_than_were_asked_for(project: Project, crawled: Server) -> None:
    done = project.scrapy("learn-rules", "--probe", "7")
    assert done.returncode == 0, done.stderr
    assert 3 <= crawled.downloads <= 7


def test_the_projects_settings_hold(project: Project, crawled: Server) -> None:
    project.write(
        "shop/spiders/other.py",
        "import scrapy\n\n\nclass Other(scrapy.Spider):\n    name = 'other'\n"
        "    custom_settings = {'USER_AGENT': 'mine', 'CLOSESPIDER_PAGECOUNT': 1, 'HTTPCACHE_ENABLED': True}\n",
    )
    done = project.scrapy("learn-rules", "--probe", "9", "--spider", "other")
    assert done.returncode == 0, done.stderr
    assert crawled.downloads > 3
    assert {asked.headers["user-agent"] for asked in crawled.asked} == {"mine"}


@pytest.mark.parametrize("args", [("--probe", "0"), ("--probe", "many"), ("--probe", "9", "--from", "x")])
def test_what_cannot_be_asked_for(project: Project, args: tuple[str, ...]) -> None:
    done = project.scrapy("learn-rules", *args)
    assert done.returncode == 2
    assert "--probe" in done.stderr.splitlines()[-1]
    assert "INFO" not in done.stderr, "no crawl is set up"
    assert "Traceback" not in done.stderr


def test_nothing_in_doubt(project: Project, serve: Serve) -> None:
    server = serve({"/": page(prose("start"))})
    assert project.scrapy("crawl", "shop", "-a", f"start={server.url('/')}").returncode == 0
    server.reset()
    done = project.scrapy("learn-rules", "--probe", "9")
    assert "There was nothing to probe." in done.stdout
    assert server.downloads == 0
