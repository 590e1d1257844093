"""Fields of forms: whether a page asks for a password."""

from lxml import etree

__all__ = ["has_password_field"]


def has_password_field(root: etree._Element) -> bool:
    """Tell whether a page, given by its root, has a field for a password.

    >>> from .html import parse
    >>> has_password_field(parse("<form><input name=user><input type=PASSWORD name=pw></form>"))
    True
    """
    return any((field.get("type") or "").strip().lower() == "password" for field in root.iter("input"))
