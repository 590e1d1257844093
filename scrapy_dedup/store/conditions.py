"""Conditions on observations that several queries have."""

from typing import Any

from sqlalchemy import and_, or_, true

from .schema import observation


def known(table: Any) -> Any:
    """Return the condition that a response of *table*, the observations or an alias of them, has content or is no page."""
    return or_(table.c.status != 200, table.c.text.is_not(None))


def in_part(scope: str, site: str | None, since: float | None) -> Any:
    """Return the condition that an observation is of a scope, of a site (None: of any) and not from before *since*."""
    o = observation.c
    return and_(
        o.scope == scope, true() if site is None else o.site == site, true() if since is None else o.time >= since
    )
