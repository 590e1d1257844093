import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from .base import DONE, DedupCommand, Mistake, Nothing

if TYPE_CHECKING:
    from ..crawl.settings import DedupSettings
    from ..masks.model import Mask


class ExplainPage(DedupCommand):
    """``scrapy explain-page``: a page with its transient parts marked.

    Exit codes: 0 done; 1 the page cannot be had, or nothing is known of its site; 2 a mistake in what was asked.
    """

    name = "explain-page"

    def syntax(self) -> str:
        return "[options] URL|FILE"

    def short_desc(self) -> str:
        return "Show a page with its transient parts marked"

    def long_desc(self) -> str:
        return (
            "Show what the mask of a site finds transient on a page, which is fetched, or read from a file of HTML. "
            "Exit codes: 0 done, 1 the page cannot be had or nothing is known of its site, 2 a mistake in what was asked."
        )

    def add_options(self, parser: argparse.ArgumentParser) -> None:
        super().add_options(parser)
        parser.add_argument("--url", help="the URL that the page in FILE is of: it names the site and the kind of page")
        parser.add_argument("--html", metavar="OUT", help="write the page into OUT, with its transient parts marked")

    def act(self, args: list[str], opts: argparse.Namespace) -> int:
        if len(args) != 1:
            raise UsageError("name one page: a URL, or a file of HTML")
        from ..urls import site_of_url
        from .fetching import fetched
        from .page_explanation import marked_page, print_page

        settings = self.dedup_settings(opts.spider)
        is_url = "://" in args[0]
        if is_url and opts.url:
            raise UsageError("--url goes with a FILE")
        url = args[0] if is_url else opts.url
        site = site_of_url(url, groups=settings.site_groups) if url else ""
        if url and not site:
            raise Mistake(f"{url} is no URL of a site; a right one: http://example.com/page")
        mask = mask_for(settings, site)
        if is_url:
            page = fetched(url, self.all_settings(opts.spider))
        else:
            page = Path(args[0]).read_text(encoding="utf-8", errors="replace")
        print_page(page, mask, url)
        if opts.html:
            Path(opts.html).write_text(marked_page(page, mask, url), encoding="utf-8")
            print(f"The page with marks is in {opts.html}.")
        return DONE


def mask_for(settings: "DedupSettings", site: str) -> "Mask":
    """Return the mask of *site*; of the only site there is where none is named. Raises Mistake and Nothing."""
    from ..masks.files import load_masks

    masks = load_masks(settings.rule_directories)
    if not masks:
        raise Nothing("there is no mask yet: crawl a site twice, then run scrapy learn-rules")
    if not site:
        if len(masks) > 1:
            raise Mistake(f"name the page's URL (--url): there are masks of {', '.join(sorted(masks))}")
        return next(iter(masks.values()))
    if site not in masks:
        raise Nothing(f"there is no mask of {site}, but of {', '.join(sorted(masks))}")
    return masks[site]
