"""What learning has to say of a site."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from ..rules import Rule
from .config import current
from .data.clusters import Clusters
from .data.judgement import Judgement, SiteUrls
from .phrases import counted, not_evidence

MOST_TEMPLATES = 3
_to_delimiter = re.compile(r".*[/?&;=.]", re.DOTALL)


@dataclass(frozen=True, slots=True)
class SiteReport:
    """The outcome for one site; counts are of distinct URLs in normal form.

    ``urls``: URLs that are evidence; ``pages``: distinct pages (clusters); ``duplicates``: URLs that
    lead to a page another one leads to; ``rules``: rules that act; ``removed``: duplicates that the
    rules remove; ``at_risk``: pages that the rules are expected to lose, on the URLs that they were learned
    from; ``notes``: what the user should know.
    """

    site: str
    urls: int
    pages: int
    duplicates: int
    rules: int
    removed: int
    at_risk: float
    notes: tuple[str, ...] = field(default=())
    one_answer: str = ""
    """That of the notes which says of what URLs nobody can tell whether they are one page; "" without such URLs."""

    @property
    def share(self) -> float:
        """Return the share of duplicates that the rules remove, 0.0 where there are none."""
        return self.removed / self.duplicates if self.duplicates else 0.0


def site_report(
    site: str, found: Clusters, rules: Sequence[Rule], judgement: Judgement, decided: Sequence[str] | None = None
) -> SiteReport:
    """Return the report of a site; *decided* are the notes of a published method, where one decides."""
    acting = sum(rule.status.acts for rule in rules)
    # Odd responses are evidence of nothing, and none of them is a duplicate.
    urls, pages = len(judgement.sample.urls), len(set(judgement.sample.content))
    return SiteReport(
        site,
        urls,
        pages,
        urls - pages,
        acting,
        judgement.removed,
        round(_at_risk(judgement), 1) if acting else 0.0,
        tuple(_notes(found, acting, judgement, decided)),
    )


def one_answer(alike: SiteUrls) -> str:
    """Return what is to be said of URLs that show one answer, as different pages may do; "" where there are few of a kind."""
    showing: defaultdict[int, list[str]] = defaultdict(list)
    for url, content in zip(alike.urls, alike.content, strict=True):
        showing[content].append(url)
    most = Counter[str]()
    for urls in showing.values():
        if len(urls) >= current().proposed_groups:
            template = _in_common(urls)
            most[template] = max(most[template], len(urls))
    if not most:
        return ""
    told = ", ".join(f"{urls} URLs of {template}" for template, urls in most.most_common(MOST_TEMPLATES))
    if len(most) > MOST_TEMPLATES:
        told += f", and {len(most) - MOST_TEMPLATES} more templates"
    return (
        f"{told} show one answer{' each' if len(most) > 1 else ''}: whether these are one page cannot be told, so they are "
        "not compared, and nothing is filtered on account of them"
    )


def _in_common(urls: Sequence[str]) -> str:
    """Return what URLs have in common at both ends, with an ellipsis for what differs.

    >>> _in_common(["http://a.example/p/12/news?x=1", "http://a.example/p/17/news?x=1"])
    'http://a.example/p/.../news?x=1'
    """
    head = _common(urls)
    left = [url[len(head) :][::-1] for url in urls]
    return f"{head}...{_common(left)[::-1]}"


def _common(texts: Sequence[str]) -> str:
    """Return what texts begin with, up to a delimiter."""
    first, last = min(texts), max(texts)
    same = next((place for place, char in enumerate(first) if last[place] != char), len(first))
    found = _to_delimiter.match(first[:same])
    return found[0] if found else ""


def _at_risk(judgement: Judgement) -> float:
    """Return how many pages the rules are expected to lose."""
    return judgement.verdict().lost


def _notes(found: Clusters, acting: int, judgement: Judgement, decided: Sequence[str] | None) -> list[str]:
    notes = list(decided or ())
    if not found.urls:
        notes.append("nothing to learn: no page with enough text was recorded")
    elif not found.duplicates:
        notes.append("nothing to learn: no two URLs led to the same page")
    elif not acting and decided is None:
        notes.append(
            f"insufficient evidence: {counted(found.duplicates, 'duplicate')}, but their patterns have too few witness "
            "groups, or counterexamples"
        )
    if judgement.lost:
        notes.append(f"the rules merge {counted(judgement.lost, 'page')} that differed when they were recorded")
    if found.noisy:
        notes.append(f"noise: {found.noisy} of {found.compared} second responses to a URL differed from the first")
    if found.left_out:
        notes.append(not_evidence(found.left_out))
    return notes
