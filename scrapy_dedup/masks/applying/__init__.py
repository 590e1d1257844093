"""A mask applied to a page: what is stripped of it, what is left out where pages are compared, and on which pages."""
