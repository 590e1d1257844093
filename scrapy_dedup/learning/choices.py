"""The names of the learners and methods, apart from their code: settings are checked where nothing learns."""

LEARNER_NAMES = ("difference_sets", "equivalence", "entropy", "pattern_tree", "replacing", "affixes", "declared")

JUDGE = "judge"
METHOD_NAMES = (JUDGE, "entropy", "equivalence", "pattern-tree")
"""What may decide: the judge, or a published method alone."""
