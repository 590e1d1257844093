"""Selectors of blocks as CSS and XPath, for readers, and for spiders.

A selector (``html/body/div#main.box/p``) holds cleaned ids and classes (see
:mod:`scrapy_dedup.content.tokenizer.selectors`), so that CSS says the same only as nearly as it can: where digits were
replaced by 0, what stands around them is asked for.
"""

import re
from urllib.parse import unquote

from ..content.tokenizer.unseen import COMMENT_NAME, SCRIPT_NAME, meant_by

__all__ = ["SUBTREE_SUFFIX", "css_of", "xpath_of"]

SUBTREE_SUFFIX = "/*"
"""What a selector ends in that names all that stands in an element, and is made of the names of tags only."""

_step = re.compile(r"([^#.]*)(?:#([^.]*))?(?:\.(.*))?", re.DOTALL).fullmatch
_plain = re.compile(r"-?[A-Za-z_][A-Za-z0-9_-]*").fullmatch
_ALONE = ("html", "head", "body", "title")
"""Elements of which a page has one: they need no more than their name."""


def css_of(selector: str, attribute: str = "") -> str:
    """Return the CSS selector of the texts, or of the values of *attribute*, at *selector*, as parsel has it.

    >>> css_of("html/body/div#main/p.clock")
    'body > div#main > p.clock::text'
    >>> css_of("html/body/div.box-0/a", "href")
    'body > div[class*="box-"] > a:not([class])::attr(href)'
    >>> css_of("html/body/em/*")
    'body > em::text, body > em *::text'
    >>> css_of("html/head/meta", "content[name=csrf-token]"), css_of("html/head/script", "#script[nonce]")
    ('head > meta:not([class])[name="csrf-token"]::attr(content)', 'head > script:not([class])::text')

    Comments have none: it is that of the element that they stand in.
    """
    if selector.endswith(SUBTREE_SUFFIX):
        path = " > ".join([tag for tag, _, _ in _steps(selector.removesuffix(SUBTREE_SUFFIX))])
        return f"{path}::text, {path} *::text"
    path = " > ".join([_css_step(*step) for step in _steps(selector)])
    meant = meant_by(attribute)
    if meant.name == COMMENT_NAME:
        return path
    if meant.name in ("", SCRIPT_NAME):
        return f"{path}::text"
    if meant.other:
        value = unquote(meant.value)
        path += _css_contains(meant.other, value) if "0" in value else f"[{meant.other}={_quoted(value)}]"
    return f"{path}::attr({meant.name})"


def xpath_of(selector: str, attribute: str = "", position: int = 0) -> str:
    """Return the XPath of the texts, or of the values of *attribute*, at *selector*.

    *position* is the number of one of them, from 1, or from -1 for the last; 0 for all.

    >>> xpath_of("html/body/div#main", position=2)
    "(//body/div[@id='main']/text()[normalize-space()])[2]"
    >>> xpath_of("html/body/p.a", "href")
    "//body/p[contains(concat(' ', normalize-space(@class), ' '), ' a ')]/@href"
    >>> xpath_of("html/head/meta", "content[name=csrf-token]"), xpath_of("html/body", "#comment[cache]")
    ("//head/meta[not(@class)][@name='csrf-token']/@content", '//body/comment()')
    """
    if selector.endswith(SUBTREE_SUFFIX):
        path = "/".join([tag for tag, _, _ in _steps(selector.removesuffix(SUBTREE_SUFFIX))])
        return f"//{path}//text()[normalize-space()]"
    path = "//" + "/".join([_xpath_step(*step) for step in _steps(selector)])
    meant = meant_by(attribute)
    if meant.other:
        value = unquote(meant.value)
        path += _xpath_contains(meant.other, value) if "0" in value else f"[@{meant.other}={_literal(value)}]"
    if meant.name == COMMENT_NAME:
        return f"{path}/comment()"
    path += "/text()[normalize-space()]" if meant.name in ("", SCRIPT_NAME) else f"/@{meant.name}"
    if not position or meant.part:
        return path
    last = "last()" if position == -1 else f"last(){position + 1}"
    return f"({path})[{position if position > 0 else last}]"


def _steps(selector: str) -> list[tuple[str, str, list[str]]]:
    """Return (tag, id, classes) of each step, without the outermost one of a whole page."""
    found = []
    for number, step in enumerate(selector.split("/")):
        parts = _step(step)
        assert parts is not None  # it matches any text
        tag, id_, classes = parts.groups()
        if number or tag != "html" or "/" not in selector:
            names = [unquote(name) for name in (classes or "").split(".") if name]
            found.append((unquote(tag), unquote(id_ or ""), names))
    return found


def _around_digits(token: str) -> list[str]:
    return [piece for piece in token.split("0") if piece]


def _css_step(tag: str, id_: str, classes: list[str]) -> str:
    if tag in _ALONE:
        return tag
    text = tag if _plain(tag) else "*"
    if id_:
        text += f"#{id_}" if _plain(id_) and "0" not in id_ else _css_contains("id", id_)
    for name in classes:
        text += f".{name}" if _plain(name) and "0" not in name else _css_contains("class", name)
    return text if id_ or classes else text + ":not([class])"


def _css_contains(attribute: str, token: str) -> str:
    return "".join([f"[{attribute}*={_quoted(piece)}]" for piece in _around_digits(token)]) or f"[{attribute}]"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _xpath_step(tag: str, id_: str, classes: list[str]) -> str:
    if tag in _ALONE:
        return tag
    text = tag if _plain(tag) else "*"
    if id_:
        text += f"[@id={_literal(id_)}]" if "0" not in id_ else _xpath_contains("id", id_)
    for name in classes:
        if "0" in name:
            text += _xpath_contains("class", name)
        else:
            text += f"[contains(concat(' ', normalize-space(@class), ' '), {_literal(f' {name} ')})]"
    return text if id_ or classes else text + "[not(@class)]"


def _xpath_contains(attribute: str, token: str) -> str:
    found = [f"[contains(@{attribute}, {_literal(piece)})]" for piece in _around_digits(token)]
    return "".join(found) or f"[@{attribute}]"


def _literal(text: str) -> str:
    if "'" not in text:
        return f"'{text}'"
    return f'"{text}"' if '"' not in text else "concat('" + text.replace("'", "', \"'\", '") + "')"
