"""What can be wrong with rule files."""

from pathlib import Path

__all__ = ["RuleFileError", "RuleWriteError"]


class RuleFileError(ValueError):
    """A faulty rule file: where, what is wrong, what would be right.

    ``line`` is counted from 1; None where no line is to blame.
    """

    def __init__(self, path: Path, line: int | None, problem: str, remedy: str) -> None:
        where = str(path) if line is None else f"{path}:{line}"
        super().__init__(f"{where}: {problem}; {remedy}")
        self.path = path
        self.line = line
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[Path, int | None, str, str]]:
        return type(self), (self.path, self.line, self.problem, self.remedy)


class RuleWriteError(OSError):
    """A rule file that cannot be written: which, why, what to do."""

    def __init__(self, path: Path, problem: str, remedy: str) -> None:
        super().__init__(f"{path}: {problem}; {remedy}")
        self.path = path
        self.problem = problem
        self.remedy = remedy

    def __reduce__(self) -> tuple[type, tuple[Path, str, str]]:
        return type(self), (self.path, self.problem, self.remedy)
