"""Several workers of one job: what one of them has seen, all of them know (see docs/explanation/fleet.rst)."""
