"""Claims of slots: a request that goes out stands for its page, and equivalent ones are compared with it."""

from typing import TYPE_CHECKING

import attrs

from ..identity.identities import is_plain_get
from ..settings.dedup_settings import Mode
from ..support.request_meta import redirects_to
from .journal_lines import JournalPage

if TYPE_CHECKING:
    from scrapy import Request

    from ..identity.identities import Identities, UrlIdentity
    from ..settings.dedup_settings import DedupSettings
    from ..support.request_meta import RunMarks
    from .depth_limit import Depths
    from .seen import Seen

_COMPARED = (Mode.SHADOW, Mode.ACTIVE)


@attrs.define(eq=False, repr=False)
class SlotClaims:
    """Lets requests stand for their slots."""

    _settings: "DedupSettings"
    _identities: "Identities"
    _seen: "Seen"
    _depths: "Depths"
    _marks: "RunMarks"
    _may_move: bool = attrs.field(init=False)

    def __attrs_post_init__(self) -> None:
        self._may_move = self._settings.learns_live or self._settings.sample > 0

    @property
    def may_move(self) -> bool:
        """Whether pages may have to be given other slots, now or in a later run of the job."""
        return self._may_move or self._seen.persistent

    def is_plain(self, request: "Request", url: str, slot: int) -> bool:
        """Whether *slot*, that of *request* for *url*, can be made again from what the journal keeps, if it may have to."""
        return not self.may_move or self._identities.is_plain_slot(request, url, slot)

    def claim(self, request: "Request", identity: "UrlIdentity") -> None:
        """Let *request* stand for its slot, which is free."""
        slot = identity.slot
        plain = self.is_plain(request, request.url, slot)
        self._seen.take(slot, request.url, identity.callback, identity.context, plain)
        if self._depths.limited:
            self._depths.note(request)

    def claim_shared(self, request: "Request", identity: "UrlIdentity") -> bool:
        """Claim the slot of *request* for this worker of a fleet; return False if it is another worker's."""
        plain = self.is_plain(request, request.url, identity.slot)
        page = JournalPage(identity.slot, request.url, identity.callback, identity.context, plain)
        return self._seen.claim(page)

    def give_back(self, identity: "UrlIdentity") -> None:
        """Give back what was claimed for a request that does not go out."""
        self._seen.unclaim(identity.slot)

    def claim_unfiltered(self, request: "Request") -> None:
        """Let a request that passes no filter (dont_filter) stand for its slot, if that is free."""
        identity = self._identities.of(request)
        if identity is None or identity.mode is Mode.OBSERVE:
            return
        self._marks.mark(request, identity.slot, identity.context)
        if identity.slot not in self._seen:
            self.claim(request, identity)

    def is_own_redirect(self, request: "Request", slot: int) -> bool:
        """Whether redirects from a URL with the same slot have led to *request*."""
        return any(self._identities.slot_of_url(url, request) == slot for url in redirects_to(request))

    def chain(self, request: "Request", *, own: bool = True) -> list[tuple[str, int]]:
        """Return the URLs by which *request* came about, with their slots, as far as they are compared."""
        identities = self._identities
        urls = list(redirects_to(request))
        if not urls and own:  # as nearly always
            identity = identities.of(request)
            return [] if identity is None or identity.mode not in _COMPARED else [(request.url, identity.slot)]
        if not is_plain_get(request):
            return []
        chain = []
        if own:
            urls.append(request.url)
        for url in urls:
            if identities.of_url(url).mode in _COMPARED:
                slot = identities.slot_of_url(url, request)
                if slot is not None:
                    chain.append((url, slot))
        return chain
