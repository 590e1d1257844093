"""Sources: observations in files that others have written, such as logs, archives and caches.

- :mod:`.reading` -- the observations of some sources, with what could not be read
- :mod:`.files` -- which files a source names, and which reader each is for, by its content
- :mod:`.tables` -- JSON lines, CSV, Parquet
- :mod:`.indexes` -- CDX and CDXJ
- :mod:`.archives` -- WARC and Scrapy's HTTP cache, whose :mod:`.pages` are sketched as in a crawl
- :mod:`.records` -- what a reader yields
"""
