"""What outlives a request: pages that are fetched or under way, the ledger of filtered requests, and their replay."""
