"""The list of public suffixes, read when this is imported: what is forked from here has it."""

from scrapy_dedup.urls import registrable

registrable("www.shop.example")
