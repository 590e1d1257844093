"""All kinds of endpoints by id: phenomena D1 to D30, traps T1 to T30."""

from .model import Endpoint
from .phenomena import PHENOMENA
from .traps import TRAPS

KINDS: dict[str, type[Endpoint]] = {**PHENOMENA, **TRAPS}
