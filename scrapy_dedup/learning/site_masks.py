"""The mask of a site, from what a store keeps of its pages."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from ..masks import published
from ..masks.learn import learned
from ..masks.model import Mask, Place
from ..masks.observe import Fetch, Observations
from ..masks.selectors import said_of
from ..masks.token_changes import Options
from ..observation import KeptPage, numbered
from ..rules import RuleBook
from ..rules.model import Status


@dataclass(frozen=True, slots=True)
class LearnedMask:
    """The mask of a site, None where there is nothing to say and was nothing before; ``note`` is what the user should know of it."""

    mask: Mask | None = None
    note: str = ""


class SiteMasks:
    """The masks of a site by the responses that are kept of its pages, whose URLs are in normal form.

    With *options* they are learned by the transient-content document's method.
    """

    def __init__(self, site: str, kept: Iterable[KeptPage], options: Options | None = None) -> None:
        self._site = site
        self._options = options
        self._kept = sorted(kept, key=lambda page: (page.time, page.url))
        #: The last mask, with the keys of the pages that it was learned by, and the mask of before.
        self._last: tuple[object, LearnedMask] | None = None

    def __len__(self) -> int:
        return len(self._kept)

    def mask(self, key_of: Callable[[str], str], before: Mask | None) -> LearnedMask:
        """Return the mask of pages that *key_of* names, those of one name being one; *before* is the earlier mask."""
        asked = [key_of(page.url) for page in self._kept], before
        if self._last is None or self._last[0] != asked:
            found = (
                self._learned(key_of, before)
                if self._options is None
                else self._published(self._options, key_of, before)
            )
            self._last = asked, found
        return self._last[1]

    def _learned(self, key_of: Callable[[str], str], before: Mask | None) -> LearnedMask:
        seen = Observations(self._fetches, key_of)
        mask = Mask(self._site, (*learned(seen), *_kept(before, seen)))
        if before is None:
            return LearnedMask(mask if mask.places else None)
        return LearnedMask(mask.obeying(before))

    def _published(self, options: Options, key_of: Callable[[str], str], before: Mask | None) -> LearnedMask:
        pages: dict[str, list[KeptPage]] = {}
        for page in self._kept:
            pages.setdefault(key_of(page.url), []).append(page)
        several = [page for _, page in sorted(pages.items()) if len(page) > 1]
        return LearnedMask(*published.learned(several, before, site=self._site, options=options))

    @cached_property
    def _fetches(self) -> list[Fetch]:
        return [Fetch(page.url, page.time, number, tuple(page.version.rows())) for number, page in numbered(self._kept)]

    def without_refuted(self, before: Mask | None, known: RuleBook) -> Mask | None:
        """Return the mask *before* without the places that only rules which are suspended in *known* have taught.

        The URLs that these took for one page are several, and what differs between them is their content.
        """
        rules = known.for_site(self._site)
        refuted = [rule for rule in rules if rule.status is Status.SUSPENDED and not rule.is_alias]
        if before is None or not refuted or self._options is not None:  # that method learns all of it anew
            return before
        acting = [replace(rule, status=Status.ACTIVE) if rule in refuted else rule for rule in rules]
        book = RuleBook(acting, {self._site: known.site_rules(self._site).deep}, known.groups)
        taught = {place.key for place in learned(Observations(self._fetches, book.canonical_key))}
        proper = {place.key for place in learned(Observations(self._fetches, known.canonical_key))}
        places = [place for place in before.places if place.state or place.key not in taught - proper]
        return replace(before, places=tuple(places))


def _kept(before: Mask | None, seen: Observations) -> list[Place]:
    """Return the places of the mask *before* that stay since no page tells anything of them now."""
    if before is None or before.mode != "default":
        return []
    looked_at = {said_of(*where) for where in seen.again}
    return [place for place in before.places if place.key[:2] not in looked_at]
