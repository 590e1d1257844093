"""Served sites and the projects that crawl them, each a process of its own, and the noise on the pages."""
