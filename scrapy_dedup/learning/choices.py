"""The names of the methods, apart from their code: settings are checked where nothing learns."""

JUDGE = "judge"
METHOD_NAMES = (JUDGE, "entropy", "equivalence", "pattern-tree")
"""What may decide: the judge, or a published method alone."""
