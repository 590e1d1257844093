"""Which lost pages a crawl lost, and which the recording's edge hides from it.

A recording stops at a cap. A crawl that takes page R for its duplicate L follows R's links instead
of L's; where R's link to a page is an unrecorded form of L's link, the page cannot be reached in this
closed world, though on the real site it would have been. Such a page is reported apart, as
*unreachable in the closed world*; every other lost page is the rules' fault.
"""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING
from urllib.parse import urldefrag, urljoin

from scrapy.http import HtmlResponse

from ..crawling.spiders import page_links
from ..recordings.recording import Recording

if TYPE_CHECKING:
    from ..recordings.pages import PageIdentity

Place = tuple[str, int]
"""Where a link stands on a page: its text, and which link of that text it is."""


class ClosedWorld:
    """The links of a recording, against the URLs that one crawl of it downloaded."""

    def __init__(self, recording: Recording, downloaded: Collection[str]) -> None:
        self._recording = recording
        self._downloaded = frozenset(downloaded)
        self._links: dict[str, dict[Place, str]] = {}
        self._linkers: dict[str, set[str]] | None = None
        self._twins: defaultdict[str, set[str]] = defaultdict(set)
        for url in downloaded:
            page = recording.identities.get(url)
            if page is not None:
                self._twins[page.text].add(url)
                self._twins[page.bag].add(url)

    def unreachable(self, lost: Iterable[Collection[str]]) -> list[bool]:
        """For each lost page, given as all URLs that show it: was it beyond the crawl's reach?

        It was when every recorded page that links to one of its URLs was itself not downloaded, and
        either its downloaded twin (same content) has an unrecorded link in the place of that link,
        or it was beyond reach by the same reasoning.
        """
        linkers = self._linkers_of_all()
        beyond = set(self._recording.answers) - self._downloaded
        beyond -= set(self._recording.start_urls)
        changed = True
        while changed:
            failing = {
                url for url in beyond if not all(self._excused(linker, url, beyond) for linker in linkers.get(url, ()))
            }
            beyond -= failing
            changed = bool(failing)
        return [all(url in beyond for url in urls) for urls in lost]

    def linkers(self, url: str) -> set[str]:
        """The recorded URLs that link or redirect to a recorded URL."""
        return self._linkers_of_all().get(url, set())

    def _excused(self, linker: str, url: str, beyond: Collection[str]) -> bool:
        """True when that a crawl missed ``url`` is not because it discarded it on ``linker``."""
        if linker in self._downloaded:
            return False
        if linker in beyond:
            return True
        places = [place for place, target in self._links_of(linker).items() if target == url]
        twins = [self._links_of(twin) for twin in self._twins_of(linker)]
        if any(url in links.values() for links in twins):
            return False
        targets = {links.get(place) for links in twins for place in places} - {None}
        return bool(targets - self._recording.answers.keys())

    def _twins_of(self, url: str) -> set[str]:
        page: PageIdentity | None = self._recording.identities.get(url)
        return self._twins[page.text] | self._twins[page.bag] if page else set()

    def _links_of(self, url: str) -> Mapping[Place, str]:
        """Place -> URL without fragment; a redirect is a link too."""
        if url not in self._links:
            self._links[url] = self._read_links(url)
        return self._links[url]

    def _read_links(self, url: str) -> dict[Place, str]:
        answer = self._recording.answers[url]
        if answer.location:
            return {("Location", 0): urldefrag(urljoin(url, answer.location)).url}
        if answer.status != 200 or "html" not in answer.content_type:
            return {}
        headers = {"Content-Type": answer.content_type}
        response = HtmlResponse(url, body=answer.body, headers=headers)
        found: dict[Place, str] = {}
        counts: Counter[str] = Counter()
        for link in page_links(response):
            text = " ".join(link.text.split())
            found[text, counts[text]] = urldefrag(link.url).url
            counts[text] += 1
        return found

    def _linkers_of_all(self) -> dict[str, set[str]]:
        if self._linkers is None:
            linkers: defaultdict[str, set[str]] = defaultdict(set)
            for url in self._recording.answers:
                for target in self._links_of(url).values():
                    if target in self._recording.answers and target != url:
                        linkers[target].add(url)
            self._linkers = dict(linkers)
        return self._linkers
