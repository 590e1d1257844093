"""Bounds of what a first crawl can save: the rules that it ends with, acting from the start or once it has seen some of their duplicates."""

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Mapping
from itertools import count
from typing import Any

from scrapy_dedup import RuleBook

Key = Callable[[str], str]


def breadth_first(
    start: Iterable[str], links: Mapping[str, Iterable[str]], key: Key, fetched: Callable[[str], Key | None]
) -> list[str]:
    """Return the URLs that a crawl downloads that takes URLs of one key for one page.

    *fetched* is told of each, and may return another key, which is used from then on; what was filtered stays so.
    """
    queue, keys, found = deque(start), set(), []
    while queue:
        url = queue.popleft()
        if (own := key(url)) in keys:
            continue
        keys.add(own)
        found.append(url)
        if (other := fetched(url)) is not None:
            key = other
            keys = {key(each) for each in found}
        queue.extend(links.get(url, ()))
    return found


def as_rules_say(book: RuleBook, plain: Key) -> Key:
    """Return the key of a URL by the rules of *book*, remembered."""
    known: dict[str, str] = {}

    def key(url: str) -> str:
        found = known.get(url)
        if found is None:
            found = known[url] = book.canonical_key(plain(url))
        return found

    return key


class AfterDuplicates:
    """Has each rule act once so many contents have come under a second URL that it makes the same."""

    def __init__(self, book: RuleBook, plain: Key, shown: Mapping[str, str], needed: int) -> None:
        """*shown* tells what each URL shows."""
        self._book, self._plain, self._shown, self._needed = book, plain, shown, needed
        self._deep = {site: book.site_rules(site).deep for site in book.sites}
        self._waiting = {number: self._key([rule]) for number, rule in enumerate(self._rules)}
        self._groups: dict[int, dict[str, set[str]]] = {number: defaultdict(set) for number in self._waiting}
        self._seen: dict[int, set[str]] = {number: set() for number in self._waiting}
        self._acting: set[int] = set()

    @property
    def _rules(self) -> list[Any]:
        return [rule for rule in self._book if rule.status.acts and not rule.is_alias]

    def _key(self, rules: Iterable[Any]) -> Key:
        return as_rules_say(RuleBook(rules, self._deep, self._book.groups), self._plain)

    def fetched(self, url: str) -> Key | None:
        """Note a URL that was downloaded; return the key from now on, None if that is the one of before."""
        content = self._shown.get(url)
        if content is None:
            return None
        ready = []
        for number, key in self._waiting.items():
            group = self._groups[number][key(url)]
            if content in group:
                self._seen[number].add(content)
                if len(self._seen[number]) >= self._needed:
                    ready.append(number)
            group.add(content)
        for number in ready:
            del self._waiting[number], self._groups[number]
        self._acting.update(ready)
        return (
            self._key([rule for number, rule in zip(count(), self._rules) if number in self._acting]) if ready else None
        )
