"""The learners by name, and those that are asked where the core learner leaves duplicates apart."""
