"""The setting that names rule packs."""

from typing import Any

from ...files.errors import RuleFileError
from ...packs.located import USES, UnknownPackError, load_packs, pack_path, shipped
from .setting_paths import project_folder
from .setting_values import WrongValue, mapping

__all__ = ["packs"]

_REMEDY = 'Write a list of names such as ["starter"], or a dictionary such as {"starter": "trust"}.'


def packs(value: Any) -> dict[str, str]:
    """Return name or absolute path of a pack -> how it is used; each file is there, and says nothing wrong."""
    if value is None or value in ("", "None", "none"):
        return {}
    if isinstance(value, str) and not value.lstrip().startswith(("{", "[")):
        value = [name.strip() for name in value.split(",")]
    uses = dict.fromkeys(value, USES[0]) if isinstance(value, list | tuple) else mapping(value, _REMEDY)
    found: dict[str, str] = {}
    for name, use in uses.items():
        if not isinstance(name, str) or not name:
            raise WrongValue(f"{name!r} is no name of a pack", _REMEDY)
        if use not in USES:
            raise WrongValue(f'{name!r} has {use!r}, not "prior" or "trust"', _REMEDY)
        found[_located(name)] = use
    return found


def _located(name: str) -> str:
    """Return a name of this package, or the absolute path of a pack that can be read."""
    folder = project_folder()
    try:
        path = pack_path(name, folder)
        if name in shipped():
            return name
        load_packs({str(path): USES[0]}, folder)
    except UnknownPackError as error:
        raise WrongValue(error.problem, f"{error.remedy}.") from None
    except RuleFileError as error:
        where = error.path if error.line is None else f"{error.path}:{error.line}"
        raise WrongValue(f"{where}: {error.problem}", f"{error.remedy[:1].upper()}{error.remedy[1:]}.") from None
    return str(path)
