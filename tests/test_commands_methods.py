"""``scrapy learn-rules --method NAME`` as its user meets it: real processes, a real store, the documents' examples."""

from typing import Any

import pytest

from scrapy_dedup import RuleBook
from scrapy_dedup.rules import Ignore, IgnoreValue, Rule, Status

from .conftest import Project, Serve
from .server import Asked, page, prose
from .test_commands_learn_rules import complaints, write_rows
from .test_learning_methods import WEEK, archive, articles


def shop(asked: Asked) -> str | int:
    """A shop of 30 pages whose links each carry a new session id."""
    number = int(asked.query.get("id", "0"))
    links = [f"/?id={(number * 3 + step) % 30}&sid={number * 50 + step}" for step in range(1, 5)]
    return page(prose(number), *links) if asked.path == "/" else 404


def rows_of(observations: list[Any]) -> list[dict[str, object]]:
    return [{"url": row.url, "fingerprint": row.fingerprint, "words": row.words} for row in observations]


def rules_in(project: Project) -> list[Rule]:
    return list(RuleBook.load(project.folder / "dedup-rules"))


def methods_of(rules: list[Rule]) -> set[str]:
    return {rule.evidence.method for rule in rules if rule.evidence is not None}


def test_the_example_of_the_rewrite_rules_through_the_command(project: Project) -> None:
    write_rows(project.folder / "seen.jsonl", rows_of(articles()))
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", "--method", "equivalence")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    assert "decided by the method equivalence alone: 1 candidate, 1 passed its test, 1 acts" in done.stdout
    (rule,) = rules_in(project)
    assert (rule.ops, rule.status) == ({"q.tid": Ignore()}, Status.ACTIVE)
    assert methods_of([rule]) == {"equivalence"}
    assert project.scrapy("dedup", "check").returncode == 0
    shown = project.scrapy("dedup", "explain", f"{WEEK}?articleID=77&tid=1")
    assert f"{WEEK}?articleID=77\n" in shown.stdout
    assert "decided by the method equivalence alone" in shown.stdout


def test_options_have_effect_and_another_method_decides_anew(project: Project) -> None:
    write_rows(project.folder / "seen.jsonl", rows_of(articles()))
    command = ("learn-rules", "--from", "seen.jsonl", "--method", "equivalence")
    done = project.scrapy(*command, "--method-option", "min_urls=24", "--method-option", "fold_case=true")
    assert done.returncode == 0, done.stderr
    assert ", 0 act\n" in done.stdout
    assert "There are no rules to write." in done.stdout
    assert project.scrapy(*command).returncode == 0
    (before,) = rules_in(project)
    other = ("learn-rules", "--from", "seen.jsonl", "--method", "pattern-tree")
    shown = project.scrapy(*other, "--diff", "--dry-run").stdout.splitlines()
    at = next(number for number, line in enumerate(shown) if line.startswith(f"  - {before.id} (active, "))
    assert shown[at + 1] == "    is dropped: the method that decides now does not make it"
    done = project.scrapy(*other)
    assert "is dropped: the method that decides now does not make it" in done.stdout
    (rule,) = rules_in(project)
    assert rule.ops == {"q.tid": IgnoreValue()}
    assert methods_of([rule]) == {"pattern-tree"}


def test_figure_4_through_the_command_and_the_settings(project: Project) -> None:
    write_rows(project.folder / "seen.jsonl", rows_of(archive()))
    settings = ("-s", "DEDUP_METHOD=pattern-tree", "-s", 'DEDUP_METHOD_OPTIONS={"selection": "naive"}')
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", *settings)
    assert done.returncode == 0, done.stderr
    assert "decided by the method pattern-tree alone" in done.stdout
    keys = project.scrapy(
        "dedup",
        "explain",
        "--keys-only",
        "http://www.example.com/archive0/display?pageid=10",
        "http://www.example.com/archive1/10/display?sid=99",
    )
    one, other = keys.stdout.splitlines()
    assert one == other


def test_the_list_of_methods_names_every_option(project: Project) -> None:
    done = project.scrapy("learn-rules", "--method", "list")
    assert (done.returncode, complaints(done.stderr)) == (0, [])
    for text in (
        "judge: ",
        "entropy: ",
        "fingerprint_given_value=0.5",
        "min_urls=10",
        "fpr_max=0.05",
        "min_overlap=0.5",
    ):
        assert text in done.stdout
    assert not (project.folder / "dedup-rules").exists()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--method", "odd"), "there is no method 'odd'; there are judge, entropy, equivalence, pattern-tree"),
        (("--method", "entropy", "--method-option", "scope=x"), "scope is 'x': it must be one of host/path, host, "),
        (("--method", "entropy", "--method-option", "scope"), "--method-option scope: write KEY=VALUE"),
        (("--method-option", "min_urls=3"), "the method judge has no options; entropy, equivalence, pattern-tree have"),
        (("-s", "DEDUP_METHOD=odd"), "DEDUP_METHOD is 'odd': there is no method 'odd'"),
        (("-s", "DEDUP_METHOD=entropy", "-s", 'DEDUP_METHOD_OPTIONS={"x": 1}'), "the method entropy has no option 'x'"),
        (("-s", 'DEDUP_METHOD_OPTIONS={"x": 1}'), "the judge has no options"),
        (("-s", "DEDUP_METHOD_OPTIONS=3"), "DEDUP_METHOD_OPTIONS is '3'"),
    ],
)
def test_a_mistake_is_one_line(project: Project, arguments: tuple[str, ...], message: str) -> None:
    done = project.scrapy("learn-rules", "--from", "seen.jsonl", *arguments)
    assert done.returncode == 2
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.slow
def test_crawl_learn_by_a_method_crawl(project: Project, serve: Serve) -> None:
    """A real store: a crawl records, a published method decides, and the next crawl saves; then crawls learn by it."""
    server = serve(shop)
    crawl = ("crawl", "shop", "-a", f"start={server.url('/?id=0')}")
    assert project.scrapy(*crawl, "-s", "DEDUP_LEARN=off").returncode == 0
    first = server.downloads
    done = project.scrapy("learn-rules", "--method", "entropy")
    assert done.returncode == 0, done.stderr
    site = f"127.0.0.1:{server.port}"
    assert "decided by the method entropy alone" in done.stdout
    assert "q.sid ignore" in done.stdout
    server.reset()
    assert project.scrapy(*crawl, "-s", "DEDUP_LEARN=off").returncode == 0
    assert server.downloads < first
    assert {asked.query["id"] for asked in server.asked} == {str(number) for number in range(30)}
    done = project.scrapy(*crawl, "-s", "DEDUP_LEARN=close", "-s", "DEDUP_METHOD=equivalence")
    assert done.returncode == 0, done.stderr
    rules = rules_in(project)
    assert {rule.site for rule in rules} == {site}
    assert methods_of(rules) == {"equivalence"}
