"""HTML's markup: where a tag, a comment or a script ends, and which elements a tag ends.

All of it follows the HTML standard (section 13.2, parsing) as far as it decides where text
stands. Every function looks at each character a bounded number of times.
"""

import re
from collections.abc import Mapping
from html import unescape
from html.entities import html5

SPACE = " \t\n\f\r"
"""HTML's white space; nothing else separates attributes."""

#: The attribute of an element that is content, not style: where a link leads, what is shown or sent.
CONTENT_ATTRIBUTES = {
    "a": "href",
    "area": "href",
    "img": "src",
    "iframe": "src",
    "embed": "src",
    "audio": "src",
    "video": "src",
    "source": "src",
    "input": "value",
}

#: Characters of a name that are kept: names of elements, ids, classes.
MAX_NAME = 64

VOID = frozenset(
    "area base basefont bgsound br col embed frame hr img input keygen link meta param source track wbr".split()
)
#: Elements whose contents are not markup. The text of the last four is visible.
RAW = frozenset("script style template noscript iframe noembed noframes title textarea xmp plaintext".split())
VISIBLE_RAW = frozenset(("title", "textarea", "xmp", "plaintext"))

_FOREIGN = frozenset(("svg", "math"))
_FOREIGN_TEXT = frozenset("foreignobject desc title annotation-xml mi mo mn ms mtext".split())
_BREAKOUT = frozenset(
    "b big blockquote body br center code dd div dl dt em embed h1 h2 h3 h4 h5 h6 head hr i img li listing menu meta "
    "nobr ol p pre ruby s small span strong strike sub sup table tt u ul var".split()
)
HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6"))
_SCOPE = frozenset("applet caption html table td th marquee object template foreignobject desc annotation-xml".split())
_BUTTON = _SCOPE | {"button"}
_TABLE = frozenset(("html", "table", "template"))
_CELLS = frozenset(("td", "th", "caption", "colgroup"))
_ROWS = _CELLS | {"tr"}
_SECTIONS = _ROWS | {"tbody", "thead", "tfoot"}
_SPECIAL = _SCOPE | frozenset(
    "address article aside blockquote body button center dd details dir div dl dt fieldset figcaption figure footer "
    "form frameset h1 h2 h3 h4 h5 h6 head header hgroup li listing main menu nav ol p pre search section select "
    "summary tbody tfoot thead tr ul".split()
)
_ITEM = (_SPECIAL | {"optgroup", "datalist", "ruby"}) - {"address", "div", "p"}
_ENDS_P = frozenset(
    "address article aside blockquote center dd details dialog dir div dl dt fieldset figcaption figure footer form "
    "h1 h2 h3 h4 h5 h6 header hgroup hr li listing main menu nav ol p plaintext pre search section summary table ul "
    "xmp".split()
)
_IN_HEAD = frozenset("base basefont bgsound link meta title noscript noframes style script template head html".split())
_ONCE = frozenset(("html", "head", "body"))

# Start tag -> the open elements that it ends, and the elements beyond which it ends none.
_ENDS: dict[str, tuple[frozenset[str], frozenset[str]]] = {
    "li": (frozenset(("li",)), _ITEM),
    "dd": (frozenset(("dd", "dt")), _ITEM),
    "dt": (frozenset(("dd", "dt")), _ITEM),
    "option": (frozenset(("option",)), _ITEM),
    "optgroup": (frozenset(("option", "optgroup")), frozenset(("select", "template"))),
    "rt": (frozenset(("rt", "rp")), _ITEM),
    "rp": (frozenset(("rt", "rp")), _ITEM),
    "td": (_CELLS, _TABLE),
    "th": (_CELLS, _TABLE),
    "tr": (_ROWS, _TABLE),
    "tbody": (_SECTIONS, _TABLE),
    "thead": (_SECTIONS, _TABLE),
    "tfoot": (_SECTIONS, _TABLE),
    "caption": (frozenset(("caption", "colgroup")), _TABLE),
    "colgroup": (frozenset(("caption", "colgroup")), _TABLE),
    "button": (frozenset(("button",)), _SCOPE),
    # The standard moves an open link's blocks out of it; it stays open here when it holds one.
    "a": (frozenset(("a",)), _SPECIAL),
}
# End tag -> the elements beyond which it finds nothing to end, where not _SCOPE.
_WALLS = {
    "p": _BUTTON,
    "li": _SCOPE | {"ol", "ul"},
    "table": frozenset(("template",)),
    "html": frozenset[str](),
    "body": frozenset[str](),
    **dict.fromkeys(_SECTIONS, frozenset(("table", "template"))),
}

#: An attribute after the name of a tag: its name; its value in double quotes and the end quote, in
#: single quotes and the end quote, or without. Without a name: the white space and slashes before
#: the end of the tag (group "end", empty where the source ends).
ATTRIBUTE = re.compile(
    r"""[ \t\n\f\r/]*(?:
        (?P<name>[^ \t\n\f\r/>][^ \t\n\f\r/>=]*)
        (?:[ \t\n\f\r]*=[ \t\n\f\r]*
            (?:"(?P<double>[^"]*)(?P<double_end>"?)
            |  '(?P<single>[^']*)(?P<single_end>'?)
            |  (?P<plain>[^ \t\n\f\r>"'][^ \t\n\f\r>]*)
            )?
        )?
        |(?P<end>>|\Z)
    )""",
    re.VERBOSE,
)
TAG_NAME = re.compile(r"(/?)([a-zA-Z][^ \t\n\f\r/>]*)")
_COMMENT_END = re.compile(r"--!?>")
_SCRIPT = re.compile(r"(<!--)|(-->)|<(/?)[sS][cC][rR][iI][pP][tT](?=[ \t\n\f\r/>])")
_TEMPLATE = re.compile(r"<(/?)[tT][eE][mM][pP][lL][aA][tT][eE](?=[ \t\n\f\r/>])")
_AFTER_NAME = frozenset(SPACE + "/>")
_REFERENCE = re.compile(r"&(?:#[0-9]+|#[xX][0-9a-fA-F]+|[a-zA-Z][a-zA-Z0-9]{1,31});?=?")
_ZEROS = re.compile(r"(&#)0+(?=[0-9])")
_TOO_LARGE = re.compile(r"&#[0-9]{8,};?")
_ASCII_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)} | {0: 0xFFFD}


def lower(name: str) -> str:
    """Return a name as HTML compares it: ASCII letters in lower case; no more than its first 64 characters."""
    name = name[:MAX_NAME]
    return name.lower() if name.isascii() and "\0" not in name else name.translate(_ASCII_LOWER)


def tag_end(source: str, start: int) -> int:
    """Return the offset after the tag whose name begins at *start*, -1 where the source ends before it."""
    name = TAG_NAME.match(source, start)
    for match in ATTRIBUTE.finditer(source, name.end() if name else start):
        if match.lastgroup == "end":
            return match.end() if match["end"] else -1
    return -1


def comment_end(source: str, start: int) -> int:
    """Return the offset after a comment, a declaration or an instruction that begins with ``<`` at *start*."""
    if source.startswith("<!--", start):
        for short in ("<!-->", "<!--->"):
            if source.startswith(short, start):
                return start + len(short)
        match = _COMMENT_END.search(source, start + 4)
        return match.end() if match else len(source)
    return (source.find(">", start) + 1) or len(source)


def raw_end(source: str, start: int, name: str) -> int:
    """Return the offset of the end tag of the element *name* whose contents begin at *start*.

    It is the length of *source* where the element is never closed.
    """
    if name == "plaintext":
        return len(source)
    if name == "template":
        return _template_end(source, start)
    end = _first_end_tag(source, start, name)
    if name == "script" and source.find("<!--", start, end) >= 0:
        return _script_end(source, start)
    return end


def _first_end_tag(source: str, start: int, name: str) -> int:
    at = source.find("</", start)
    while at >= 0:
        after = at + 2 + len(name)
        if source[at + 2 : after].lower() == name and source[after : after + 1] in _AFTER_NAME:
            return at
        at = source.find("</", at + 2)
    return len(source)


def _template_end(source: str, start: int) -> int:
    depth = 1
    for match in _TEMPLATE.finditer(source, start):
        depth += -1 if match[1] else 1
        if not depth:
            return match.start()
    return len(source)


def _script_end(source: str, start: int) -> int:
    """Follow the standard's escaped states: ``<!-- <script> </script>`` does not end a script, but ``-->`` undoes it."""
    escaped = inner = False
    match = _SCRIPT.search(source, start)
    while match:
        at = match.end()
        if match[1]:
            escaped = True
            at -= 2  # "<!-->" is over at once
        elif match[2]:
            escaped = inner = False
        elif match[3]:
            if not inner:
                return match.start()
            inner = False
        elif escaped:
            inner = True
        match = _SCRIPT.search(source, at)
    return len(source)


def kept_on_start(name: str, current: str, depths: Mapping[str, int]) -> int | None:
    """Return how many open elements stay open when the element *name* starts.

    *depths* says at which depth (1 for the outermost) the innermost open element of each name is,
    *current* is the name of the innermost. None: the tag is ignored, as a second ``<body>``.
    """
    depth = depths.get(current, 0)
    if name in _ONCE and (name in depths or (name == "head" and "body" in depths)):
        return None
    keep = depth
    if is_foreign(depths):
        return _depth(_FOREIGN, depths) - 1 if name in _BREAKOUT else depth
    if current == "head" and name not in _IN_HEAD:
        return depth - 1
    if name in HEADINGS and current in HEADINGS:
        keep -= 1
    rule = _ENDS.get(name)
    if rule is not None:
        targets, walls = rule
        wall = _depth(walls, depths)
        keep = min([keep, *[depths[target] - 1 for target in targets & depths.keys() if depths[target] >= wall]])
    if name in _ENDS_P and "p" in depths and depths["p"] > _depth(_BUTTON, depths):
        keep = min(keep, depths["p"] - 1)
    return keep


def kept_on_end(name: str, current: str, depths: Mapping[str, int]) -> int | None:
    """Return how many open elements stay open after the end tag *name*; None if it closes nothing."""
    if name == current:
        return depths[name] - 1
    depth = _depth(HEADINGS, depths) if name in HEADINGS else depths.get(name, 0)
    if not depth or depth < _depth(_WALLS.get(name, _SCOPE), depths):
        return None
    return depth - 1


def is_foreign(depths: Mapping[str, int]) -> bool:
    """Return True inside svg or math, but not in the HTML inside them."""
    if "svg" not in depths and "math" not in depths:
        return False
    return _depth(_FOREIGN, depths) > _depth(_FOREIGN_TEXT, depths)


def _depth(names: frozenset[str], depths: Mapping[str, int]) -> int:
    # Where few elements are open, they are fewer than the names.
    if len(depths) < len(names):
        return max([depth for name, depth in depths.items() if name in names], default=0)
    return max([depths[name] for name in names & depths.keys()], default=0)


def decoded(text: str) -> str:
    """Return *text* with its character references decoded, and without NUL; never raises."""
    if "&" in text:
        if "&#" in text:
            # int() would refuse, or take its time over, thousands of digits.
            text = _TOO_LARGE.sub("\ufffd", _ZEROS.sub(r"\1", text))
        text = text.replace("&amp;", "&") if _has_only_amp(text) else unescape(text)
    return text.replace("\0", "")


def decoded_attribute(value: str) -> str:
    """Return an attribute's value with its references decoded: ``?a=1&copy=2`` holds none."""
    if "&" in value:
        value = value.replace("&amp;", "&") if _has_only_amp(value) else _REFERENCE.sub(_reference, value)
    return value.replace("\0", "")


def _has_only_amp(text: str) -> bool:
    """Return whether each ``&`` is that of a ``&amp;``, as nearly always: then no reference need be looked for."""
    return text.count("&") == text.count("&amp;")


def _reference(match: re.Match[str]) -> str:
    found = match[0]
    reference = found.rstrip("=")
    if reference[1] != "#" and (reference[1:] not in html5 or (found != reference and not reference.endswith(";"))):
        return found
    return decoded(reference) + found[len(reference) :]
