"""Evidence: beliefs from counts alone, on groups, shares and kinds of values."""
