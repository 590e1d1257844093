"""Real changes of texts: whether a mask learned from eight versions of a text makes the next two equal.

    python -m tests.benchmarks.curated_texts VERSIONS_GIT [--most N] [--show N] [--json] [--check]

takes the curated texts of a public versions repository of Open Terms Archive as if they were pages: each paragraph is a
paragraph of a page. A version is only there where the text changed, so that of ten versions that follow each other the last two
differ truly. Left out are those whose text was there before (texts that take turns pass), was extracted anew from
the same page, or differs in addresses of links only. Nothing should be made equal. Nothing is fetched, and nothing is written.
"""

import argparse
import json
import re
import sys
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from html import escape
from pathlib import Path

from scrapy_dedup import Mask, learn_mask
from scrapy_dedup.content.versions import version_of

from .masks.folder import visible
from .recordings.git_pages import Recorded, Repository, UnusableRepository, documents, is_again, says
from .scoring.checks import Check, report

LEARNED, RUN = 8, 10
_paragraphs = re.compile(r"\n\s*\n|\n(?=[*-] )").split
_heading = re.compile(r"(#{1,6}) ").match
_link = re.compile(r"\[([^\]]*)\]\((\S+?)\)")


@dataclass(frozen=True, slots=True)
class Change:
    """A true change of a text that is told without a mask, and in which views it is not told under it."""

    document: str
    commit: str
    compared: bool
    text: bool


def page_of(markdown: str) -> str:
    """The page that shows a text.

    >>> page_of("[Home](/x) & more")
    '<html><body><main><p><a href="/x">Home</a> &amp; more</p></main></body></html>'
    """
    shown = []
    for part in filter(None, map(str.strip, _paragraphs(markdown))):
        heading = _heading(part)
        tag = f"h{len(heading[1])}" if heading else "li" if part.startswith(("* ", "- ")) else "p"
        text = _link.sub(r'<a href="\2">\1</a>', escape(part.lstrip("#*- ")))
        shown.append(f"<{tag}>{text}</{tag}>")
    return "<html><body><main>" + "\n".join(shown) + "</main></body></html>"


def changes(repository: Repository, most: int | None) -> Iterator[Change]:
    """What becomes of the last change of each run, of each document the newest *most* runs."""
    found = documents(repository.recorded(".md"))
    if not any(len(own) >= RUN for own in found.values()):
        raise UnusableRepository(f"{repository.given} has no curated text (*.md) in {RUN} versions")
    for name, own in sorted(found.items()):
        runs = range(len(own), RUN - 1, -1)
        for end in runs if most is None else runs[:most]:
            run = own[end - RUN : end]
            is_back = any(each.blob == run[-1].blob for each in own[: end - 1])
            if not is_back and not is_again(run[-1]) and (change := change_of(name, run, repository)):
                yield change


def change_of(document: str, run: Sequence[Recorded], repository: Repository) -> Change | None:
    """The last change of a run; None where it is of addresses only, or is not told even without a mask."""
    bodies = [repository.blob(each.blob) for each in run]
    if says(bodies[-2]) == says(bodies[-1]):
        return None
    pages = [page_of(body.decode(errors="replace")) for body in bodies if body is not None]
    if len(pages) < RUN:
        return None
    one, two = map(version_of, pages[LEARNED:])
    if Mask().masked(one) == Mask().masked(two):
        return None
    url = f"http://terms.example/{document}"
    mask = learn_mask({url: pages[:LEARNED]}, times={url: [each.time for each in run[:LEARNED]]})
    plain = [visible(page) for page in pages[LEARNED:]]
    stripped = [visible(mask.strip(page, url=url)) for page in pages[LEARNED:]]
    return Change(
        document=document,
        commit=run[-1].commit,
        compared=mask.masked(one, url=url) == mask.masked(two, url=url),
        text=plain[0] != plain[1] and stripped[0] == stripped[1],
    )


def main(argv: Sequence[str] | None = None) -> int:
    """Run the benchmark; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks.curated_texts", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("versions", type=Path, metavar="VERSIONS_GIT", help="the curated texts: a git directory")
    parser.add_argument("--most", type=int, metavar="N", help="of each document the newest N runs of ten (all)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="so many changes that are not told")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--check", action="store_true", help="exit non-zero on a missed figure")
    args = parser.parse_args(argv)
    try:
        with closing(Repository(args.versions)) as repository:
            found = list(changes(repository, args.most))
    except UnusableRepository as error:
        print(error, file=sys.stderr)
        return 2
    compared, text = (sum(getattr(each, view) for each in found) for view in ("compared", "text"))
    if args.json:
        print(json.dumps({"changes": [asdict(each) for each in found], "compared": compared, "text": text}, indent=2))
    else:
        print(f"{len(found)} true changes of {len({each.document for each in found})} documents")
        print(f"made equal: {compared} for comparison, {text} in stripped text")
        for each in [each for each in found if each.compared or each.text][: args.show]:
            print(f"made equal: {each.document}, {each.commit[:10]}")
    wanted = [
        Check("true changes", len(found), least=1),
        Check("made equal for comparison", compared, most=0),
        Check("made equal in stripped text", text, most=0),
    ]
    return report(wanted) if args.check else 0


if __name__ == "__main__":
    sys.exit(main())
