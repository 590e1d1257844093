"""Rules from a tree of URL patterns, after Lei et al. (WWW 2010), as published: tree, rules, selection, and what they say in rule files."""
