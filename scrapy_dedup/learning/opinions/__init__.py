"""Opinions on parameters that are not from pages: lists of names, other sites, and what the site declares."""
