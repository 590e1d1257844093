"""Masks: which parts of the pages of a site are transient, how these are taken out, and how they are learned."""
