"""Mask files: what they say of a site, read, written and merged; nothing here applies it to pages."""
