"""Sphinx configuration; ``make docs`` builds with warnings as errors."""

import sys
from pathlib import Path

from scrapy_dedup import __version__

sys.path.insert(0, str(Path(__file__).parent))

project = "scrapy-dedup"
author = "scrapy-dedup developers"
copyright = author  # noqa: A001
release = version = __version__

extensions = [
    "_reference_tables",
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
]
html_theme = "furo"
html_title = f"scrapy-dedup {version}"
exclude_patterns = ["_build"]
nitpicky = True
nitpick_ignore_regex = [("py:.*", ".*")]

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"

myst_heading_anchors = 3
