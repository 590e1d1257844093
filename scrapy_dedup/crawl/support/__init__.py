"""Helpers of a crawl that know nothing of it: older Scrapy, faults, waiting, keys in ``Request.meta``."""
