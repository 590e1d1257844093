"""The report of a crawl at its close, and the counts that it is made from."""
