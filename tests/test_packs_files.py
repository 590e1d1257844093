"""Rule packs as texts: what they say is read, faults have lines, names that no pack has are told."""

from pathlib import Path

import pytest

from scrapy_dedup.files.errors import RuleFileError
from scrapy_dedup.packs.located import UnknownPackError, load_packs
from scrapy_dedup.packs.model import DOCUMENTED, ENOUGH, Pack, PackRule
from scrapy_dedup.packs.pack_files import read_pack
from scrapy_dedup.rules import Ignore, Keep, Literal

HEAD = 'format = "dedup-pack/1"\n'


def test_what_a_pack_says() -> None:
    text = f"""{HEAD}name = "forums"
note = "mine"

[[rule]]
template = "viewtopic.php"
sites = 3
against = 1
source = ["https://docs.test/"]
note = "the first page"
[rule.match]
"q.t" = "x"
[rule.ops]
"q.start" = {{ ignore = ["0"] }}

[[rule]]
[rule.ops]
"q.id" = "keep"
"""
    first = PackRule(
        {"q.start": Ignore(only={"0"})},
        "viewtopic.php",
        {"q.t": Literal("x")},
        3,
        1,
        ("https://docs.test/",),
        "the first page",
    )
    pack = Pack("forums", (first, PackRule({"q.id": Keep()})), "mine")
    assert read_pack(text, Path("some.toml")) == (pack, [])


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "format is missing"),
        ('format = "dedup-pack/2"\n', 1, "this release does not read"),
        (f"{HEAD}name = 3\n", 2, "name is 3"),
        (f"{HEAD}[[rule]]\nsites = 1\n", 2, "without ops"),
        (f'{HEAD}\n[[rule]]\nsites = 1\n[rule.ops]\n"q.a" = "ignroe"\n', 6, "is no operation"),
        (f'{HEAD}[[rule]]\nsites = -1\n[rule.ops]\n"q.a" = "ignore"\n', 3, "sites is -1"),
        (f'{HEAD}[[rule]]\nsite = 1\n[rule.ops]\n"q.a" = "ignore"\n', 3, 'has no key "site"'),
        (f'{HEAD}[[rule]]\ntemplate = "a.php?b"\n[rule.ops]\n"q.a" = "ignore"\n', 3, "is no URL template"),
        (f'{HEAD}[[rule]]\ntemplate = "/a/b/"\n[rule.ops]\n"q.a" = "ignore"\n', 3, "is no URL template"),
        (f'{HEAD}[[rule]]\n[rule.ops]\n"sid" = "ignore"\n', 4, 'no URL has the key "sid"'),
        (f"{HEAD}[[rule]\n", 2, "invalid TOML"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(text)
    with pytest.raises(RuleFileError) as caught:
        load_packs([str(path)], tmp_path)
    assert (caught.value.line, problem in caught.value.problem) == (line, True), caught.value
    assert caught.value.remedy


def test_packs_by_name(tmp_path: Path) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/more.toml").write_text(HEAD)
    more, starter = load_packs(["shared/more.toml", "starter"], tmp_path)
    assert (more, starter.name) == (Pack("more"), "starter")
    with pytest.raises(UnknownPackError, match=r"there is no file .*/theirs\. .*'starter'"):
        load_packs(["theirs"], tmp_path)


def test_the_starter_pack_names_its_sources_and_no_site(tmp_path: Path) -> None:
    (starter,) = load_packs(["starter"], tmp_path)
    for rule in starter.rules:
        assert rule.source or rule.sites + rule.against >= 2, rule
        assert all(each.startswith("https://") for each in rule.source), rule
        assert not any(key.startswith(("host.", "path.")) for key in (*rule.match, *rule.ops)), rule


def test_two_sites_or_a_document_are_believed_and_one_against_is_heard() -> None:
    def log_odds(sites: int, against: int = 0, source: tuple[str, ...] = ()) -> float:
        return PackRule({"q.a": Ignore()}, sites=sites, against=against, source=source).log_odds

    assert log_odds(0) == 0 > log_odds(1) > log_odds(2) > log_odds(DOCUMENTED) == log_odds(0, source=("x",))
    assert log_odds(99) == -ENOUGH
    assert log_odds(1, 1) == 0 < log_odds(1, 2)
    assert log_odds(0, 99) == ENOUGH
