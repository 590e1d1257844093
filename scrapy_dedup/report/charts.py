"""Charts as inline SVG, drawn by pygal: without its scripts, its style sheet and its comments, which the page does not need."""

import sys
from collections.abc import Mapping, Sequence
from typing import Final

import pygal
from lxml import etree
from markupsafe import Markup

# For its maps, which are not used here, it has put a finder of an old kind there: of each import that fails Python would warn.
sys.meta_path[:] = [finder for finder in sys.meta_path if type(finder).__module__ != "pygal"]

_NOT_NEEDED: Final = ("script", "style")
#: Width of a chart in its own units, and the height of one bar of a horizontal one.
_WIDTH, _HEIGHT, _BAR = 900, 260, 34


def bars(
    title: str, labels: Sequence[str], series: Mapping[str, Sequence[float]], *, horizontal: bool = False
) -> Markup:
    """Return a chart of stacked bars, one for each label; *series* has the values of each part by its name."""
    kind = pygal.HorizontalStackedBar if horizontal else pygal.StackedBar
    height = 130 + _BAR * len(labels) if horizontal else _HEIGHT
    chart = kind(
        width=_WIDTH,
        height=height,
        js=[],
        show_legend=True,
        legend_at_bottom=True,
        legend_at_bottom_columns=len(series),
        x_label_rotation=0 if horizontal or len(labels) < 7 else 40,
        print_values=False,
        show_y_guides=True,
        truncate_label=40,
        truncate_legend=60,
        margin=10,
        disable_xml_declaration=True,
    )
    # Where bars lie, pygal puts the first label at the bottom.
    order = range(len(labels) - 1, -1, -1) if horizontal else range(len(labels))
    chart.x_labels = [labels[at] for at in order]
    for name, values in series.items():
        chart.add(name, [values[at] for at in order])
    return _plain(chart.render(), title)


def _plain(svg: bytes, title: str) -> Markup:
    """Return a chart without scripts, styles and comments, and with a title for those who do not see it."""
    root = etree.fromstring(svg, etree.XMLParser(resolve_entities=False, no_network=True))
    for element in list(root.iter()):
        is_comment = not isinstance(element.tag, str)
        if is_comment or etree.QName(element).localname in _NOT_NEEDED or element.get("class") == "tooltip-overlay":
            parent = element.getparent()
            if parent is not None:
                parent.remove(element)
    for element in root.iter():
        if etree.QName(element).localname == "title" and element.getparent() is root:
            element.text = title
        element.attrib.pop("id", None)
    root.set("role", "img")
    root.set("aria-label", title)
    return Markup(etree.tostring(root, encoding="unicode"))  # noqa: S704 (serialised by lxml, which escapes what labels hold)
