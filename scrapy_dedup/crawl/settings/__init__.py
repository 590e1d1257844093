"""The settings of a crawl or a command: a field for each, how values are read, and how a wrong one stops the start."""
