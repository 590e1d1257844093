"""Fields taken from pages: where their text stands in the page, and the field without transient content."""
