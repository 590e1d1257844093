"""Snapshots of pages kept in git, and the curated texts beside them, as Open Terms Archive records both.

A snapshot is a commit of one raw page, ``SERVICE/TERMS.html`` (``SERVICE/TERMS #PART.html`` where several pages make one
text), made only where the page differs from the snapshot before. A curated text is a commit of ``SERVICE/TERMS.md``, made only
where what was extracted differs from the text before; its message names the snapshots that it was extracted from. Both
are committed at the time at which the page was fetched.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, pairwise
from os import environ
from pathlib import Path

_NAMED = re.compile(r"\b[0-9a-f]{40}\b")
_LOCATION = re.compile(r"^X-source-document-location: (https?://\S+)$", re.MULTILINE)
_RAW = re.compile(r"\n?:\d+ \d+ [0-9a-f]+ ([0-9a-f]+) ([AM])")
_AGAIN = ("Apply technical or declaration upgrade", "Refilter")
"""How commits begin whose text was extracted anew from a snapshot that was there: the page did not change."""
_target = re.compile(rb"\]\([^)\s]*\)")
_MOMENTS = 60.0
"""Seconds between a snapshot and the text extracted from it, where the text does not name it."""
_PART = " #"
"""Stands before the name of one page of several that make one text."""


class UnusableRepository(Exception):
    """What is wrong with a repository, to be read by whoever named it."""


@dataclass(frozen=True, slots=True)
class Recorded:
    """A file at one commit: of a page, or of a curated text. *order* is the place in the history."""

    commit: str
    order: int
    time: float
    path: str
    blob: str
    subject: str
    body: str

    @property
    def document(self) -> str:
        """The path without what the file is."""
        return self.path.rpartition(".")[0]

    @property
    def location(self) -> str:
        """The URL of the page, where the commit tells it."""
        found = _LOCATION.search(self.body)
        return found[1] if found else ""


class Repository:
    """A git directory, or a work tree that has one, read without changing it or fetching anything."""

    def __init__(self, given: Path) -> None:
        self.given = given
        inside = given / ".git"
        self._command = ("git", f"--git-dir={inside if inside.exists() else given}", "-c", "log.showRoot=true")
        self._blobs: subprocess.Popen[bytes] | None = None

    def close(self) -> None:
        """End the process that reads."""
        if self._blobs is not None and self._blobs.stdin is not None and self._blobs.stdout is not None:
            self._blobs.stdin.close()
            self._blobs.stdout.close()
            self._blobs.wait()

    def recorded(self, ending: str) -> list[Recorded]:
        """All files of that ending that commits made or changed, the first commit first."""
        form = "--format=%x01%H%x02%ct%x02%s%x02%b%x02"
        command = [
            *self._command,
            "log",
            "--reverse",
            "--topo-order",
            "--raw",
            "-z",
            "--no-abbrev",
            "--no-renames",
            form,
        ]
        try:
            done = subprocess.run(command, capture_output=True, check=False, env=_environment())
        except OSError as error:
            raise UnusableRepository(f"git cannot be run: {error}") from None
        if done.returncode:
            said = done.stderr.decode(errors="replace").strip()
            raise UnusableRepository(f"{self.given} cannot be read as a git repository: {said}")
        order = count()
        text = done.stdout.decode(errors="replace")
        return [file for commit in text.split("\1")[1:] for file in _files(commit, ending, order)]

    def blob(self, name: str) -> bytes | None:
        """What a file holds; None where the repository lacks it, as a partial copy does."""
        if self._blobs is None:
            command = [*self._command, "cat-file", "--batch"]
            pipe = subprocess.PIPE
            self._blobs = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=_environment()
            )
        assert self._blobs.stdin is not None
        assert self._blobs.stdout is not None
        self._blobs.stdin.write(name.encode() + b"\n")
        self._blobs.stdin.flush()
        head = self._blobs.stdout.readline().split()
        if len(head) != 3:
            return None
        return self._blobs.stdout.read(int(head[2]) + 1)[:-1]


def _environment() -> dict[str, str]:
    """Nothing is fetched, and no other repository is meant than the one that is named."""
    kept = {name: value for name, value in environ.items() if not name.startswith("GIT_")}
    return kept | {"GIT_NO_LAZY_FETCH": "1", "LC_ALL": "C"}


def _files(commit: str, ending: str, order: Iterator[int]) -> Iterator[Recorded]:
    """The files of one commit as ``git log --raw -z`` shows it."""
    name, time, subject, body, raw = commit.split("\2", 4)
    fields = raw.split("\0")
    for about, path in pairwise(fields):
        found = _RAW.fullmatch(about)
        if found and path.endswith(ending):
            yield Recorded(name, next(order), float(time), path, found[1], subject, body)


def documents(snapshots: Iterable[Recorded]) -> dict[str, list[Recorded]]:
    """The snapshots of each document in order of time, those with the content of the one before left out."""
    found: defaultdict[str, list[Recorded]] = defaultdict(list)
    for snapshot in sorted(snapshots, key=lambda snapshot: (snapshot.time, snapshot.order)):
        own = found[snapshot.document]
        if not own or own[-1].blob != snapshot.blob:
            own.append(snapshot)
    return dict(found)


@dataclass(frozen=True, slots=True)
class Truth:
    """What the curated texts say of two snapshots that follow each other.

    changed is None where they say nothing: none was recorded before, or another page of the same text may be what
    changed. before and text are the blobs of the texts in force at the first and the second. back: whether the latter was
    in force earlier, before another one, as where a page comes in two languages by turns: such a change may be one that
    passes.
    """

    changed: bool | None
    before: str = ""
    text: str = ""
    back: bool = False


UNKNOWN = Truth(None)


class Curated:
    """The history of all curated texts."""

    def __init__(self, versions: Iterable[Recorded]) -> None:
        self._by_document: defaultdict[str, list[Recorded]] = defaultdict(list)
        for version in versions:
            self._by_document[version.document].append(version)
        self._last = max((version.time for own in self._by_document.values() for version in own), default=0.0)

    def truths(self, snapshots: Sequence[Recorded]) -> list[Truth]:
        """What is true of each snapshot of a document and the next."""
        document = snapshots[0].document
        own = self._by_document.get(document) or self._by_document.get(document.rpartition(_PART)[0], [])
        places = {snapshot.commit: place for place, snapshot in enumerate(snapshots)}
        found = [(_place(version, places, snapshots), version) for version in own]
        return [self._truth(place, snapshots, found) for place in range(1, len(snapshots))]

    def _truth(self, place: int, snapshots: Sequence[Recorded], found: Sequence[tuple[float, Recorded]]) -> Truth:
        """What is true of the snapshot at *place* and the one before it; *found*: texts, and the places of theirs."""
        if snapshots[place].time > self._last:
            return UNKNOWN  # the texts end before
        if any(place - 1 < at < place for at, _ in found):
            return UNKNOWN  # there was a snapshot between them
        made = next((i for i, (at, text) in enumerate(found) if at == place and not is_again(text)), None)
        before = [text for at, text in (found if made is None else found[:made]) if at < place]
        if not before:
            return UNKNOWN
        if made is None:
            return Truth(False, before[-1].blob, before[-1].blob)
        text = found[made][1]
        named = _named(text)
        if len(named) > 1 and named - _named(before[-1]) - {snapshots[place].commit}:
            return UNKNOWN
        changed = text.blob != before[-1].blob
        return Truth(changed, before[-1].blob, text.blob, changed and any(each.blob == text.blob for each in before))


def _place(version: Recorded, places: dict[str, int], snapshots: Sequence[Recorded]) -> float:
    """The place of the snapshot that a text was extracted from: the one it names, or the one of its time.

    Between two places where that snapshot is not in the repository, or no more.
    """
    named = [places[name] for name in _named(version) if name in places]
    if named:
        return max(named)
    last = max(
        (place for place, snapshot in enumerate(snapshots) if snapshot.time <= version.time + _MOMENTS), default=-1
    )
    at = last >= 0 and version.time - snapshots[last].time <= _MOMENTS
    return last if at else last + 0.5


def _named(version: Recorded) -> set[str]:
    return set(_NAMED.findall(version.body))


def is_again(version: Recorded) -> bool:
    """Whether a text was extracted anew from a page that did not change."""
    return version.subject.startswith(_AGAIN)


def says(markdown: bytes | None) -> list[bytes]:
    """The words of a curated text without the addresses of its links, which often hold tokens.

    >>> says(b"see [all terms](/terms?t=17), please")
    [b'see', b'[all', b'terms],', b'please']
    """
    return _target.sub(b"]", markdown or b"").split()
