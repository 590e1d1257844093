import argparse

from scrapy.commands import ScrapyCommand


class ExplainUrl(ScrapyCommand):
    requires_crawler_process = False

    def short_desc(self) -> str:
        return "explain_url"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        raise NotImplementedError
