"""Which places are transient: the features of each, their score, and the words that change."""
