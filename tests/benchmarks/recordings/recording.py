"""A recorded web site: the responses that a real application gave, one JSON object per line.

``{"requested_url": .., "status": .., "location": .., "content_type": .., "depth": ..,
"body_z": base64 of the zlib-compressed body}``, gzipped; or ``"body"``, its text in UTF-8. A recording is static: the same URL always
gives the same bytes, so a crawl of it always comes out the same. Of a site that shows the time on its pages the server
sets that clock anew (see ``site_clock``).

Bodies that are not HTML may have been cut when they were recorded. Where a file
``NAME.labels.tsv.gz`` lies beside the recording, the digest of the whole one that stands there (column ``sha1_body``) is
sent behind what is left of it, so that two answers are the same where the site's were. Where that file has a column ``page``, it
says which URLs are one page.
"""

import base64
import gzip
import json
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from hashlib import blake2b, sha1
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from lxml import etree, html

from ..crawling.noise import has_clock

CLOCK = re.compile(r"\W*\d{1,2}:\d{2}(:\d{2})?\W*")
CHARSET = re.compile(r"charset=[\"']?([\w-]+)", re.IGNORECASE)
UNSEEN = frozenset(("script", "style", "template", "noscript"))


@dataclass(frozen=True, slots=True)
class PageIdentity:
    """The two fingerprints of one page."""

    text: str
    bag: str


def identity(body: bytes, content_type: str) -> PageIdentity:
    """The fingerprints of a body; a body that is not HTML, or is empty, has its bytes as both."""
    root = parse(body, content_type) if "html" in content_type else None
    if root is None:
        digest = fingerprint(body)
        return PageIdentity(digest, digest)
    words = [word for word in " ".join(texts(root)).split() if not CLOCK.fullmatch(word)]
    return PageIdentity(fingerprint(" ".join(words)), fingerprint(" ".join(sorted(words))))


def fingerprint(content: str | bytes) -> str:
    """A digest of text or bytes."""
    data = content.encode("utf-8", "replace") if isinstance(content, str) else content
    return blake2b(data, digest_size=12).hexdigest()


def parse(body: bytes, content_type: str) -> html.HtmlElement | None:
    """The tree of an HTML body, None when there is nothing to parse."""
    charset = CHARSET.search(content_type)
    try:
        parser = html.HTMLParser(encoding=charset[1] if charset else "utf-8")
        return html.document_fromstring(body, parser=parser)
    except (etree.ParserError, etree.XMLSyntaxError, LookupError, ValueError):
        return None


def texts(root: html.HtmlElement) -> Iterator[str]:
    """The visible text nodes of a tree in document order, the title among them."""
    hidden = None
    for event, element in etree.iterwalk(root, events=("start", "end")):
        if event == "start":
            if hidden is None and element.tag in UNSEEN:
                hidden = element
            elif hidden is None and element.text:
                yield element.text
        else:
            if element is hidden:
                hidden = None
            if hidden is None and element.tail and element is not root:
                yield element.tail


@dataclass(frozen=True, slots=True)
class Answer:
    """One recorded response, its body still packed."""

    url: str
    status: int
    location: str | None
    content_type: str
    depth: int
    packed: str

    @property
    def body(self) -> bytes:
        """The recorded body."""
        return zlib.decompress(base64.b64decode(self.packed))

    @property
    def is_html(self) -> bool:
        """Whether the body is HTML."""
        return "html" in self.content_type

    def with_end(self, whole: str | None) -> "Answer":
        """The answer whose body, where it was cut, ends in the digest of the *whole* one."""
        body = self.body
        if self.is_html or whole is None or whole == sha1(body, usedforsecurity=False).hexdigest():
            return self
        return replace(self, packed=packed(body + whole.encode()))

    @property
    def address(self) -> tuple[str, str]:
        """(host, request target): what a server sees of the URL."""
        parts = urlsplit(self.url)
        target = (parts.path or "/") + ("?" + parts.query if parts.query else "")
        return (parts.hostname or "", target)


class Recording:
    """The answers of one site, by URL, in the order in which they were recorded."""

    def __init__(
        self,
        name: str,
        answers: Iterable[Answer],
        bags: dict[str, str] | None = None,
    ) -> None:
        """*bags* are labels by URL: digests of words in any order."""
        self.name = name
        self.bags = bags or {}
        self.answers: dict[str, Answer] = {}
        for answer in answers:
            self.answers.setdefault(answer.url, answer)
        if not self.answers:
            raise ValueError(f"{name}: no recorded response in it")

    @classmethod
    def load(cls, path: Path, truth: Path | None = None) -> "Recording":
        """Read a recording, and the labels beside it when they are there.

        *truth* are other labels, which say of the URLs in them which are one page: those of a crawl without
        cookies, say, where cookies make pages differ.
        """
        with gzip.open(path, "rt", encoding="utf-8") as lines:
            answers = [
                Answer(
                    # A fragment never reached the server that was recorded.
                    url=urldefrag(row["requested_url"]).url,
                    status=row["status"],
                    location=row.get("location"),
                    content_type=row.get("content_type") or "",
                    depth=row.get("depth") or 0,
                    packed=row["body_z"] if "body_z" in row else packed(row["body"].encode()),
                )
                for row in map(json.loads, lines)
            ]
        name = path.name.split(".")[0]
        labels = path.with_name(f"{name}.labels.tsv.gz")
        pages: dict[str, str] = {}
        if labels.exists():
            whole = read_labels(labels, "sha1_body")
            answers = [each.with_end(whole.get(each.url)) for each in answers]
            pages = read_labels(labels, "page", optional=True)
        if truth is None:
            return cls(name, answers, pages)
        return cls(truth.name.split(".")[0], answers, read_labels(truth, "sha1_bag_of_words"))

    @property
    def start_urls(self) -> list[str]:
        """Where the recorded crawl began (depth 0)."""
        first = min(answer.depth for answer in self.answers.values())
        return [answer.url for answer in self.answers.values() if answer.depth == first]

    @cached_property
    def hosts(self) -> frozenset[str]:
        """All host names of the recording, without ports."""
        return frozenset(urlsplit(url).hostname or "" for url in self.answers)

    @cached_property
    def port(self) -> int:
        """The port on which the site was recorded; the links in its pages name it."""
        return Counter(urlsplit(url).port or 80 for url in self.answers).most_common(1)[0][0]

    @cached_property
    def has_clock(self) -> bool:
        """Whether its own pages show when they were made; their fingerprints are without it."""
        return has_clock(each.body for each in self.answers.values() if each.status == 200 and each.is_html)

    @cached_property
    def identities(self) -> dict[str, PageIdentity]:
        """The fingerprints of every page (status 200), by recorded URL; of other labels, those that they have."""
        return {
            url: self._identity(answer)
            for url, answer in self.answers.items()
            if answer.status == 200 and (not self.bags or url in self.bags)
        }

    def _identity(self, answer: Answer) -> PageIdentity:
        body = answer.body
        if answer.url in self.bags:
            return PageIdentity(identity(body, answer.content_type).text, fingerprint(self.bags[answer.url]))
        return identity(body, answer.content_type)

    def moved(self, text: str, old: int, new: int) -> str:
        """A text whose absolute links to the site name port ``old``, with port ``new`` instead."""
        if old != new:
            for host in self.hosts:
                text = text.replace(f"{host}:{old}", f"{host}:{new}")
                text = text.replace(f"{host}%3A{old}", f"{host}%3A{new}")
        return text

    def moved_body(self, body: bytes, port: int) -> bytes:
        """A body as the site would send it on another port."""
        if port == self.port:
            return body
        return self.moved(body.decode("latin-1"), self.port, port).encode("latin-1")


def read_labels(labels: Path, column: str, *, optional: bool = False) -> dict[str, str]:
    """URL -> what stands in *column* of a tab-separated file of labels; nothing where an optional one is not there."""
    with gzip.open(labels, "rt", encoding="utf-8") as lines:
        columns = next(lines).rstrip("\n").split("\t")
        if optional and column not in columns:
            return {}
        url, digest = columns.index("requested_url"), columns.index(column)
        return {urldefrag(row[url]).url: row[digest] for row in (line.rstrip("\n").split("\t") for line in lines)}


def write_recording(path: Path, answers: Iterable[Answer]) -> None:
    """Write answers in the format that `Recording.load` reads."""
    with gzip.open(path, "wt", encoding="utf-8", compresslevel=1) as lines:
        for answer in answers:
            row = {
                "requested_url": answer.url,
                "status": answer.status,
                "location": answer.location,
                "content_type": answer.content_type,
                "depth": answer.depth,
                "body_z": answer.packed,
            }
            lines.write(json.dumps(row) + "\n")


def answer(
    url: str,
    body: str = "",
    *,
    status: int = 200,
    location: str | None = None,
    content_type: str = "text/html; charset=utf-8",
    depth: int = 1,
) -> Answer:
    """An answer made by hand, for generated recordings."""
    return Answer(url, status, location, content_type, depth, packed(body.encode()))


def packed(body: bytes) -> str:
    """A body as recordings hold it."""
    return base64.b64encode(zlib.compress(body)).decode("ascii")
