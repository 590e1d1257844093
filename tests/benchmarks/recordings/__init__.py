"""Recorded sites, and what their pages say, read apart from the package."""
