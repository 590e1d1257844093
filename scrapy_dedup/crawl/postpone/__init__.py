"""Postponed requests: what candidate rules would make duplicates is fetched last."""
