"""The path that a token of a page counts for, without any token table."""

from scrapy_dedup.content.tokenizer.token_kinds import TokenKind
from scrapy_dedup.content.tokenizer.tokens import Token


def path_of(token: Token) -> str:
    """Return it: with its own name for a tag, else of where it stands; of a tag too deep for its path, that path."""
    is_cut = token.depth > (token.path.count("/") + 1 if token.path else 0)
    if token.kind in (TokenKind.OPEN, TokenKind.EMPTY) and not is_cut:
        return f"{token.path}/{token.name}" if token.path else token.name
    return token.path
