"""Pages in archives and caches, sketched as a crawl would have sketched them."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Final

from ..content.fingerprints import MAX_BODY, ContentKind
from ..content.html import decode
from ..content.page_content import (
    AT_ONCE,
    encoding_of_body,
    has_closing_tags,
    identity_headers,
    kind_of_response,
    link_in_header,
    page_content,
)
from ..content.versions import Version
from ..observation import Observation
from ..urls.joining import joined
from ..urls.templates import template_of

PER_TEMPLATE: Final = 100
"""Pages of a URL template whose texts are kept, as in a crawl; so are those of further visits to them."""
MOST_TEMPLATES: Final = 5_000

Pack = Callable[[str], bytes]
"""From the HTML of a page to what is kept of it."""
Headers = Callable[[str], Sequence[str]]
"""From the name of a header to its values."""


@dataclass(slots=True)
class PageReader:
    """Makes observations of responses."""

    max_body: int = MAX_BODY
    #: None where texts are not to be kept, so that no transient content is learned.
    pack: Pack | None = None
    #: Takes the type of the content and the body; Scrapy's releases guess differently where nothing is declared.
    encoding_of: Callable[[str, bytes], str] = encoding_of_body
    _seen: Counter[int] = field(default_factory=Counter, init=False)
    _kept: set[int] = field(default_factory=set, init=False)

    def observation(
        self, url: str, status: int, headers: Headers, body: bytes, *, at: float | None
    ) -> Observation | None:
        """Return what a crawl would have recorded of a response with a decompressed body; None of a robots.txt.

        Raises ObservationError for a URL that is none.
        """
        if url.partition("?")[0].endswith("/robots.txt"):
            return None
        location = headers("Location")
        if location and 300 <= status < 400:
            return Observation(url, "", status=status, redirect=joined(url, location[0]) or None, time=at)
        if status != 200:
            return Observation(url, "", status=status, time=at)
        content_type = (headers("Content-Type") or ("",))[-1]
        kind = kind_of_response(content_type, body, url)
        is_page = kind is ContentKind.HTML
        encoding = self.encoding_of(content_type, body) if is_page and len(body) <= AT_ONCE else None
        content = page_content(body, content_type, url, kind=kind, encoding=encoding, max_body=self.max_body)
        prints = content.fingerprints
        version = None
        if is_page and self.pack is not None and len(body) <= self.max_body and self._is_kept(url):
            version = Version.from_bytes(self.pack(decode(body, content_type, encoding)))
        return Observation(
            url,
            prints.text,
            canonical=content.canonical or link_in_header(", ".join(headers("Link")), "canonical", url),
            time=at,
            length=len(body),
            bag=prints.bag,
            headers=identity_headers(headers),
            sketch=prints.sketch,
            words=prints.words,
            version=version,
            ends=True if is_page and has_closing_tags(body) else None,
            password=content.password,
        )

    def _is_kept(self, url: str) -> bool:
        name = hash(url)
        if name in self._kept:
            return True
        kind = hash(template_of(url))
        number = self._seen[kind]
        if number >= PER_TEMPLATE or (not number and len(self._seen) >= MOST_TEMPLATES):
            return False
        self._seen[kind] += 1
        self._kept.add(name)
        return True
