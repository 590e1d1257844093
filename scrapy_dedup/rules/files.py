"""Rule files: one per site in a directory, made for reading, reviewing and committing.

A file is read whole or not at all, and written whole under a lock (see
:mod:`scrapy_dedup.files.locked`). Masks stand beside them in files of their own (:mod:`scrapy_dedup.masks.files`).
"""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import ceil
from pathlib import Path
from typing import TYPE_CHECKING

from ..files.errors import RuleFileError
from ..files.locked import locked, write
from ..files.site_files import MASK_SUFFIX, path_for, read_named, text_of
from ..urls import DeepSplit
from .lifecycle import as_edited, merge, without_evidence
from .model import Evidence, Rule, SiteRules, Status
from .reading import read_rules
from .writing import written_rules

if TYPE_CHECKING:
    from os import PathLike


logger = logging.getLogger(__name__)


def path_of_site(directory: "str | PathLike[str]", site: str) -> Path:
    """Return where the rules of *site* stand in *directory*, or would stand.

    Other characters than letters, digits, ``.`` and ``-`` are ``_`` in the name of the file; the site itself stands in it.
    Where the plain name is taken by the file of another site (``a:80`` and ``a_80``),
    it is the name with a hash.
    """
    return path_for(directory, site, ".toml", _read)


def load_file(path: "str | PathLike[str]") -> SiteRules:
    """Return the rules of one file, in its order.

    Raises RuleFileError for the first thing that is wrong with it, also when it is not
    there.
    """
    path = Path(path)
    found = _read(path)
    if found is None:
        raise RuleFileError(path, None, "there is no such file", "name a rule file")
    return found


def load_directories(
    directories: Iterable["str | PathLike[str]"], *, missing_ok: bool = False
) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    """Return (rules, deep tokens by site) of all files in *directories*; with *missing_ok* one may be missing.

    Of two rules of a site with one id, one that is off counts, else a manual one, else
    a suspended one, else that of the directory named first; so do deep tokens.

    Raises RuleFileError.
    """
    paths = [path for directory in directories for path in _rule_files(Path(directory), missing_ok=missing_ok)]
    return _joined(map(load_file, paths))


def load_sites(
    directories: Iterable["str | PathLike[str]"], sites: Iterable[str]
) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    """Return what :func:`load_directories` returns, of *sites* alone: no other file is read.

    Raises RuleFileError.
    """
    folders = [Path(directory) for directory in directories]
    places = [path_of_site(folder, site) for site in sites for folder in folders]
    return _joined(found for path in places if (found := _read(path)) is not None)


def _joined(files: Iterable[SiteRules]) -> tuple[list[Rule], dict[str, Mapping[str, DeepSplit]]]:
    rules: dict[tuple[str, str], Rule] = {}
    deep: dict[str, Mapping[str, DeepSplit]] = {}
    for found in files:
        for rule in found.rules:
            known = rules.setdefault((rule.site, rule.id), rule)
            if _weight(rule) > _weight(known):
                rules[rule.site, rule.id] = rule
        deep[found.site] = {**found.deep, **deep.get(found.site, {})}
    return list(rules.values()), {site: splits for site, splits in deep.items() if splits}


def _weight(rule: Rule) -> int:
    order = (Status.SUSPENDED, Status.MANUAL, Status.OFF)
    return order.index(rule.status) + 1 if rule.status in order else 0


def check(directory: "str | PathLike[str]") -> list[RuleFileError]:
    """Return all that is wrong with the rule files of *directory*; nothing if it is missing."""
    try:
        paths = _rule_files(Path(directory), missing_ok=True)
    except RuleFileError as error:
        return [error]
    return [error for path in paths for error in read_named(path, ".toml", read_rules)[1]]


def save_site(directory: "str | PathLike[str]", rules: SiteRules) -> Path:
    """Write *rules*, just these, into their file in *directory* and return its path.

    Comments, order and spelling of what stands there already stay.

    Raises RuleFileError for a faulty file that stands there, RuleWriteError where it
    cannot be written.
    """
    changed_site(directory, rules.site, lambda _: rules)
    return path_of_site(directory, rules.site)


def update_site(
    directory: "str | PathLike[str]",
    site: str,
    learned: Iterable[Rule],
    deep: Mapping[str, DeepSplit] | None = None,
    *,
    gone: Iterable[str] = (),
) -> SiteRules:
    """Add what was *learned* of *site* to its file, less the rules whose ids are *gone*; return all.

    The file is read, merged (:func:`.merge`) and written under one lock, so that edits
    of the user and rules of other crawls since are not lost. Where nothing changes it is not written.

    Raises RuleFileError, RuleWriteError.
    """
    return changed_site(directory, site, lambda old: merge(old, learned, deep, gone=gone))


def changed_site(directory: "str | PathLike[str]", site: str, change: Callable[[SiteRules], SiteRules]) -> SiteRules:
    """Write what *change* makes of the rules of *site*, under one lock; return that. What stays the same is not written.

    Raises RuleFileError, RuleWriteError.
    """
    path = path_of_site(directory, site)
    with locked(path):
        old = _read(path)
        rules = change(old or SiteRules(site))
        before = (text_of(path) or "") if old is not None else ""
        text = written_rules(rules, before)
        if text != before and (old is not None or rules.rules or rules.deep):
            write(path, text)
    return rules


def add_to_site(directory: "str | PathLike[str]", site: str, rules: Sequence[Rule]) -> list[str]:
    """Add *rules* to those of *site*, in the place of those of the same id; return the ids of those left out.

    What is off stays off.

    Raises RuleFileError, RuleWriteError.
    """
    off: list[str] = []

    def with_added(old: SiteRules) -> SiteRules:
        kept = {rule.id: rule for rule in old.rules}
        off.extend(rule.id for rule in rules if rule.id in kept and kept[rule.id].status is Status.OFF)
        kept |= {rule.id: rule for rule in rules if rule.id not in off}
        return replace(old, rules=tuple(kept.values()))

    changed_site(directory, site, with_added)
    return off


def _rule_files(directory: Path, *, missing_ok: bool) -> list[Path]:
    try:
        return sorted(
            path
            for path in directory.iterdir()
            if path.suffix == ".toml" and path.name[0] != "." and not path.name.endswith(MASK_SUFFIX)
        )
    except FileNotFoundError:
        if missing_ok:
            return []
        remedy = 'name the directory of the rule files, such as "dedup-rules"; with missing_ok=True it holds no rules'
        raise RuleFileError(directory, None, "there is no such directory", remedy) from None
    except NotADirectoryError:
        raise RuleFileError(directory, None, "this is no directory", "name the directory of the rule files") from None
    except OSError as error:
        raise RuleFileError(directory, None, f"cannot be read: {error.strerror}", "make it readable") from error


def _read(path: Path) -> SiteRules | None:
    """Return the rules of the file at *path*; None if there is none."""
    found, errors = read_named(path, ".toml", read_rules)
    if errors:
        raise errors[0]
    if found is None:
        return None
    rules = []
    for rule in found.rules:
        read = as_edited(rule)
        if read is not rule:
            logger.info("%s: rule %s was edited, so it is manual now", path, rule.id)
        if without_evidence(read):
            _tell_of_demoted(path, rule.id)
            read = replace(read, status=Status.CANDIDATE)
        rules.append(read)
    return replace(found, rules=tuple(rules))


@cache
def _tell_of_demoted(path: Path, rule: str) -> None:
    """Tell, once in a process, that a rule does not act since nothing speaks for it."""
    logger.warning(
        "%s: rule %s has no evidence (no witness groups), so it is a candidate and does not act; "
        'status = "manual" makes it yours',
        path,
        rule,
    )


@dataclass(frozen=True, slots=True)
class Refutation:
    """When a rule was refuted, in seconds since 1970, and what its spot checks and probes have shown in all by then."""

    time: float
    samples: int = 0
    refuted: int = 0
    probes: int = 0
    contradicted: int = 0


def suspend(
    directory: "str | PathLike[str]", site: str, rules: Mapping[str, Rule], found: Mapping[str, Refutation]
) -> None:
    """Suspend the rules that were *found* to be wrong, by their ids, in the file of *site*, with their counts.

    A rule that is not in the file, since it stands in another directory, is written into it: as of two rules of one id
    the one that is suspended counts. *rules* are those that the crawl has used. Manual rules, and those that are
    off, are left alone.

    Raises RuleFileError, RuleWriteError.
    """

    def changed(old: SiteRules) -> SiteRules:
        there = {rule.id: rule for rule in old.rules}
        for name, refutation in found.items():
            rule = there.get(name) or rules.get(name)
            if rule is not None and not rule.status.users:
                there[name] = _suspended(rule, refutation)
        return replace(old, rules=tuple(there.values()))

    changed_site(directory, site, changed)


def _suspended(rule: Rule, found: Refutation) -> Rule:
    evidence = replace(
        rule.evidence or Evidence(),
        samples=found.samples,
        refuted=found.refuted,
        probes=found.probes,
        contradicted=found.contradicted,
        refuted_at=ceil(found.time),
        until=ceil(found.time),
    )
    return replace(rule, evidence=evidence, status=Status.SUSPENDED)
