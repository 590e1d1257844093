"""A throw-away Scrapy project, so that crawls and commands run as a user's do: as processes."""

import json
import os
import resource
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

from ..parts import settings_without
from .serving import ROOT

COMMON_SETTINGS: dict[str, Any] = {
    "BOT_NAME": "benchmark",
    "SPIDER_MODULES": ["tests.benchmarks.crawling.spiders"],
    "ROBOTSTXT_OBEY": False,
    # A recording is static: cookies could not change an answer, only cost time.
    "COOKIES_ENABLED": False,
    "TELNETCONSOLE_ENABLED": False,
    "REMOTE_CONTROL_ENABLED": False,
    "LOG_LEVEL": "INFO",
}
PLUGIN_SETTINGS: dict[str, Any] = {"ADDONS": {"scrapy_dedup.Addon": 600}, "DEDUP_REPORT": ""}
"""The whole installation."""


@dataclass(frozen=True, slots=True)
class Run:
    """One finished process, with everything that it started and waited for."""

    seconds: float
    cpu_seconds: float
    output: str
    """Standard output and the end of the log."""


class Project:
    """A folder with scrapy.cfg and settings."""

    def __init__(self, folder: Path, settings: dict[str, Any]) -> None:
        folder.mkdir(parents=True)
        self.folder = folder
        #: Of the processes that run in it, beside this process's own; PYTHONPATH comes before that.
        self.environment: dict[str, str] = {}
        every = {**COMMON_SETTINGS, **settings, **settings_without()}
        lines = [f"{name} = {value!r}" for name, value in every.items()]
        (folder / "benchmark_settings.py").write_text("\n".join(lines) + "\n", encoding="utf-8")
        (folder / "scrapy.cfg").write_text("[settings]\ndefault = benchmark_settings\n")

    def scrapy(self, *arguments: str, timeout: float = 1800) -> Run:
        """Run ``scrapy ARGUMENTS`` in the project; RuntimeError with its output when it fails.

        CPU is that of the process and of all descendants it waited for.
        """
        command = [sys.executable, "-m", "scrapy.cmdline", *arguments]
        paths = self.environment.get("PYTHONPATH"), str(ROOT), os.environ.get("PYTHONPATH")
        path = os.pathsep.join(filter(None, paths))
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        start = perf_counter()
        done = subprocess.run(
            command,
            cwd=self.folder,
            env={**os.environ, **self.environment, "PYTHONPATH": path},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=timeout,
            check=False,
        )
        seconds = perf_counter() - start
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode:
            raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-4000:]}")
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Run(seconds, cpu, done.stdout)

    def crawl(self, spider: str, **arguments: str) -> tuple[Run, dict[str, Any]]:
        """Crawl; returns the run and the stats that the spider left."""
        stats_file = self.folder / "stats.json"
        stats_file.unlink(missing_ok=True)
        given = {**arguments, "stats_file": str(stats_file)}
        options = [word for name, value in given.items() for word in ("-a", f"{name}={value}")]
        run = self.scrapy("crawl", spider, *options)
        return run, json.loads(stats_file.read_text(encoding="utf-8"))
