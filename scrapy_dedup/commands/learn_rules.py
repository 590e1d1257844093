import argparse

from scrapy.commands import ScrapyCommand


class LearnRules(ScrapyCommand):
    requires_crawler_process = False

    def short_desc(self) -> str:
        return "learn_rules"

    def run(self, args: list[str], opts: argparse.Namespace) -> None:
        raise NotImplementedError
