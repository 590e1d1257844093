"""Time, memory and size: of keys, learning, crawls and masks."""
