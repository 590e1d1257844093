"""Selectors of rows as CSS that a person reads and parsel takes, and CSS of any kind asked of rows.

The selector of a row is a path of elements, ``html/body/div#main.box/p``, of which ids and classes are cleaned: digits are one 0.
CSS that was learned names such a path from ``body`` or ``head`` on, and means exactly the elements with this path. What a user
writes means what it does in parsel, as far as the elements around a text tell it: what stands beside them is not kept.
"""

import re
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

from lxml import etree

__all__ = ["ALL", "COMMENT", "Selects", "css_fault", "css_of", "is_path", "named_by", "named_in", "said_of"]

SCRIPT: Final = "#script"
COMMENT: Final = "#comment"
ALL: Final = "*"
"""The attribute of a place that is all that is in an element, of whose path only the names of tags count."""

_attribute = re.compile(r"([^\[]*)(?:\[([^=?\]]+)=([^\]]*)\])?(?:\[([^\]]*)\])?").fullmatch
_step = re.compile(r"([^#.]*)(?:#([^.]*))?(?:\.(.*))?", re.DOTALL).fullmatch
_path = re.compile(r"(?:html|head|body)(?:\\.|\[[^\]]*\]|[^ ,\[]| > )*", re.DOTALL).fullmatch
_pseudo = re.compile(r"::(text|attr\(([\w:-]+)\))\s*\Z").search
_plain_tag = re.compile(r"[A-Za-z_][\w-]*").fullmatch
_control = re.compile("[\0-\x08\x0b\x0e-\x1f\x7f\ud800-\udfff\ufffe\uffff]").sub
_odd = re.compile(r"[^\w-]|^-(?![A-Za-z_])").sub
_digits = re.compile("[0-9]+").sub
_named = re.compile(r"""[#.](?:[\w-]|\\.)+|"[^"]*"|'[^']*'""").sub
_quoted = re.compile(r"""\\.|"[^"]*"|'[^']*'""").sub
_unknown = re.compile(
    r"[+~](?!=)|(?<!:):(?!:|not\(|is\(|where\()[\w-]+|"
    r"\[\s*(?!(?:id|class|name|property|itemprop|http-equiv|rel)\s*[\]~|^$*!=])[^\]]*\]?"
).search


def named_in(attribute: str) -> tuple[str, str, str, str]:
    """Return what the attribute of a row names: the attribute, another one with its value that tells elements apart, a part.

    >>> named_in("href[rel=icon][?v]"), named_in("#script[nonce]")
    (('href', 'rel', 'icon', '?v'), ('#script', '', '', 'nonce'))
    """
    found = _attribute(attribute)
    name, other, value, part = found.groups("") if found is not None else (attribute, "", "", "")
    return name, other, value, part


def css_of(selector: str, attribute: str = "") -> str:
    """Return the CSS of rows with this selector and attribute; of CSS, and of the keys of JSON, itself.

    >>> css_of("html/body/div#main/p.clock"), css_of("html/body/div.box-0/a", "href")
    ('body > div#main > p.clock::text', 'body > div[class*="box-"] > a::attr(href)')
    >>> css_of("html/head/meta", "content[name=csrf-token]"), css_of("html/head/script", "#script[nonce]")
    ('head > meta[name="csrf-token"]::attr(content)', 'head > script::text')
    >>> css_of("html/body/em", "*"), css_of("html/body", "#comment[cache]"), css_of("$.offers[].price")
    ('body > em', 'body', '$.offers[].price')
    """
    if not selector.startswith("html/"):
        return selector
    path = " > ".join(map(_css_of_step, selector.split("/")))
    path = path.removeprefix("html > ") if path.startswith(("html > body", "html > head")) else path
    name, other, value, _ = named_in(attribute)
    if other:
        path += _containing(other, unquote(value)) if "0" in value else f'[{other}="{_in_quotes(unquote(value))}"]'
    if name in (COMMENT, ALL):
        return path
    return f"{path}::text" if name in ("", SCRIPT) else f"{path}::attr({name})"


def said_of(selector: str, attribute: str) -> tuple[str, str]:
    """Return the CSS of rows, and the part of a value that is meant, or the comment: all that a mask file says of where they are.

    >>> said_of("html/body/img", "src[?v]"), said_of("html/body", "#comment[]")
    (('body > img::attr(src)', '?v'), ('body', '#comment'))
    """
    name, _, _, part = named_in(attribute)
    return css_of(selector, attribute), part or COMMENT * (name == COMMENT)


def is_path(css: str) -> bool:
    """Return whether CSS names a path of elements, or of keys of JSON, as :func:`css_of` does.

    >>> is_path('body > div[class*="a b"] > p::text'), is_path("body p::text"), is_path("main > p::text")
    (True, False, False)
    """
    return css.startswith("$") or _path(css) is not None


def named_by(css: str, value: str | None) -> str:
    """Return the attribute that CSS asks for, where a *value* inside its value is meant, or a comment by the first word in it.

    >>> named_by("p.a::text", None), named_by("script::text", "nonce"), named_by("a::attr(href)", None), named_by("p", "made")
    ('', '#script[nonce]', 'href', '#comment[made]')
    """
    found = _pseudo(css)
    if found is None:
        return "" if css.startswith("$") else ALL if value is None else f"{COMMENT}[{value}]"
    name = found[2] or SCRIPT * (value is not None)
    return name if value is None else f"{name}[{value}]"


def css_fault(css: str) -> str | None:
    """Return what of CSS cannot be asked of rows, with what would be right; None if nothing.

    >>> css_fault("main p.clock::text"), css_fault("li:first-child::text")
    (None, 'css has :first-child, and only ids, classes and names are kept of elements; name these, or write position = 1 for the first text, -1 for the last')
    """
    if not css:
        return 'a place without css is nowhere; add css = "p.clock::text"'
    try:
        Selects(css)
    except ValueError as error:
        return f"css is not understood: {error}; write it as parsel has it: p.clock::text"
    bad = _unknown(_quoted("x", css))
    right = "name these, or write position = 1 for the first text, -1 for the last"
    return (
        f"css has {bad[0]}, and only ids, classes and names are kept of elements; {right}" if bad is not None else None
    )


class Selects:
    """CSS as parsel has it, asked of rows. Raises ValueError where it is no CSS, or of rows there is nothing like it.

    >>> Selects("main p::text")("html/body/main/p.a"), Selects("div.ad-1")("html/body/div.ad-0/a", "href", inside=True)
    (True, True)
    """

    def __init__(self, css: str) -> None:
        from cssselect import SelectorError, parse  # here, since most masks have none
        from parsel.csstranslator import HTMLTranslator

        try:
            # Of ids and classes digits are one 0, as in rows.
            parsed = parse(_named(lambda found: _digits("0", found[0]), css))
            self._asked = [etree.XPath(HTMLTranslator().selector_to_xpath(each)) for each in parsed]
        except (SelectorError, etree.XPathError) as error:
            raise ValueError(str(error)) from error
        except RecursionError as error:
            raise ValueError("it is nested too deep") from error
        pseudos = {re.sub(r"\s", "", str(each.pseudo_element)) for each in parsed}
        if len(pseudos) > 1 or (pseudos != {"None"} and _pseudo(css) is None):
            raise ValueError("it ends in something else than one ::text, or one ::attr(name)")

    def __call__(self, selector: str, attribute: str = "", *, inside: bool = False) -> bool:
        """Return whether the element in which a row stands is selected; *inside*: that, or one around it."""
        chain = _chain_of(selector, attribute)
        return any((found := asked(chain[0])) and (inside or chain[-1] in found) for asked in self._asked if chain)


@lru_cache(maxsize=1)
def _chain_of(selector: str, attribute: str = "") -> list[Any]:
    """Return the elements that a row's selector names, the outermost first, each in the one before; none of JSON."""
    _, other, value, _ = named_in(attribute)
    chain = [etree.Element("around")]
    for tag, identifier, classes in _steps(selector) if not selector.startswith("$") else ():
        said = {"id": identifier, "class": " ".join(classes)}
        values = {name: _control("", each) for name, each in said.items() if each}
        chain.append(etree.SubElement(chain[-1], tag if _plain_tag(tag) else "unknown", values))
    if other and _plain_tag(other):
        chain[-1].set(other, _control("", unquote(value)))
    return chain[1:]


def _steps(selector: str) -> list[tuple[str, str, list[str]]]:
    """Return (tag, id, classes) of each step."""
    found = []
    for step in selector.split("/"):
        tag, identifier, classes = _step(step).groups("")  # type: ignore[union-attr]  # it matches any text
        found.append((unquote(tag), unquote(identifier), [unquote(name) for name in classes.split(".") if name]))
    return found


@lru_cache(maxsize=4096)
def _css_of_step(step: str) -> str:
    ((tag, identifier, classes),) = _steps(step)
    text = tag if _plain_tag(tag) else "*"
    for sign, name, token in (("#", "id", identifier), *((".", "class", token) for token in classes)):
        if token:
            text += _containing(name, token) if "0" in token else sign + _odd(r"\\\g<0>", token)
    return text


def _in_quotes(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


def _containing(attribute: str, token: str) -> str:
    """Return CSS for a value with digits: what stands around them is asked for."""
    return "".join([f'[{attribute}*="{_in_quotes(piece)}"]' for piece in token.split("0") if piece]) or f"[{attribute}]"
