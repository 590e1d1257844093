"""Spark in local mode, for tests and benchmarks: nothing but 127.0.0.1, all files in a folder, and an end that leaves no process."""

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any


def why_no_spark() -> str | None:
    """Return what Spark lacks here; None where it can be started."""
    if find_spec("pyspark") is None:
        return "pyspark is not installed"
    home = os.environ.get("JAVA_HOME")
    if shutil.which("java") is None and not (home and (Path(home) / "bin" / "java").exists()):
        return "Java is not installed"
    return None


@contextmanager
def local_spark(folder: Path, cores: int = 2, **options: str) -> Iterator[Any]:
    """Start a session with so many workers; the names of *options* have ``__`` where those of Spark have a dot."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    environment = {
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_DRIVER_PYTHON": sys.executable,
        "SPARK_LOCAL_IP": "127.0.0.1",
        # What runs for seconds is not worth the time of a compiler that optimises.
        "PYSPARK_SUBMIT_ARGS": '--driver-java-options "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC" pyspark-shell',
    }
    before = {name: os.environ.get(name) for name in environment}
    os.environ.update(environment)
    chosen = {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "127.0.0.1",
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        **{name.replace("__", "."): value for name, value in options.items()},
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("scrapy-dedup")
    for name, value in chosen.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    gateway = session.sparkContext._gateway
    try:
        session.sparkContext.setLogLevel("ERROR")
        yield session
    finally:
        session.stop()
        # Stopping leaves Java running until the interpreter ends, with its sockets and pipes open.
        gateway.shutdown()
        gateway.proc.stdin.close()
        gateway.proc.wait()
        SparkContext._gateway = SparkContext._jvm = None
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})
