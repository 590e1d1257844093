"""What was seen: observations, page sketches and discards, in a database."""
