"""Proposals: what they are, which URLs and groups each is about, and the rules that several make together."""
