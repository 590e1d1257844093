"""Masks of transient content on made-up sites, and in crawls at known times."""
