"""Signals that a crawl sends, in the way of :mod:`scrapy.signals`."""

#: New rules are in use, between two requests. Handlers get ``sites``, a tuple of those whose URLs may have other
#: canonical keys now, and ``spider``.
rules_changed = object()

#: The crawl has learned, or tried to, while it goes on. Handlers get ``sites``, ``problem``, "" if there is none, and
#: ``spider``.
learned = object()
