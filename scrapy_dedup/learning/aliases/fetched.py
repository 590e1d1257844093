"""What was fetched: URL -> content, redirects followed."""

from collections.abc import Iterable

from ...masks.model import Mask
from ...observation import Observation
from ...urls import normal_form
from ..contents import Contents, NoEvidence

MAX_HOPS = 5


class Fetched:
    """The contents of the URLs that were fetched, each a number.

    Of several responses to a URL whose texts differ, none is evidence.
    """

    def __init__(self, observations: Iterable[Observation], mask: Mask | None = None) -> None:
        self._numbers: dict[str, int] = {}
        self._content: dict[str, int | None] = {}
        self._redirects: dict[str, str] = {}
        self._asked: dict[str, int | None] = {}
        #: (page, declaration, URL) as the observations tell them.
        self.declared: list[tuple[str, str, str]] = []
        seen = list(observations)
        contents = Contents(seen, mask)
        for observation in seen:
            self._add(observation, contents)

    def _add(self, observation: Observation, contents: Contents) -> None:
        url = normal_form(observation.url)
        if observation.redirect is not None and observation.status != 200:
            self._redirects[url] = normal_form(observation.redirect)
            self.declared.append((observation.redirect, "redirect", observation.url))
            return
        content = contents.of(observation)
        if isinstance(content, NoEvidence) or not content.is_told:
            return
        number = self._numbers.setdefault(content.identity, len(self._numbers))
        known = self._content.setdefault(url, number)
        if known != number:
            self._content[url] = None  # it changes by itself
        if observation.canonical:
            self.declared.append((observation.url, "canonical", observation.canonical))

    def unstable(self, urls: Iterable[str]) -> None:
        """Take the content of *urls*, which changed from one response to the next, for no evidence."""
        self._asked.clear()
        for url in urls:
            self._content[normal_form(url)] = None

    def content(self, url: str) -> int | None:
        """Return the content that *url* leads to; None if it was not fetched or is no evidence."""
        if url not in self._asked:
            self._asked[url] = self._found(normal_form(url))
        return self._asked[url]

    def _found(self, url: str) -> int | None:
        for _ in range(MAX_HOPS):
            if url in self._content:
                return self._content[url]
            target = self._redirects.get(url)
            if target is None:
                return None
            url = target
        return None

    def own(self, url: str) -> int | None:
        """Return the content that *url* itself was answered with, no redirect followed."""
        return self._content.get(normal_form(url))

    def __contains__(self, url: str) -> bool:
        return self.content(url) is not None
