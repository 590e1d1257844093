"""The verification of rules in a crawl: spot checks, their comparison, and retraction of refuted rules."""
