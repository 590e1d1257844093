"""The names of the learners, apart from their code: settings are checked where nothing learns."""

LEARNER_NAMES = ("difference_sets", "equivalence", "entropy", "pattern_tree", "replacing", "affixes", "declared")
