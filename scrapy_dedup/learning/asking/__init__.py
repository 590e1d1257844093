"""What to fetch to know more: pages to fetch again, and parameters to try."""
