"""Scores, the checks of ``--check``, and the table that every benchmark prints."""
