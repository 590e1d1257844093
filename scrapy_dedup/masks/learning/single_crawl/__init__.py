"""What depends on the visit and not on the page, found in a single crawl."""
