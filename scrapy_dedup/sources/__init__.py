"""Sources: observations in files that others have written, such as logs, archives and caches.

- :mod:`.records` -- what a reader yields, and what it is told
- :mod:`.formats` -- which reader a file or folder is for, by its content
- :mod:`.reading` -- all records of some sources, with what could not be read
- :mod:`.spill` -- observations of many sites on disk, to be read site by site
- one module for each format: :mod:`.json_rows`, :mod:`.csv_rows`, :mod:`.parquet_rows`, :mod:`.warc_records`,
  :mod:`.cdx_lines`, :mod:`.http_cache`
"""
