"""The method of the transient-content document, as published."""
