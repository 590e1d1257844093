"""Rule packs as texts: what is read is what was written, faults have lines, names that no pack has are told."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.files.errors import RuleFileError
from scrapy_dedup.packs.located import UnknownPackError, load_packs, pack_path, place_of_new, shipped
from scrapy_dedup.packs.model import DOCUMENTED, ENOUGH, Pack, PackRule, Platform
from scrapy_dedup.packs.pack_files import load_pack, pack_text, read_pack
from scrapy_dedup.rules import Ignore, IgnoreValue, Keep, Literal, OneOf, SetOfValues
from scrapy_dedup.urls import ValueClass

NAMES = st.text("abcdefgh_-.\"'\\é ", min_size=1, max_size=8)
OPERATIONS = st.sampled_from(
    [Ignore(), Ignore(only={"0", ""}), Ignore(only=ValueClass("hex", 32, 32)), IgnoreValue(), Keep(), SetOfValues(",")]
)
RULES = st.builds(
    PackRule,
    ops=st.dictionaries(NAMES.map("q.{}".format), OPERATIONS, min_size=1, max_size=2),
    platform=st.sampled_from(["", "wiki one", "b"]),
    template=st.sampled_from(["", "viewtopic.php", "/Special:Log/"]),
    match=st.dictionaries(
        st.sampled_from(["q.a", "path.1"]), st.sampled_from([Literal("x"), OneOf(["y", "z"])]), max_size=2
    ),
    sites=st.integers(0, 99),
    against=st.integers(0, 99),
    source=st.lists(NAMES, max_size=2).map(tuple),
    note=st.one_of(st.just(""), NAMES),
)
PLATFORMS = (Platform("wiki one", "wiki", ("Wiki",), ("index.php?title=A", "/wiki/")), Platform("b"))


@given(st.lists(RULES, max_size=4))
def test_what_is_read_is_what_was_written(rules: list[PackRule]) -> None:
    pack = Pack("some", PLATFORMS, tuple(rules), "a note")
    text = pack_text(pack)
    again, faults = read_pack(text, Path("some.toml"))
    assert faults == []
    assert again == pack
    assert pack_text(again) == text


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("", 1, "format is missing"),
        ('format = "dedup-pack/2"\n', 1, "this release does not read"),
        ('format = "dedup-pack/1"\nname = 3\n', 2, "name is 3"),
        ('format = "dedup-pack/1"\n[[platform]]\nkind = "wiki"\n', 2, "has no name"),
        ('format = "dedup-pack/1"\n[[platform]]\nname = "w"\ntemplates = ["a/b"]\n', 4, "is no URL template"),
        ('format = "dedup-pack/1"\n[[rule]]\nsites = 1\n', 2, "without ops"),
        (
            'format = "dedup-pack/1"\n[[rule]]\nplatform = "x"\nsites = 1\n[rule.ops]\n"q.a" = "ignore"\n',
            3,
            "no platform",
        ),
        ('format = "dedup-pack/1"\n\n[[rule]]\nsites = 1\n[rule.ops]\n"q.a" = "ignroe"\n', 6, "is no operation"),
        ('format = "dedup-pack/1"\n[[rule]]\nsites = -1\n[rule.ops]\n"q.a" = "ignore"\n', 3, "sites is -1"),
        ('format = "dedup-pack/1"\n[[rule]]\nsite = 1\n[rule.ops]\n"q.a" = "ignore"\n', 3, 'has no key "site"'),
        (
            'format = "dedup-pack/1"\n[[rule]]\ntemplate = "a.php?b"\n[rule.ops]\n"q.a" = "ignore"\n',
            3,
            "names parameters",
        ),
        ('format = "dedup-pack/1"\n[[rule]]\n[rule.ops]\n"sid" = "ignore"\n', 4, 'no URL has the key "sid"'),
        ('format = "dedup-pack/1"\n[[rule]\n', 2, "invalid TOML"),
    ],
)
def test_a_fault_has_its_line(tmp_path: Path, text: str, line: int, problem: str) -> None:
    path = tmp_path / "faulty.toml"
    path.write_text(text)
    with pytest.raises(RuleFileError) as caught:
        load_pack(path)
    assert (caught.value.line, problem in caught.value.problem) == (line, True), caught.value
    assert caught.value.remedy


def test_faults_of_both_kinds_of_tables_in_any_order(tmp_path: Path) -> None:
    rule = '[[rule]]\nsites = "{}"\n[rule.ops]\n"q.a" = "ignore"\n'
    platform = '[[platform]]\nname = "w"\nkind = {}\n'
    text = 'format = "dedup-pack/1"\n' + rule.format("x") + platform.format(1) + rule.format("y")
    pack, faults = read_pack(text, tmp_path / "f.toml")
    assert pack is None
    assert [fault.line for fault in faults] == [3, 8, 10]


def test_packs_by_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "project"
    for path in (folder / "packs/ours.toml", folder / "shared/more.toml", tmp_path / "lib/our_packs/data/shops.toml"):
        path.parent.mkdir(parents=True)
        path.write_text(pack_text(Pack(path.stem)))
    (tmp_path / "lib/our_packs/__init__.py").touch()
    monkeypatch.syspath_prepend(tmp_path / "lib")
    assert shipped() == ("starter",)
    assert pack_path("ours", folder) == folder / "packs/ours.toml" == place_of_new("ours", folder)
    assert (
        pack_path("shared/more.toml", folder) == folder / "shared/more.toml" == place_of_new("shared/more.toml", folder)
    )
    assert pack_path("our_packs:data/shops.toml", folder).read_text().count("shops")
    with pytest.raises(UnknownPackError, match=r"no pack 'theirs'.*'starter', 'ours'"):
        pack_path("theirs", folder)
    with pytest.raises(UnknownPackError, match="there is no file"):
        pack_path("shared/none.toml", folder)
    with pytest.raises(UnknownPackError, match="there is no package 'nowhere_at_all'"):
        pack_path("nowhere_at_all:x.toml", folder)
    ours, starter = load_packs({"ours": "trust", "starter": "prior"}, folder)
    assert (ours.trusted, starter.trusted) == (True, False)


def test_the_starter_pack_names_its_sources_and_no_site() -> None:
    (starter,) = load_packs({"starter": "prior"}, Path.cwd())
    assert len(starter.platforms) >= 12
    for rule in starter.rules:
        assert rule.source or rule.sites + rule.against >= 2, rule
        assert all(each.startswith("https://") for each in rule.source), rule
        assert not any(key.startswith(("host.", "path.")) for key in (*rule.match, *rule.ops)), rule
    for platform in starter.platforms:
        assert platform.source, platform
        assert platform.generators or platform.templates, platform


def test_two_sites_or_a_document_are_believed_and_one_against_is_heard() -> None:
    def log_odds(sites: int, against: int = 0, source: tuple[str, ...] = ()) -> float:
        return PackRule({"q.a": Ignore()}, sites=sites, against=against, source=source).log_odds

    assert log_odds(0) == 0 > log_odds(1) > log_odds(2) > log_odds(DOCUMENTED) == log_odds(0, source=("x",))
    assert log_odds(99) == -ENOUGH
    assert log_odds(1, 1) == 0 < log_odds(1, 2)
    assert log_odds(0, 99) == ENOUGH
