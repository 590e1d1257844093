"""What can be wrong with files of rules and masks."""

from pathlib import Path
from typing import Final

__all__ = ["FormError", "RuleFileError", "RuleWriteError", "problem_and_remedy"]

_LONGEST: Final = 1_000


class RuleFileError(ValueError):
    """A faulty file of rules or of a mask: where, what is wrong, what would be right.

    ``line`` is counted from 1; None where no line is to blame.
    """

    def __init__(self, path: Path, line: int | None, problem: str, remedy: str) -> None:
        problem, remedy = _in_one_line(problem), _in_one_line(remedy)
        where = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {problem}; {remedy}")
        self.path = path
        self.line = line
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[Path, int | None, str, str]]:
        return type(self), (self.path, self.line, self.problem, self.remedy)


class RuleWriteError(OSError):
    """A file of rules or of a mask that cannot be written: which, why, what to do."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[Path, str, str]]:
        return type(self), (self.path, self.problem, self.remedy)


class FormError(ValueError):
    """A part of a file that says nothing we know: ``problem`` and ``remedy``, each half a sentence."""

    def __init__(self, problem: str, remedy: str) -> None:
        super().__init__(f"{problem}; {remedy}")
        self.problem = problem
        self.remedy = remedy


def _in_one_line(said: str) -> str:
    """Return what is said of a file as one line that can be read: what stands in the file may be of any length."""
    said = said.replace("\n", "\\n")
    return said if len(said) <= _LONGEST else f"{said[:_LONGEST]}…"


def problem_and_remedy(message: str) -> tuple[str, str]:
    """Return the problem and the remedy of a message that says both."""
    problem, _, remedy = message.partition("; ")
    return problem, remedy
