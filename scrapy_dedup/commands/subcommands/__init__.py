"""The subcommands of ``scrapy dedup``: what each is asked, and what it then does."""
