"""Rules as a Python module, for tools that take a function from a URL to a text.

Such are the ``url_normalizer`` of datatrove's URL de-duplication, or a key function for a data frame.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ..book import RuleBook
from ..model import Rule, SiteRules
from ..reading import read_rules
from ..writing import written_rules

if TYPE_CHECKING:
    from ...urls import DeepSplit

__all__ = ["book_of_texts", "write_python"]

_MODULE = '''"""Canonical keys of URLs, written by scrapy dedup export --format python.

canonical_key(url) is equal for URLs that the rules call one page. It needs the package scrapy-dedup.
"""

from scrapy_dedup.rules.exchange import book_of_texts

RULES = [
{texts}]
GROUPS = {groups!r}

canonical_key = book_of_texts(RULES, GROUPS).canonical_key
'''


def write_python(rules: Sequence[SiteRules], groups: Mapping[str, Sequence[str]]) -> str:
    """Return the module that holds the rules of some sites; it can express all of them."""
    lines: list[str] = []
    for found in rules:
        text = written_rules(found, "")
        lines += ["    (", *(f"        {line!r}" for line in text.splitlines(keepends=True)), "    ),"]
    return _MODULE.format(
        texts="".join(f"{line}\n" for line in lines), groups={name: list(domains) for name, domains in groups.items()}
    )


def book_of_texts(texts: Sequence[str], groups: Mapping[str, Sequence[str]] | None = None) -> RuleBook:
    """Return the rules that the texts of rule files hold.

    Raises RuleFileError.
    """
    rules: list[Rule] = []
    deep: dict[str, Mapping[str, DeepSplit]] = {}
    for number, text in enumerate(texts, 1):
        found, errors = read_rules(text, Path(f"rule file {number}"))
        if found is None:
            raise errors[0]
        rules += found.rules
        deep[found.site] = found.deep
    return RuleBook(rules, deep, groups)
