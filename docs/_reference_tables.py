"""The directives ``dedup-settings`` and ``dedup-stats``: references made from the tables in the code."""

import re
from typing import Any

from _stats import STATS
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from scrapy_dedup.crawl.settings.dedup_settings import SETTINGS


def _text_of(value: Any) -> str:
    return f"{value:_}" if type(value) is int else repr(value)


def _short(value: Any) -> str:
    """Return the text of a default; of a class, its name without the path."""
    text = _text_of(value)
    return f"{text.rpartition('.')[2][:-1]}" if re.fullmatch(r"'(\w+\.)+\w+'", text) else text


def _first_sentence(text: str) -> str:
    return re.split(r"(?<=\.) (?=[A-Z0-9\"])", text, maxsplit=1)[0]


class DedupSettings(SphinxDirective):
    """A table of all settings by name, each with the first sentence of its text, then a section for each."""

    def run(self) -> list[nodes.Node]:
        settings = sorted(SETTINGS, key=lambda each: each.name)
        lines = [
            ".. list-table::",
            "   :header-rows: 1",
            "   :widths: 35 45 20",
            "",
            "   * - setting",
            "     - what it is for",
            "     - default",
        ]
        for each in settings:
            lines += [
                f"   * - :setting:`{each.name}`",
                f"     - {_first_sentence(each.help)}",
                f"     - ``{_short(each.default)}``",
            ]
        for each in settings:
            lines += ["", f".. setting:: {each.name}", "", each.name, "-" * len(each.name), ""]
            lines += [each.help, "", f"Type: {each.type}. Default: ``{_text_of(each.default)}``."]
        return self.parse_text_to_nodes("\n".join(lines), allow_section_headings=True)


class DedupStats(SphinxDirective):
    """The table of all stats."""

    def run(self) -> list[nodes.Node]:
        lines = [
            ".. list-table::",
            "   :header-rows: 1",
            "   :widths: 35 65",
            "",
            "   * - stat",
            "     - what it tells",
        ]
        for name, what in sorted(STATS):
            lines += [f"   * - ``{name}``", f"     - {what}"]
        return self.parse_text_to_nodes("\n".join(lines))


def setup(app: Sphinx) -> dict[str, bool]:
    app.add_directive("dedup-settings", DedupSettings)
    app.add_directive("dedup-stats", DedupStats)
    for role in ("setting", "reqmeta"):
        app.add_crossref_type(role, role, indextemplate=f"pair: %s; {role}")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
