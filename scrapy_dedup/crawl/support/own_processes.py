"""Processes of the plug-in's own: they run one of its modules and nothing else, whatever the script of the crawl is.

They find modules where this process does, but the standard library comes first and the working folder is left out.
"""

import json
import os
import sys
from pathlib import Path
from typing import Final

#: Begins with the standard library alone (``-S``), adds where else this process finds modules, and then does what
#: ``site`` does when an interpreter starts: installs may need that.
_BOOTSTRAP: Final = """\
import sys
sys.path[:] = [path for path in sys.path if path]
import json
sys.path += [path for path in json.loads(sys.argv.pop(1)) if path not in sys.path]
import site
site.main()
import runpy
runpy.run_module(sys.argv.pop(1), run_name="__main__", alter_sys=True)
"""


def command_running(module: str) -> list[str]:
    """Return the command line of a process that runs a module; arguments for it may follow."""
    return [
        *(sys.executable, "-S", *(["-s"] if sys.flags.no_user_site else [])),
        *("-c", _BOOTSTRAP, json.dumps(_places()), module),
    ]


def _places() -> list[str]:
    """Return where this process finds modules, less the working folder; the package that runs here is found in any case."""
    working = os.path.realpath(Path.cwd())
    found = [os.path.realpath(path) for path in sys.path if isinstance(path, str)]
    places = [path for path in found if path != working]
    package = os.path.realpath(Path(__file__).parents[2])
    return places if package in places else [*places, package]


def environment(store: str) -> dict[str, str]:
    """Return the environment of the process: its modules are found by its arguments, and the store, whose URL may hold a password
    that the arguments would show to others, by the variable ``DEDUP_STORE``."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONPATH"} | {"DEDUP_STORE": store}
