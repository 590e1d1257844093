"""Exit codes of the commands, and what keeps one from doing what was asked."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

#: Exit codes.
DONE, NOTHING, MISTAKE = 0, 1, 2


class Mistake(Exception):
    """What the user asked for cannot be done; the message is one line that says why and what would be right."""


class Nothing(Exception):
    """There is nothing to work on; the message is one line that says what to do about it."""


@contextmanager
def mistakes() -> Iterator[None]:
    """Turn the errors that a user can correct into :exc:`Mistake`."""
    from ...crawl.settings.dedup_settings import DedupSettingError
    from ...files.errors import RuleFileError
    from ...observation import ObservationError
    from ...store.store import StoreError

    try:
        yield
    except (DedupSettingError, ObservationError, RuleFileError, StoreError) as error:
        raise Mistake(str(error)) from error
    except BrokenPipeError:
        raise
    except OSError as error:
        raise Mistake(f"{error.filename}: {error.strerror}" if error.filename else str(error)) from error


def output_file(name: str, option: str) -> Path:
    """Return the path of the file that an option names. Raises Mistake where it cannot be one."""
    path = Path(name)
    if path.is_dir():
        raise Mistake(f"{path} is a directory; {option} takes a file")
    if not path.parent.is_dir():
        raise Mistake(f"{path}: there is no folder {path.parent}; make it first")
    return path
