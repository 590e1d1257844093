"""Evidence: what is believed from counts alone, of groups, of shares and of kinds of values."""
