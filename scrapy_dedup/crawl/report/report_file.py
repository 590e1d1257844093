"""The file of the report: written by a process of its own when a crawl has closed, which the crawl does not wait for."""

import json
import logging
import subprocess
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Final

import attrs

from ..support.own_processes import command_running, environment

if TYPE_CHECKING:
    from ..settings.dedup_settings import DedupSettings
    from ..support.crawl_status import CrawlStatus
    from ..support.faults import Faults

logger = logging.getLogger(__name__)

#: Seconds that the process of the crawl stays for it.
_LONGEST: Final = 15.0


@attrs.define(eq=False, repr=False, kw_only=True)
class ReportFile:
    """Starts the process, and tells when it has ended."""

    _settings: "DedupSettings"
    _status: "CrawlStatus"
    _faults: "Faults"

    def begin(self) -> None:
        """Begin to write the report, where there is to be one; what goes wrong is reported."""
        path = self._settings.report_file
        if path is None or not self._settings.compares:
            return
        try:
            # No daemon: the process of the crawl ends when the report is written.
            Thread(target=self._write, args=(path,), name="dedup-report").start()
        except RuntimeError:
            self._faults.report("report", "The report could not be written")

    def _write(self, path: Path) -> None:
        try:
            done = subprocess.run(  # noqa: S603 (our own interpreter and module)
                command_of(self._settings, path),
                stdin=subprocess.DEVNULL,
                capture_output=True,
                encoding="utf-8",
                errors="replace",
                env=environment(self._settings.store),
                timeout=_LONGEST,
                check=False,
            )
            if done.returncode:
                said = done.stderr.strip().splitlines()
                raise OSError(said[-1][:500] if said else f"exit code {done.returncode}")
        except (OSError, subprocess.TimeoutExpired) as error:
            self._faults.count("report")
            late = isinstance(error, subprocess.TimeoutExpired)
            logger.warning(
                "scrapy-dedup: the report was not written: %s; scrapy dedup report writes it",
                f"it took longer than {_LONGEST:g} s" if late else error,
                extra={"spider": self._status.spider},
            )
        except Exception:  # noqa: BLE001 (whatever it is, the crawl has ended)
            self._faults.report("report", "The report could not be written")
        else:
            logger.info("scrapy-dedup: the report is in %s", path, extra={"spider": self._status.spider})


def command_of(settings: "DedupSettings", path: Path) -> list[str]:
    """Return the command line of the process, which writes the report into *path*."""
    command = [*command_running("scrapy_dedup.report"), "--store", "--scope", settings.scope]
    command += [f"--directory={directory}" for directory in settings.rule_directories]
    if settings.site_groups:
        command += ["--groups", json.dumps({name: list(domains) for name, domains in settings.site_groups.items()})]
    return [*command, "--output", str(path)]
