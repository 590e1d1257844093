"""The identity of a request: its canonical key, its callback, and what the fingerprinter sees."""
