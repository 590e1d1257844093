"""The lifetime of rules that act already: whether they stay, how they are watched, and when they may return."""
