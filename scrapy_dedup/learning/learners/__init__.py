"""The learners: the core one, that of forms of URLs, and what widens what they found."""
