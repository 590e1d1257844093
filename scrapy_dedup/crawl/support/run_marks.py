"""The marks of requests that the dupe filter has compared, by which the gate knows under which rules that was."""

from secrets import token_hex
from typing import TYPE_CHECKING

from .request_meta import CHECKED, digest

if TYPE_CHECKING:
    from scrapy import Request


class RunMarks:
    """Marks of this run of the job and of the rules in use; those of earlier ones are stale."""

    def __init__(self) -> None:
        self._run = token_hex(4)

    def mark(self, request: "Request") -> None:
        """Mark *request* as compared."""
        request.meta[CHECKED] = f"{self._run} {digest(request.url)}"

    def renew(self) -> None:
        """Let all marks be stale, as there are other rules now."""
        self._run = token_hex(4)

    def is_fresh(self, mark: object) -> bool:
        """Whether *mark* was made in this run, under the rules in use."""
        return isinstance(mark, str) and mark.startswith(self._run)
