"""Fields taken from pages: located in the page, and stripped of its transient content."""
