"""The search of the core learner: which keys and values of a site make no difference, and where."""
