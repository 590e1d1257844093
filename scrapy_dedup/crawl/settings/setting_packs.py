"""The setting that names rule packs."""

from typing import Any

from ...files.errors import RuleFileError
from ...packs.located import UnknownPackError, load_packs, pack_path
from .setting_paths import project_folder
from .setting_values import WrongValue

__all__ = ["packs"]


def packs(value: Any) -> tuple[str, ...]:
    """Return names or absolute paths of packs; each file is there, and says nothing wrong."""
    if value is None or value in ("", "None", "none"):
        return ()
    if isinstance(value, str):
        value = [name.strip() for name in value.split(",")]
    if not isinstance(value, list | tuple) or not all(isinstance(name, str) and name for name in value):
        raise WrongValue("it must be a list of names or paths", 'Write a list such as ["starter", "our-names.toml"].')
    return tuple(dict.fromkeys(map(_located, value)))


def _located(name: str) -> str:
    """Return a name of this package, or the absolute path of a pack that can be read."""
    folder = project_folder()
    try:
        path = pack_path(name, folder)
        load_packs([name], folder)
    except UnknownPackError as error:
        raise WrongValue(error.problem, f"{error.remedy}.") from None
    except RuleFileError as error:
        where = error.path if error.line is None else f"{error.path}:{error.line}"
        raise WrongValue(f"{where}: {error.problem}", f"{error.remedy[:1].upper()}{error.remedy[1:]}.") from None
    return name if path.stem == name else str(path)
