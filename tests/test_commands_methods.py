"""``scrapy learn-rules --method NAME``: a published method decides alone, by its document's own examples and on a real crawl."""

import json

from scrapy_dedup import Observation

from .conftest import Project, Serve
from .crawling import rules_of
from .server import Asked, page, prose
from .test_commands_learn_rules import FROM, learned, write_rows

WEEK = "http://www.informationweek.com/showArticle.jhtml"
#: Arguments, and what is said of them.
MISTAKES = [
    (("--method", "odd"), "there is no method 'odd'; there are judge, entropy, equivalence, pattern-tree"),
    (("--method", "entropy", "--method-option", "scope=x"), "scope is 'x': it must be one of host/path, host, "),
    (("--method", "entropy", "--method-option", "scope"), "--method-option scope: write KEY=VALUE"),
    (("--method-option", "min_urls=3"), "the method judge has no options; entropy, equivalence, pattern-tree have"),
    (("-s", "DEDUP_METHOD=odd"), "DEDUP_METHOD is 'odd': there is no method 'odd'"),
    (("-s", "DEDUP_METHOD=entropy", "-s", 'DEDUP_METHOD_OPTIONS={"x": 1}'), "the method entropy has no option 'x'"),
    (("-s", 'DEDUP_METHOD_OPTIONS={"x": 1}'), "the judge has no options"),
    (("-s", "DEDUP_METHOD_OPTIONS=3"), "DEDUP_METHOD_OPTIONS is '3'"),
]


def shop(asked: Asked) -> str | int:
    """A shop of 30 pages whose links each carry a new session id."""
    number = int(asked.query.get("id", "0"))
    links = [f"/?id={(number * 3 + step) % 30}&sid={number * 50 + step}" for step in range(1, 5)]
    return page(prose(number), *links) if asked.path == "/" else 404


def test_the_example_of_the_rewrite_rules(project: Project) -> None:
    """Articles under topics; options have effect, and another method decides anew."""
    rows = [
        Observation(f"{WEEK}?articleID={60401364 + n}&tid={tid}", f"page {n}", words=200)
        for n in range(12)
        for tid in (5999, 6001)
    ]
    write_rows(project.folder / "seen.jsonl", rows)
    rules = project.folder / "dedup-rules"
    method = (*FROM, "--method", "equivalence")
    told = learned(project, *method, "--method-option", "min_urls=24", "--method-option", "fold_case=true")
    assert ", 0 act\n" in told
    assert "There are no rules to write." in told
    said = "decided by the method equivalence alone"
    assert f"{said}: 1 candidate, 1 passed its test, 1 acts" in learned(project, *method)
    (rule,) = rules_of("informationweek.com", rules)
    assert (rule["ops"], rule["status"], rule["evidence"]["method"]) == ({"q.tid": "ignore"}, "active", "equivalence")
    shown = project.scrapy("dedup", "explain", f"{WEEK}?articleID=77&tid=1").stdout
    assert f"{WEEK}?articleID=77\n" in shown
    assert said in shown
    other = (*FROM, "--method", "pattern-tree")
    lines = project.told(*other, "--diff", "--dry-run").splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"  - {rule['id']} (active, "))
    assert lines[at + 1] == "    is dropped: the method that decides now does not make it"
    assert "is dropped: the method that decides now does not make it" in project.told(*other)
    (rule,) = rules_of("informationweek.com", rules)
    assert (rule["ops"], rule["evidence"]["method"]) == ({"q.tid": "ignore-value"}, "pattern-tree")


def test_figure_4_of_the_pattern_tree_by_the_settings(project: Project) -> None:
    """Two formations of one page."""
    forms = ("archive{a}/display?pageid={id}", "archive{b}/{id}/display?sid={sid}")
    rows = [
        Observation("http://www.example.com/" + form.format(a=n % 4, b=(n * 3 + 1) % 4, id=10 + n, sid=n * 7), f"page {n}", words=200)
        for n in range(40)
        for form in forms
    ]  # fmt: skip
    write_rows(project.folder / "seen.jsonl", rows)
    settings = ("-s", "DEDUP_METHOD=pattern-tree", "-s", 'DEDUP_METHOD_OPTIONS={"selection": "naive"}')
    assert "decided by the method pattern-tree alone" in learned(project, *FROM, *settings)
    urls = [f"http://www.example.com/{form.format(a=0, b=1, id=10, sid=99)}" for form in forms]
    one, other = project.scrapy("dedup", "explain", "--keys-only", *urls).stdout.splitlines()
    assert one == other


def test_the_list_of_methods_and_mistakes(project: Project) -> None:
    told = learned(project, "learn-rules", "--method", "list")
    for part in (
        "judge: ",
        "entropy: ",
        "fingerprint_given_value=0.5",
        "min_urls=10",
        "fpr_max=0.05",
        "min_overlap=0.5",
    ):
        assert part in told
    project.refuses(FROM, *((arguments, 2, message) for arguments, message in MISTAKES))
    assert not (project.folder / "dedup-rules").exists()


def test_crawl_learn_by_a_method_crawl(project: Project, serve: Serve) -> None:
    """A crawl records, a published method decides, and the next crawl saves, loses nothing, and learns by another one."""
    server = serve(shop)
    crawl = ("crawl", "shop", "-a", f"start={server.url('/?id=0')}", "-s")
    project.told(*crawl, "DEDUP_LEARN=off")
    first = server.downloads
    (site, rule) = map(json.loads, learned(project, "learn-rules", "--method", "entropy", "--json").splitlines())
    assert (site["site"], list(rule["ops"]), rule["evidence"]["method"]) == (server.site, ["q.sid"], "entropy")
    server.reset()
    project.told(*crawl, "DEDUP_LEARN=close", "-s", "DEDUP_METHOD=equivalence")
    assert server.downloads < first
    assert {asked.query["id"] for asked in server.asked} == {str(number) for number in range(30)}
    found = rules_of(server.site, project.folder / "dedup-rules")
    assert {rule["evidence"]["method"] for rule in found} == {"equivalence"}
