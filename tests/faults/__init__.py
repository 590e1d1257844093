"""Faults made on purpose, each by a command of its own: they take too long to be tests."""
