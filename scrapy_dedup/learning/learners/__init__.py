"""The learners by name, and those that run where the core learner leaves duplicates apart."""
