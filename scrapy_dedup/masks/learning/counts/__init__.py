"""Counts of changes: how often the texts of each place changed from version to version."""
