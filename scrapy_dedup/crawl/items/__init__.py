"""Transient content in items: the pipeline that strips it from their fields."""
