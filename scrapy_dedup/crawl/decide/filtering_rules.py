"""The rules by which one URL is taken for another: those that change what differs in the two."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ..identity.identities import Identities


def filtering_rules(identities: "Identities", url: str, page: str) -> tuple[str, ...]:
    """Return the ids of the rules by which *url* is a duplicate of *page*, which is "" if it is not known."""
    return identities.of_url(url).filtering_rules(identities.of_url(page) if page else None)


def deciding_rules(book: "RuleBook", url: str, page: str) -> tuple[str, ...]:
    """Return what :func:`filtering_rules` does under the rules of *book*, aliases apart; for threads."""
    return book.canonical(url).filtering_rules(book.canonical(page) if page else None)


def differences(book: "RuleBook", url: str, other: str) -> dict[str, list[tuple[str, str | None, str | None]]]:
    """Return, by the id of a rule, what it changes of what differs in two URLs: the key, and its value in each."""
    explained = [book.explain(each) for each in (url, other)]
    one, two = (each.values for each in explained)
    found: dict[str, dict[str, tuple[str, str | None, str | None]]] = {}
    for each in explained:
        for rule, operations in each.rules:
            for key in operations:
                if one.get(key) != two.get(key):
                    found.setdefault(rule.id, {})[key] = key, one.get(key), two.get(key)
    return {rule: list(keys.values()) for rule, keys in found.items()}
