"""Sites whose pages have parts of a known nature, fetched again and again: what the score of a place is fitted to.

A *part* is a text, or a list of texts, in an element of its own. It is transient, or content of its page, whatever it looks
like: a visitor counter and a stock figure are both numbers that are new each day. What each response shows of them is in
``passing`` and in ``lasting``, how a part of a site looks in ``look``. Which parts a site has, where they stand, how they are worded and
how often the site is crawled is drawn from a seed (``site``). No name of a part is on its pages.
"""
