"""The method of the transient-content document, as it stands there."""
