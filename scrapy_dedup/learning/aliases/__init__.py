"""Aliases: URLs that are a page though nothing in them says so."""
