"""The path that a token of a page counts for, without any token table."""

from scrapy_dedup.pages.tokens import Token, TokenKind


def path_of(token: Token) -> str:
    """Return it: with its own name for a tag, else of where it stands."""
    if token.kind in (TokenKind.OPEN, TokenKind.EMPTY):
        return f"{token.path}/{token.name}" if token.path else token.name
    return token.path
