"""Recorded sites, snapshots in git, and what their pages say, read apart from the package."""
