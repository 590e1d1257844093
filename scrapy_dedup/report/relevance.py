"""What is known of a parameter: irrelevant, since a rule ignores it; relevant, since a rule keeps it or pages differ; or unknown."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import combinations, islice
from typing import TYPE_CHECKING, Final

from ..content.resemblance import Difference, difference
from ..learning.phrases import counted
from ..rules.operations import Ignore, IgnoreValue, Keep
from ..rules.table import CompiledRule
from ..store.page_queries import latest_page, some_pages
from ..urls import values_of
from .data import Verdict

if TYPE_CHECKING:
    from ..content.sketch import Sketch
    from ..rules.book import RuleBook
    from ..store.store import Store
    from .seen_pages import SeenPages

#: URLs of a place at which it is looked what rules do to a parameter; pages of it that are compared, of a site in all.
_LOOKED_AT: Final = 20
_PAIRS: Final = 3
_ALL_PAIRS: Final = 40
#: Pages of a site that tell what its template is.
_OTHERS: Final = 6
_SCANNED: Final = 2_000


class ParameterJudge:
    """Tells what a parameter is on some URLs of a site."""

    def __init__(self, store: "Store", scope: str, pages: "SeenPages", book: "RuleBook") -> None:
        self._store = store
        self._scope = scope
        self._book = book
        self._site = pages.site
        self._pages = {url.url: url for url in pages.pages}
        self._left = _ALL_PAIRS
        self._others: list[Sketch] | None = None
        self._by_values: dict[tuple[object, ...], str] | None = None

    def __call__(self, name: str, urls: Sequence[str]) -> tuple[Verdict, str, tuple[str, ...]]:
        """Return (verdict, why, ids of the rules that say so)."""
        key = f"q.{name}"
        changed: dict[str, int] = defaultdict(int)
        keeping: dict[str, None] = {}
        some = urls[:: max(1, len(urls) // _LOOKED_AT)][:_LOOKED_AT]
        for url in some:
            done = {rule for rule, touched, _ in self._book.canonical(url).changes if touched.partition("[")[0] == key}
            for rule in self._book.matching(url):
                found = CompiledRule(rule).operation_on(key)
                if found is not None and isinstance(found[0], Keep):
                    keeping[rule.id] = None
                elif found is not None and rule.id in done and isinstance(found[0], Ignore | IgnoreValue):
                    changed[rule.id] += 1
        if changed:
            some_of = "" if max(changed.values()) == len(some) else ", for some of its values or beside some others"
            return "irrelevant", f"ignored{some_of}", tuple(changed)
        if keeping:
            return "relevant", "kept", tuple(keeping)
        return (*self._by_pages(key, urls), ())

    def _by_pages(self, key: str, urls: Sequence[str]) -> tuple[Verdict, str]:
        """Tell a parameter by pages that differ in nothing else."""
        alike = clear = 0
        for one, two in islice(self._pairs(key, urls), _PAIRS):
            if self._left <= 0:
                break
            first, second = self._pages[one], self._pages[two]
            if first.bag == second.bag:
                alike += 1
                continue
            self._left -= 1
            if self._differ(one, two):
                clear += 1
        if clear > alike:
            return (
                "relevant",
                f"{counted(clear, 'pair')} of pages that differ in nothing else in their URLs differ clearly",
            )
        if alike:
            return (
                "unknown",
                f"{counted(alike, 'pair')} of pages that differ in nothing else have equal texts; no rule acts",
            )
        return "unknown", "no rule is about it, and no two pages were compared that differ in nothing else"

    def _pairs(self, key: str, urls: Sequence[str]) -> "list[tuple[str, str]]":
        by_rest: defaultdict[tuple[object, ...], dict[str | None, str]] = defaultdict(dict)
        for url in urls[:_SCANNED]:
            if url in self._pages:
                values = values_of(url, groups=self._book.groups)
                value = values.pop(key, None)
                by_rest[tuple(values.items())].setdefault(value, url)
        for rest, some in by_rest.items():
            without = self._url_with(rest)
            if without is not None:
                some[None] = without
        several = [list(some.values()) for some in by_rest.values() if len(some) > 1]
        return [pair for some in several for pair in islice(combinations(some, 2), 1)]

    def _url_with(self, values: tuple[object, ...]) -> str | None:
        """Return a URL with these values and no others."""
        if self._by_values is None:
            self._by_values = {}
            for url in self._pages:
                self._by_values.setdefault(tuple(values_of(url, groups=self._book.groups).items()), url)
        return self._by_values.get(values)

    def _differ(self, one: str, two: str) -> bool:
        pages = [latest_page(self._store, self._scope, self._site, url) for url in (one, two)]
        if self._others is None:
            found = some_pages(self._store, self._scope, self._site, _OTHERS)
            self._others = [page.sketch for page in found if page.sketch is not None]
        first, second = (page.sketch if page is not None else None for page in pages)
        return difference(first, second, self._others) is Difference.CLEAR
