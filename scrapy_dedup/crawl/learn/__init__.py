"""Learning in a crawl: when, in which process, and new rules taken over while the crawl goes on."""
