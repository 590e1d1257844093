import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from scrapy.exceptions import UsageError

from ..terminal.problems import DONE, Mistake, Nothing
from .subcommand import Subcommand

if TYPE_CHECKING:
    from ..inputs.project import Project


class Copy(Subcommand):
    """``scrapy dedup copy``: copy files of rules and masks from one directory, or the store, to another.

    Exit codes: 0 done; 1 nothing to copy; 2 a mistake in what was asked.
    """

    name = "copy"
    syntax = "[options] FROM TO"
    summary = "copy rule files and mask files, also out of the store and into it"
    description = (
        "Copy the rule files and mask files of a directory into another one, as they are. store: is what DEDUP_STORE holds, and "
        "store:SCOPE what it holds of a scope. A file that is there already is replaced. "
        "Exit codes: 0 done; 1 nothing to copy; 2 a mistake in what was asked."
    )
    json_help = (
        "print a line of JSON: the names of the files that were written, and of those that were there as they are"
    )

    def act(self, project: "Project", args: list[str], opts: argparse.Namespace) -> int:
        from ...files.locked import locked, write
        from ...files.mirrored import place_of_files, refresh
        from ...files.site_files import text_of
        from ...learning.phrases import counted
        from ...masks.files.mask_files import check_masks
        from ...rules.files import check
        from ...store.site_texts import named_directory
        from ..terminal.console import print_json

        if len(args) != 2:
            raise UsageError("name two directories, each a path or store:")
        settings = project.dedup_settings(opts.spider)
        source, target = (named_directory(name, settings.store) for name in args)
        if not source.is_dir():
            raise Mistake(f"there is no directory {source}")
        refresh(source)
        faults = [*check(source), *check_masks(source)]
        if faults:
            raise Mistake(str(faults[0]))
        written: list[str] = []
        same: list[str] = []
        for path in sorted(source.glob("*.toml")):
            text = text_of(path)
            to = Path(target) / path.name
            with locked(to):
                if text is None or text == text_of(to):
                    same.append(path.name)
                else:
                    write(to, text)
                    written.append(path.name)
        if not written and not same:
            raise Nothing(f"there are no files in {place_of_files(source)}")
        if opts.json:
            print_json({"type": "copy", "written": written, "same": same})
        else:
            print(
                f"{counted(len(written), 'file')} copied to {place_of_files(target)}, {len(same)} are the same there."
            )
        return DONE
