"""The formats by their names, as the commands offer them."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from ...files.errors import RuleFileError
from ...urls import GroupsLike
from ..book import RuleBook
from ..files import add_to_site
from ..model import Rule
from .clean_param import read_clean_param, write_clean_param
from .no_vary_search import read_no_vary_search, write_no_vary_search
from .python import write_python
from .url_discarder import joined_texts, read_url_discarder, write_url_discarder
from .values import Exported, Imported, NotExpressible

if TYPE_CHECKING:
    from os import PathLike

__all__ = ["READ", "WRITTEN", "add_rules", "exported", "imported"]

READ = ("url-discarder", "no-vary-search", "clean-param")
WRITTEN = (*READ, "python")
_OF_ONE_SITE = {"no-vary-search": "a _headers file", "clean-param": "a robots.txt"}


def imported(file: "str | PathLike[str]", form: str, sites: Sequence[str], groups: GroupsLike = None) -> Imported:
    """Return the rules that a file says for *sites*, where it does not say them itself.

    Raises RuleFileError for a faulty file, OSError for one that cannot be read, ValueError where a site
    must be named.
    """
    path = Path(file)
    data = path.read_bytes()
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data[: error.start].count(b"\n") + 1
        raise RuleFileError(path, line, "this is not UTF-8", "save the file as UTF-8") from None
    if form == "url-discarder":
        return read_url_discarder(text, path, sites, groups)
    if not sites:
        raise ValueError(f"{_OF_ONE_SITE[form]} does not say which site it is of: name the site")
    read = read_no_vary_search if form == "no-vary-search" else read_clean_param
    return read(text, path, sites)


def exported(book: RuleBook, form: str, sites: Sequence[str], *, approximate: bool = False) -> Exported:
    """Return the rules of *sites* as the text of a file.

    Raises ValueError where the format is of one site and there are several.
    """
    if form == "python":
        return Exported(write_python([book.site_rules(site) for site in sites], book.groups.domains))
    if form in _OF_ONE_SITE and len(sites) > 1:
        raise ValueError(f"{_OF_ONE_SITE[form]} is of one site: name one of {', '.join(sites)}")
    texts: list[str] = []
    left_out: list[NotExpressible] = []
    for site in sites:
        found = book.site_rules(site)
        if form == "url-discarder":
            domains = book.groups.domains.get(site) or (site,)
            done = write_url_discarder(found.rules, found.deep, domains=domains, approximate=approximate)
        else:
            write = write_no_vary_search if form == "no-vary-search" else write_clean_param
            done = write(found.rules, found.deep, approximate=approximate)
        texts.append(done.text)
        left_out += [NotExpressible(f"{site}: rule {each.what}", each.why) for each in done.left_out]
    return Exported(joined_texts(texts) if form == "url-discarder" else "".join(texts), tuple(left_out))


def add_rules(directory: "str | PathLike[str]", rules: Iterable[Rule]) -> tuple[int, tuple[NotExpressible, ...]]:
    """Add *rules* to the files of their sites; return how many are there now, and which the user had off.

    Raises RuleFileError, RuleWriteError.
    """
    by_site: dict[str, list[Rule]] = {}
    for rule in rules:
        by_site.setdefault(rule.site, []).append(rule)
    off: list[NotExpressible] = []
    count = 0
    for site, several in by_site.items():
        refused = add_to_site(directory, site, several)
        count += len(several) - len(refused)
        off += [NotExpressible(f"{site}: rule {name}", "left off, as it is in the rule file") for name in refused]
    return count, tuple(off)
