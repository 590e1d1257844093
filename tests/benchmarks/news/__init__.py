"""The benchmark of transient content on a site as it is: ``python -m tests.benchmarks.news``.

A news site is made from a seed (``site``: its words and markup, the lasting ``world``, the ``passing`` parts, the
``pages``) and served by a process of its own (``server``), whose clock is a simulated one. Scrapy crawls it on some days
(``crawling``), by the same clock (``clock``), and the items that it exports are compared with what was served
(``scores``). ``command`` prints the figures.
"""
