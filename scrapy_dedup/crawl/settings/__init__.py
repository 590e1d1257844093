"""The settings of a crawl or a command: their table, how values are read, and the files they name."""
