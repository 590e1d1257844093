"""What was learned on some pages, carried over to pages of other URL templates."""
