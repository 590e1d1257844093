"""The plug-in's own requests: refetches and probes, and the budget that pays for them."""
