import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..base import Project, Subcommand
from ..problems import DONE, Mistake, Nothing, output_file

if TYPE_CHECKING:
    from ...crawl.settings.dedup_settings import DedupSettings
    from ...masks.model import Mask
    from ..showing.shown_page import ShownPage


class ExplainPage(Subcommand):
    """``scrapy dedup page``: a page with its transient parts marked, and what stood there before.

    Exit codes: 0 done; 1 the page cannot be had, or nothing is known of its site; 2 a mistake in what was asked.
    """

    name = "page"
    syntax = "[options] URL|FILE"
    summary = "show a page with its transient parts marked"
    description = (
        "Show what the mask of a site finds transient on a page, which is fetched, taken from the store, or read from a "
        "file of HTML: its texts, and each place with what stands there now and what stood there before. "
        "Exit codes: 0 done, 1 the page cannot be had or nothing is known of its site, 2 a mistake in what was asked."
    )
    json_help = "print a line of JSON of the page, and one of each place"

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="the URL that the page in FILE is of: it names the site and the kind of page")
        parser.add_argument(
            "--from-store",
            action="store_true",
            help="show the page as the store has it, the latest version; nothing is fetched",
        )
        parser.add_argument("--html", metavar="OUT", help="write the page into OUT, with its transient parts marked")

    def act(self, project: Project, args: list[str], opts: argparse.Namespace) -> int:
        if len(args) != 1:
            raise UsageError("name one page: a URL, or a file of HTML")
        from ...report.rendering import write_text
        from ...urls import site_of_url
        from ..showing.shown_page import marked_page, print_page

        settings = project.dedup_settings(opts.spider)
        is_url = "://" in args[0]
        if not is_url and not Path(args[0]).exists():
            raise Mistake(f"{args[0]} is no URL and no file; a URL begins with http:// or https://")
        for problem, is_wrong in {
            "--url goes with a FILE": is_url and opts.url,
            "--from-store goes with a URL": opts.from_store and not is_url,
            "--html and --from-store do not go together: the store keeps texts, and no HTML": opts.from_store
            and opts.html,
        }.items():
            if is_wrong:
                raise UsageError(problem)
        url = args[0] if is_url else opts.url
        site = site_of_url(url, groups=settings.site_groups) if url else ""
        if url and not site:
            raise Mistake(f"{url} is no URL of a site; a right one: http://example.com/page")
        output = output_file(opts.html, "--html") if opts.html else None
        mask = mask_for(settings, site)
        page, html = self._page(project, settings, site, args[0], opts)
        print_page(page, mask, strip=settings.strip if settings.content_fields else "", json=opts.json)
        if output is not None:
            write_text(output, marked_page(html, mask, url))
            print(f"The page with marks is in {output}.", file=sys.stderr if opts.json else sys.stdout)
        return DONE

    def _page(
        self, project: Project, settings: "DedupSettings", site: str, name: str, opts: argparse.Namespace
    ) -> tuple["ShownPage", str]:
        """Return the page that is asked for, and its HTML; that of a page from the store is empty."""
        from ...pages.response import version_of
        from ..showing.shown_page import ShownPage, stored_versions

        url = name if "://" in name else opts.url
        before = stored_versions(settings, site, url, needed=opts.from_store) if url else []
        if name != url:
            html = Path(name).read_text(encoding="utf-8", errors="replace")
            return ShownPage(version_of(html), url, "file", before=before), html
        if not opts.from_store:
            from ..console import progress
            from ..showing.shown_page import fetched

            try:
                with progress(f"fetching {url}"):
                    html = fetched(url, project.all_settings(opts.spider))
            except Nothing as problem:
                if not before or opts.html:
                    raise
                print(f"dedup {self.name}: {problem}", file=sys.stderr)
            else:
                return ShownPage(version_of(html), url, "web", before=before), html
        (at, version), *older = before
        return ShownPage(version, url, "store", at, older), ""


def mask_for(settings: "DedupSettings", site: str) -> "Mask":
    """Return the mask of *site*; of the only site there is where none is named. Raises Mistake and Nothing."""
    from ...masks.files import load_masks

    masks = load_masks(settings.rule_directories)
    if not masks:
        raise Nothing(
            "there is no mask yet: crawl a site, then run scrapy learn-rules; it compares pages that were fetched twice, in one "
            "crawl or in two"
        )
    if not site:
        if len(masks) > 1:
            raise Mistake(f"name the page's URL (--url): there are masks of {', '.join(sorted(masks))}")
        return next(iter(masks.values()))
    if site not in masks:
        raise Nothing(f"there is no mask of {site}, but of {', '.join(sorted(masks))}")
    return masks[site]
