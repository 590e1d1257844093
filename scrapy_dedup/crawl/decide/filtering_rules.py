"""The rules by which one URL is taken for another: those that change what differs in the two."""

from typing import TYPE_CHECKING, Final

from ...urls import normal_form

if TYPE_CHECKING:
    from ...rules.book import RuleBook
    from ...rules.canonical import Canonical
    from ..identity.identities import Identities

#: The "rule" of two URLs that are one by their normal form.
NORMAL_FORM: Final = "normal-form"


def filtering_rules(identities: "Identities", url: str, page: str) -> tuple[str, ...]:
    """Return the ids of the rules by which *url* is a duplicate of *page*, or the id of the kind of an alias.

    Where *page* is "", as it is not known, or the difference is elsewhere, it is the first rule that changes anything.
    """
    identity = identities.of_url(url)
    if identity.alias:
        return (identity.alias,)
    one = identity.canonical
    return _deciding(url, one, page, identities.of_url(page).canonical if page else one)


def deciding_rules(book: "RuleBook", url: str, page: str) -> tuple[str, ...]:
    """Return what :func:`filtering_rules` does under the rules of *book*, aliases apart; for threads."""
    one = book.canonical(url)
    return _deciding(url, one, page, book.canonical(page) if page else one)


def _deciding(url: str, one: "Canonical", page: str, two: "Canonical") -> tuple[str, ...]:
    if one.changes == two.changes and (not one.changes or (page and normal_form(url) == normal_form(page))):
        return (NORMAL_FORM,)
    return one.deciding_rules(two)


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
