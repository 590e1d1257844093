"""Generated forums with known truth: which URL leads to which page.

A post's link leads to the page of the thread on which the post stands, and nothing in it says which.
The traps: numbers of users, of printed posts and of offsets that coincide with numbers of posts;
elements that every page has (``box1``, ``top``); lists of recent posts that hold the elements of posts
whose pages are elsewhere; last-post links on pages that do not hold the post.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from random import Random
from urllib.parse import parse_qsl, urlsplit

STYLES = ("phpbb", "smf", "path")
Page = tuple[str, int, int]
"""What a URL leads to: its kind and two numbers, such as ("thread", 7, 2)."""

BOXES = 4
LIST = 12
"""Entries of a page of recent posts."""


@dataclass
class Forum:
    """A forum in one of three styles of URLs; the same seed gives the same forum."""

    style: str = "phpbb"
    seed: int = 1
    threads: int = 40
    boards: int = 3
    users: int = 60
    per_page: int = 6
    most_posts: int = 20
    recent: int = 4
    """Pages of recent posts."""
    posts: dict[int, tuple[int, int, int]] = field(default_factory=dict)
    """Number of a post -> (thread, place in the thread, user)."""
    of_thread: dict[int, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rng = Random(self.seed)
        slots = [t for t in range(1, self.threads + 1) for _ in range(rng.randint(1, self.most_posts))]
        rng.shuffle(slots)  # posts are numbered as they are written, all over the forum
        for number, thread in enumerate(slots, 1):
            own = self.of_thread.setdefault(thread, [])
            self.posts[number] = (thread, len(own), rng.randint(1, self.users))
            own.append(number)

    # URLs

    def thread_url(self, thread: int, page: int = 0) -> str:
        start = page * self.per_page
        if self.style == "smf":
            return f"/index.php?topic={thread}.{start}"
        if self.style == "phpbb":
            return f"/viewtopic.php?f={self.board_of(thread)}&t={thread}" + (f"&start={start}" if start else "")
        return f"/threads/{thread}" + (f"/page-{page + 1}" if page else "")

    def post_url(self, post: int) -> str:
        if self.style == "smf":
            return f"/index.php?topic={self.posts[post][0]}.msg{post}#msg{post}"
        if self.style == "phpbb":
            return f"/viewtopic.php?p={post}#p{post}"
        return f"/posts/{post}"

    def anchor(self, post: int) -> str:
        return {"smf": f"msg{post}", "phpbb": f"p{post}", "path": f"post-{post}"}[self.style]

    def user_url(self, user: int) -> str:
        if self.style == "smf":
            return f"/index.php?action=profile;u={user}"
        return f"/memberlist.php?u={user}" if self.style == "phpbb" else f"/members/{user}"

    def print_url(self, post: int) -> str:
        return f"/index.php?action=print;p={post}" if self.style == "smf" else f"/print.php?p={post}"

    def board_of(self, thread: int) -> int:
        return thread % self.boards + 1

    # Truth

    def page_of(self, target: str) -> Page | None:
        """Return what a path with its query leads to; None if that is no page."""
        parts = urlsplit(target)
        query = dict(parse_qsl(parts.query.replace(";", "&")))
        path = parts.path
        numbers = [int(number) for number in re.findall(r"[0-9]+", path)]
        name = re.sub(r"[0-9]+", "N", path)
        if name in {"/threads/N", "/threads/N/page-N"}:
            return self._thread(numbers[0], (numbers[1] - 1) * self.per_page if len(numbers) > 1 else 0)
        if name == "/posts/N":
            return self._post(numbers[0])
        if name in {"/boards/N", "/recent/N", "/news/N", "/members/N"}:
            return name[1:-2], numbers[0], 0
        if path == "/print.php" or query.get("action") == "print":
            return "print", int(query["p"]), 0
        if "u" in query:
            return "members", int(query["u"]), 0
        if "p" in query:
            return self._post(int(query["p"]))
        if "t" in query:
            return self._thread(int(query["t"]), int(query.get("start", 0)))
        if "topic" in query:
            thread, _, rest = query["topic"].partition(".")
            return self._post(int(rest[3:])) if rest.startswith("msg") else self._thread(int(thread), int(rest or 0))
        return ("index", 0, 0) if path == "/" else None

    def _thread(self, thread: int, start: int) -> Page | None:
        return ("thread", thread, start // self.per_page) if start < len(self.of_thread.get(thread, ())) else None

    def _post(self, post: int) -> Page | None:
        if post not in self.posts:
            return None
        thread, place, _ = self.posts[post]
        return "thread", thread, place // self.per_page

    def pages(self) -> set[Page]:
        """Return all pages that links lead to."""
        found = {("index", 0, 0)}
        found |= {("boards", board, 0) for board in range(1, self.boards + 1)}
        found |= {("recent", page, 0) for page in range(1, self.recent + 1)}
        found |= {("news", box, 0) for box in range(1, BOXES + 1)}
        found |= {("thread", t, n // self.per_page) for t, own in self.of_thread.items() for n in range(len(own))}
        found |= {("members", user, 0) for _, _, user in self.posts.values()}
        return found | {("print", post, 0) for post in self.posts if post % 5 == 0}

    # Pages

    def html(self, target: str) -> str | None:
        """Return the page that a path with its query leads to; None if there is none."""
        page = self.page_of(target)
        if page is None:
            return None
        body = "\n".join(self._body(page))
        boxes = "".join(f'<div id="box{n}"><a href="/news/{n}">news {n}</a></div>' for n in range(1, BOXES + 1))
        return (
            f"<!doctype html><html><head><title>{' '.join(map(str, page))}</title></head><body>"
            f'<a id="top"></a><p>{text(page, 30)}</p>{boxes}{body}<a href="#top">top</a></body></html>'
        )

    def _body(self, page: Page) -> Iterator[str]:
        kind, number, place = page
        if kind == "index":
            yield from (link(f"/boards/{board}") for board in range(1, self.boards + 1))
            yield from (link(f"/recent/{one}") for one in range(1, self.recent + 1))
        elif kind == "boards":
            for thread, own in self.of_thread.items():
                if self.board_of(thread) == number:
                    yield link(self.thread_url(thread))
                    if thread % 4 == 0:
                        yield link(self.post_url(own[-1]))
        elif kind == "thread":
            own = self.of_thread[number]
            for post in own[place * self.per_page : (place + 1) * self.per_page]:
                yield self._post_html(post)
            for other in range(-(-len(own) // self.per_page)):
                yield link(self.thread_url(number, other))
        elif kind == "recent":
            numbers = sorted(self.posts)[-LIST * number :][:LIST]
            for post in numbers:
                yield f'<div id="{self.anchor(post)}">{text(("post", post), 8)}{link(self.post_url(post))}</div>'
        elif kind == "members":
            for post, (_, _, user) in self.posts.items():
                if user == number:
                    yield link(self.post_url(post))

    def _post_html(self, post: int) -> str:
        _, _, user = self.posts[post]
        printed = link(self.print_url(post)) if post % 5 == 0 else ""
        return (
            f'<div id="{self.anchor(post)}" class="post"><p>{text(("post", post), 40)}</p>'
            f"{link(self.post_url(post))}{link(self.user_url(user))}{printed}</div>"
        )


def link(target: str) -> str:
    """Return a link."""
    return f'<a href="{target.replace("&", "&amp;")}">link</a>'


_WORDS = [
    f"{a}{b}{c}" for a in ("ka", "lo", "mi", "ne", "su") for b in ("ra", "to", "vi", "ze") for c in ("n", "s", "t")
]


def text(seed: object, words: int) -> str:
    """Return words that are the same for the same seed."""
    rng = Random(repr(seed))
    return " ".join(rng.choice(_WORDS) for _ in range(words))


def crawled(forum: Forum, base: str, most: int = 1_000_000) -> Mapping[str, tuple[Page, str]]:
    """Return what a crawl of all links fetches: URL -> (page, HTML), in the order of a queue."""
    queue = ["/"]
    found: dict[str, tuple[Page, str]] = {}
    seen = {"/"}
    for target in queue:
        page, html = forum.page_of(target), forum.html(target)
        if page is None or html is None or len(found) >= most:
            continue
        found[base + target] = page, html
        for each in links(html):
            if each.partition("#")[0] not in seen:
                seen.add(each.partition("#")[0])
                queue.append(each.partition("#")[0])
    return found


def links(html: str) -> list[str]:
    """Return the targets of the links of a page that is made here."""
    return [each.replace("&amp;", "&") for each in re.findall(r'href="([^"#][^"]*)"', html)]
