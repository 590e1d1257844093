"""``python -m scrapy`` in a process that has its modules already.

To import Scrapy and what a command needs takes longer than most commands do. Where processes can be forked, each
is forked from one that has imported all that and has done nothing else; the rest is as a user's: arguments,
folder, environment, streams and exit code.
"""

import multiprocessing
import os
import runpy
import subprocess
import sys
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from .waiting import PATIENCE

CAN_FORK = "forkserver" in multiprocessing.get_all_start_methods()

#: Modules that import the others; a reactor is installed by none of them.
_IMPORTED = [
    *("scrapy.cmdline", "scrapy.commands.crawl", "scrapy.core.engine", "scrapy.core.scheduler", "scrapy.shell"),
    *("scrapy.core.downloader.handlers.http11", "scrapy.pqueues", "scrapy.squeues", "scrapy.statscollectors"),
    *("scrapy.extensions.corestats", "scrapy.extensions.feedexport", "scrapy.extensions.telnet"),
    *("scrapy.downloadermiddlewares.httpcache", "scrapy.downloadermiddlewares.redirect"),
    *("scrapy.spidermiddlewares.referer", "scrapy.spidermiddlewares.start", "scrapy.linkextractors"),
    *(
        "scrapy_dedup.crawl",
        "scrapy_dedup.crawl.own_requests.probe_spider",
        "scrapy_dedup.learning.learn",
        "rich.console",
    ),
    *(f"scrapy_dedup.commands.{name}" for name in ("learn_rules", "export_rules", "explain_url", "explain_page")),
    *(f"scrapy_dedup.commands.{name}" for name in ("evidence", "fetching", "importing", "probing", "summary")),
]


def run_scrapy(
    args: Sequence[str], folder: Path, environment: Mapping[str, str], stdin: str
) -> subprocess.CompletedProcess[str]:
    """Run ``scrapy ARGS`` in *folder* and return what it said. Raises subprocess.TimeoutExpired."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(_IMPORTED)
    with TemporaryDirectory() as name:
        streams = [Path(name, stream) for stream in ("stdin", "stdout", "stderr")]
        for stream, text in zip(streams, (stdin, "", ""), strict=True):
            stream.write_bytes(text.encode())
        process = context.Process(target=_scrapy, args=(list(args), str(folder), dict(environment), streams))
        process.start()
        process.join(PATIENCE)
        if process.exitcode is None:
            process.kill()
            raise subprocess.TimeoutExpired(list(args), PATIENCE)
        _, said, errors = (stream.read_bytes().decode() for stream in streams)
        return subprocess.CompletedProcess(list(args), process.exitcode, said, errors)


def _scrapy(args: list[str], folder: str, environment: dict[str, str], streams: list[Path]) -> None:
    """Be ``python -W ... -m scrapy ARGS``."""
    for number, path in enumerate(streams):
        file = os.open(path, os.O_RDWR)
        os.dup2(file, number)
        os.close(file)
    sys.stdin = open(0, encoding="utf-8", closefd=False)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = open(2, "w", encoding="utf-8", errors="backslashreplace", buffering=1, closefd=False)
    os.environ.clear()
    os.environ.update(environment)
    os.chdir(folder)
    warnings.filterwarnings("error", category=DeprecationWarning, module="scrapy_dedup$")
    sys.path.insert(0, folder)
    sys.argv = ["scrapy", *args]
    runpy.run_module("scrapy", run_name="__main__", alter_sys=True)
