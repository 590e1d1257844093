"""Masks: which parts of the pages of a site do not last, how these are taken out, and how they are learned."""
