"""What a page is: its visible text as a sketch, and the fingerprints that follow."""
