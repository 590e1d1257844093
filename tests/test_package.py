"""The package as a whole: what it exports, how large its modules are, and that its documents are right."""

import ast
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
    large = [path for path in PACKAGE.rglob("*.py") if len(path.read_text(encoding="utf-8").splitlines()) > 500]
    assert not large


def test_public_names():
    assert sorted(scrapy_dedup.__all__) == [
        "Addon",
        "Mask",
        "Observation",
        "RuleBook",
        "learn_mask",
        "learn_rules",
        "load_mask",
        "save_mask",
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


def _reached(tree: ast.AST) -> set[str]:
    """Modules that a test imports, and names in the package that it replaces."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            found.add("." * node.level + (node.module or ""))
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "setattr":
            found |= {str(argument.value) for argument in node.args[:1] if isinstance(argument, ast.Constant)}
    return found


def test_tests_of_crawls_rules_stores_and_commands_know_the_public_surface_only():
    """They hold while the rooms behind it are rebuilt."""
    reaching = set()
    for path in (ROOT / "tests").glob("test_*.py"):
        if path.name.startswith(("test_crawl_", "test_rules_", "test_store_", "test_commands_", "test_dedup_")):
            public = {"scrapy_dedup", *(["scrapy_dedup.store"] if path.name.startswith("test_store_") else [])}
            reached = _reached(ast.parse(path.read_text(encoding="utf-8")))
            if any(each.startswith("scrapy_dedup") for each in reached - public):
                reaching.add(path.name)
    assert not reaching
