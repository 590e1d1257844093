"""Recordings of sites that nothing was tuned on, and what makes them again: ``python -m tests.benchmarks.recorded_sites.make``."""

from pathlib import Path

RECORDED_SITES = sorted(Path(__file__).parent.glob("*.jsonl.gz"))
"""The recordings beside this file."""
