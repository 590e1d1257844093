"""Texts of a page that nobody sees: its scripts, styles and templates.

``response.css("body ::text")`` and ``//text()`` give them among all others. A script or a style is one text as it is
written. What ``<noscript>`` and ``<template>`` hold is markup to lxml, so that only the texts in it are texts.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from html import unescape
from itertools import islice
from typing import NamedTuple

from ...content.tokenizer.token_kinds import TokenKind
from ...content.tokenizer.tokens import Token, tokens

__all__ = ["MANY", "ScriptText", "Sought", "script_texts"]

#: Texts that are looked for one by one.
MANY = 500
#: Characters of a text by which it is looked for at first.
_END = 8
_HOLD_MARKUP = frozenset(("noscript", "template"))
#: Of templates in templates those inside are read again.
_DEEPEST = 4


class ScriptText(NamedTuple):
    """The span of a text in the page, and the number of its token."""

    token: int
    start: int
    end: int
    #: Whether character references stand for characters there.
    is_markup: bool

    def squeezed(self, html: str, low: int = 0, high: int | None = None) -> str:
        """Return the characters of its part in [low, high) that are no white space."""
        text = html[max(self.start, low) : self.end if high is None else min(self.end, high)]
        return "".join((unescape(text) if self.is_markup else text).split())


def script_texts(found: Sequence[Token], number: int, *, depth: int = 1) -> Iterator[ScriptText]:
    """Yield the texts in the raw token with a *number* among those of a page."""
    token = found[number]
    if token.parent < 0 or found[token.parent].name not in _HOLD_MARKUP:
        yield ScriptText(number, token.start, token.end, False)
        return
    inner = list(tokens(token.source[token.start : token.end]))
    for index, each in enumerate(inner):
        start, end = token.start + each.start, token.start + each.end
        if each.kind is TokenKind.TEXT:
            yield ScriptText(number, start, end, True)
        elif each.kind is TokenKind.RAW and depth < _DEEPEST:
            for text in script_texts(inner, index, depth=depth + 1):
                yield ScriptText(number, token.start + text.start, token.start + text.end, text.is_markup)


class Sought:
    """Transient texts, without white space, to be looked for in a field before it is aligned; *fold* is :func:`.visible_text.folded`."""

    def __init__(self, texts: Iterable[str], fold: Callable[[str], str]) -> None:
        self.texts = list(islice(dict.fromkeys(texts), MANY))
        self._fold = fold

    def __bool__(self) -> bool:
        """Return whether there are any."""
        return bool(self.texts)

    def may_stand_in(self, text: str) -> bool:
        """Return whether one, or as much of it as a field has at one of its ends, may stand in *text*, in any case; cheap."""
        if not self.texts:
            return False
        text = "".join(text.split())
        return (
            len(self.texts) == MANY or _holds_end(text, self.texts) or _holds_end(self._fold(text), self._folded_texts)
        )

    @cached_property
    def _folded_texts(self) -> list[str]:
        return [self._fold(each) for each in self.texts]


def _holds_end(text: str, others: list[str]) -> bool:
    return any(each[:_END] in text or each[-_END:] in text for each in others)
