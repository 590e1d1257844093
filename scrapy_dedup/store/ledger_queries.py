"""Looking into the ledger: which URLs were filtered, when, by which rule, and for which page."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, func, or_, select

from .conversions import clean_url
from .rows import DiscardRow, DiscardState
from .schema import discard, signed_hash
from .store import Store


class LedgerFilter(NamedTuple):
    """Which rows of the ledger are asked for; None, and no sites, stand for all."""

    scope: str = ""
    sites: Sequence[str] = ()
    spider: str | None = None
    #: Id of the rule that filtered, or its beginning.
    rule: str | None = None
    #: The URL that was filtered.
    url: str | None = None
    #: A part of the URL that was filtered or of the page it was taken for.
    containing: str | None = None
    #: Seconds since 1970.
    since: float | None = None
    until: float | None = None

    def conditions(self) -> list[ColumnElement[bool]]:
        """Return the conditions of a query."""
        d = discard.c
        found: list[Any] = [d.scope == self.scope]
        if self.sites:
            found.append(d.site.in_(self.sites))
        if self.spider is not None:
            found.append(d.spider == self.spider)
        if self.rule is not None:
            found.append(d.rule.startswith(self.rule, autoescape=True))
        if self.url is not None:
            url = clean_url(self.url)
            found += [d.url_key == signed_hash(url), d.url == url]
        if self.containing is not None:
            found.append(or_(*(column.icontains(self.containing, autoescape=True) for column in (d.url, d.taken_for))))
        if self.since is not None:
            found.append(d.time >= self.since)
        if self.until is not None:
            found.append(d.time < self.until)
        return found


class RuleCount(NamedTuple):
    """How many URLs a rule has filtered on a site."""

    site: str
    rule: str
    urls: int
    #: Times of the first and of the last one, in seconds since 1970.
    first: float
    last: float


def ledger_rows(store: Store, asked: LedgerFilter, limit: int | None = None) -> Iterator[DiscardRow]:
    """Yield rows of the ledger, the latest ones first. Raises StoreError."""
    query = select(*(discard.c[name] for name in DiscardRow._fields)).where(*asked.conditions())
    query = query.order_by(discard.c.time.desc(), discard.c.id.desc())
    for row in store.rows(query if limit is None else query.limit(limit)):
        yield DiscardRow._make(row)._replace(state=DiscardState(row.state))


def ledger_count(store: Store, asked: LedgerFilter) -> int:
    """Return the number of rows. Raises StoreError."""
    number: int = next(iter(store.rows(select(func.count()).select_from(discard).where(*asked.conditions()))))[0]
    return number


def ledger_by_rule(store: Store, asked: LedgerFilter) -> list[RuleCount]:
    """Return the rows counted by site and rule, the most frequent ones first. Raises StoreError."""
    d = discard.c
    count = func.count()
    query = select(d.site, d.rule, count, func.min(d.time), func.max(d.time)).where(*asked.conditions())
    return [
        RuleCount(*row) for row in store.rows(query.group_by(d.site, d.rule).order_by(count.desc(), d.site, d.rule))
    ]
