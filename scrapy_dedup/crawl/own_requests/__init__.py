"""The plug-in's own requests: refetches and probes, and the budgets that pay for them."""
