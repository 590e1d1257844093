"""The methods of the published documents: two entropies, rewrite rules of equivalence classes, the pattern tree."""
