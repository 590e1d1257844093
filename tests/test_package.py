"""The package as a whole: what it exports, how large its modules are, and that its documents are right."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import scrapy_dedup
from scrapy_dedup.rules.reading import read_rules

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "scrapy_dedup"


def test_modules_are_small():
    large = [path for path in PACKAGE.rglob("*.py") if len(path.read_text(encoding="utf-8").splitlines()) > 300]
    assert not large


def test_public_names():
    assert sorted(scrapy_dedup.__all__) == [
        "Addon",
        "Mask",
        "Observation",
        "RuleBook",
        "learn_mask",
        "learn_rules",
        "strip_transient",
    ]
    assert {*scrapy_dedup.__all__} <= {*dir(scrapy_dedup)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = scrapy_dedup.nothing


def test_functions_do_not_import_scrapy():
    probe = (
        "import sys; from scrapy_dedup import Observation, RuleBook, learn_rules\n"
        "learn_rules([Observation('http://a.test/?b=1', 'x')]).canonical_key('http://a.test/')\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scrapy', 'twisted'}))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rule_files_of_the_documentation_are_right():
    text = (ROOT / "docs" / "reference" / "rule-files.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: toml\n\n((?:    .*\n|\n)+)", text)
    assert len(blocks) == 2
    whole, deep = (re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks)
    head, _, rules = whole.partition("[[rule]]")
    for content in (whole, f"{head}\n{deep}\n[[rule]]{rules}"):
        found, faults = read_rules(content, Path("shop.example.toml"))
        assert not faults
        assert found is not None
        assert [str(rule.status) for rule in found.rules] == ["manual", "active"]
