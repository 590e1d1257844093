"""What the commands print: explained URLs, pages, filtered requests, what was learned."""
