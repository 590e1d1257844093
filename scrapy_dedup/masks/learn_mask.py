"""A mask learned from versions of pages, for who has them by himself."""

from collections.abc import Iterator, Mapping, Sequence
from math import isfinite
from typing import Any, Final

from ..observation import APART, KeptPage
from ..pages.response import version_of
from ..pages.versions import Version
from ..urls import site_of_url
from . import published
from .learn import learned
from .model import Mask, Mode
from .observe import Fetch, Observations
from .token_changes import Options, packed_table

_DAY: Final = 86_400.0


def learn_mask(
    versions: Mapping[str, Sequence[str]],
    mode: Mode = "default",
    *,
    times: Mapping[str, Sequence[float]] | None = None,
    options: Mapping[str, Any] | None = None,
) -> Mask:
    """Return what is transient on the pages of a site, learned from *versions*.

    *versions* are the HTML of each page, in order of time, by its URL or any other name. *times* are those of the versions of each
    page, in seconds from any moment on: with them, more can be told to pass; without, they are a day apart. *mode* is "default", or
    "seed" for the method of the transient-content document, with its *options* (:setting:`DEDUP_TRANSIENT_OPTIONS`).

    Raises ValueError for another mode, for versions that are no texts, for an option that there is not or that is out of range, and
    where a page has not as many times as versions, all of them finite numbers in rising order. No HTML is wrong.

    Source: transient-content, FIG. 1 to 3, 5 and 6; what the default mode does beyond that is told in the documentation (Methods).

    >>> page = "<body><h1>Page {}</h1><p>Today is {}</p>"
    >>> versions = {f"http://a.example/{n}": [page.format(n, day) for day in ("Mon", "Tue", "Wed")] for n in range(4)}
    >>> mask = learn_mask(versions)
    >>> [(place.css, place.slot) for place in mask.places]
    [('body > p::text', ('Today is', ''))]
    >>> mask.text(page.format(17, "Sun"), url="http://a.example/17")
    'Page 17 Today is'
    """
    if mode not in ("default", "seed"):
        raise ValueError(f'mode is {mode!r}: there are "default" and "seed"')
    for page, found in versions.items():
        if isinstance(found, str) or not all(isinstance(html, str) for html in found):
            raise ValueError(f"{page}: its versions are no list of HTML texts, as in [first, second]")
    chosen = Options.of(options or {})
    site = next((site_of_url(page) for page in sorted(versions) if "://" in page), "")
    if mode == "seed":
        pages = [
            [KeptPage(page, _DAY * day, Version((), table=packed_table(html))) for day, html in enumerate(found)]
            for page, found in sorted(versions.items())
        ]
        return published.learned(pages, None, site=site, options=chosen)[0] or Mask(site, mode="seed")
    return Mask(site, tuple(learned(Observations(list(_fetches(versions, times or {}))))))


def _fetches(versions: Mapping[str, Sequence[str]], times: Mapping[str, Sequence[float]]) -> Iterator[Fetch]:
    for page, found in times.items():
        if len(found) != len(versions.get(page, ())):
            raise ValueError(f"{page}: {len(versions.get(page, ()))} versions and {len(found)} times")
        if not all(isinstance(at, int | float) and isfinite(at) for at in found):
            raise ValueError(f"{page}: times are {list(found)!r}: numbers of seconds are expected")
        if list(found) != sorted(found):
            raise ValueError(f"{page}: its versions are not in order of time")
    seen = [
        (at, page, html)
        for page, found in versions.items()
        for at, html in zip(times.get(page, [_DAY * number for number in range(len(found))]), found, strict=True)
    ]
    crawl, last = 0, 0.0
    for at, page, html in sorted(seen):
        crawl += at - last > APART
        last = at
        yield Fetch(page, at, crawl, tuple(version_of(html).rows()))
