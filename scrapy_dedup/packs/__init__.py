"""Rule packs: what the parameters of a platform mean, as many sites have taught it, in text files that people review.

A pack is no set of rules that act. It is what is believed of a site's parameters before much of the site is seen
(:mod:`scrapy_dedup.learning.opinions.taught`), and it is made of the rules and the evidence of other sites
(:mod:`scrapy_dedup.learning.packing`).
"""
