"""The file of the report: written by a process of its own when a crawl has closed, which the crawl does not wait for."""

import json
import logging
import subprocess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

from ..support.own_processes import command_running, environment

if TYPE_CHECKING:
    from scrapy import Spider

    from ..settings.dedup_settings import DedupSettings
    from ..support.faults import Faults

logger = logging.getLogger(__name__)

#: Seconds that the process of the crawl stays for it.
_LONGEST: Final = 15.0


def begin_report(settings: "DedupSettings", spider: "Spider", faults: "Faults") -> None:
    """Begin to write the report, where there is to be one; what goes wrong is reported."""
    if settings.report_file is None or not settings.compares:
        return
    try:
        # No daemon: the process of the crawl ends when the report is written.
        Thread(target=_write, args=(settings, settings.report_file, spider, faults), name="dedup-report").start()
    except RuntimeError:
        faults.report("report", "The report could not be written")


def _write(settings: "DedupSettings", path: Path, spider: "Spider", faults: "Faults") -> None:
    asked = {
        "store": settings.store,
        "scope": settings.scope,
        "directories": list(map(str, settings.rule_directories)),
        "groups": dict(settings.site_groups),
        "output": str(path),
    }
    try:
        done = subprocess.run(  # noqa: S603 (our own interpreter and module)
            command_running("scrapy_dedup.report"),
            input=json.dumps(asked),
            capture_output=True,
            encoding="utf-8",
            errors="replace",
            env=environment(settings.store),
            timeout=_LONGEST,
            check=False,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise OSError(said[-1][:500] if said else f"exit code {done.returncode}")
    except (OSError, subprocess.TimeoutExpired) as error:
        faults.count("report")
        late = isinstance(error, subprocess.TimeoutExpired)
        logger.warning(
            "scrapy-dedup: the report was not written: %s; scrapy dedup report writes it",
            f"it took longer than {_LONGEST:g} s" if late else error,
            extra={"spider": spider},
        )
    except Exception:  # noqa: BLE001 (whatever it is, the crawl has ended)
        faults.report("report", "The report could not be written")
    else:
        logger.info("scrapy-dedup: the report is in %s", path, extra={"spider": spider})
