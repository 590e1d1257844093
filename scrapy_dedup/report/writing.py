"""Writing the report into a file."""

import os
from pathlib import Path
from secrets import token_hex

from .collecting import report_of
from .data import Report, ReportSource
from .rendering import html_of


def write_report(source: ReportSource, path: Path) -> Report:
    """Write the report on a store into a file, which is replaced as a whole; return what it says.

    Nobody but the user may read it, as the store, unless the file is there and others may. Raises StoreError,
    RuleFileError and OSError.
    """
    report = report_of(source)
    write_text(path, html_of(report))
    return report


def write_text(path: Path, text: str) -> None:
    """Make *text* what stands in a file. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}-{token_hex(4)}.tmp")
    try:
        mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
        with os.fdopen(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode), "w", encoding="utf-8") as file:
            # What sites write may hold lone surrogates.
            file.write(text.encode("utf-8", "replace").decode("utf-8"))
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)
