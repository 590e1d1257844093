"""Rule packs: what names of parameters mean on widespread platforms, in text files that people review.

A pack is no set of rules that act. It is what is believed of a site's parameters before much of the site is seen
(:mod:`scrapy_dedup.learning.opinions.taught`).
"""
