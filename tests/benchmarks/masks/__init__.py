"""Masks of transient content on made-up sites, in crawls at known times, and on folders of real versions."""
