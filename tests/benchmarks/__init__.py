"""Benchmarks: they print figures, and with ``--check`` they say which figure is missed.

``python -m tests.benchmarks.labelled``  learning on URL sets with duplicate labels
``python -m tests.benchmarks.recorded``  a recorded site crawled plain, cold and warm
``python -m tests.benchmarks.replay``    the first crawl of a recorded site in simulated time
``python -m tests.benchmarks.speed``     canonical keys, learning and crawl overhead
``python -m tests.benchmarks.synthetic`` all methods on made-up sites
``python -m tests.benchmarks.transient`` what passes on pages, and what lasts
``python -m tests.benchmarks``           all that can run with the data at hand
"""
