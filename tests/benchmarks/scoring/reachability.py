"""Which lost pages a crawl lost, and which the recording's edge hides from it.

A recording stops at a cap. A crawl that takes page R for its duplicate L follows R's links instead
of L's; where R's link to a page is an unrecorded form of L's link, the page cannot be reached in this
closed world, though on the real site it would have been. Such a page is reported apart, as
*unreachable in the closed world*; every other lost page is the rules' fault.
"""

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Collection, Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import urldefrag, urljoin

from scrapy.http import HtmlResponse

from scrapy_dedup import RuleBook

from ..crawling.spiders import page_links
from ..recordings.recording import Recording

if TYPE_CHECKING:
    from ..recordings.recording import PageIdentity

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
