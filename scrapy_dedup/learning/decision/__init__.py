"""Decisions: which proposals act, and where; the evidence that their rules are written with."""
