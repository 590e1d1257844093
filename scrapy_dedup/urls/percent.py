"""Percent-encoding in its normal form, for paths, matrix parameters and queries.

The target is the form that :func:`w3lib.url.canonicalize_url` gives, which is
also RFC 3986, section 6.2.2: escapes in upper case, unreserved characters never
escaped. Two things are shown otherwise than w3lib shows them, without equating
more: ``*`` in a query is raw (it is the placeholder of a dropped value), and
``;`` separates where every part of a piece looks like ``name=value``.

Everything here works on one component at a time and is linear in its length.
"""

import re

__all__ = [
    "is_normal_groups",
    "is_normal_query",
    "lower_first",
    "lower_value",
    "mended_query",
    "normal_params",
    "normal_path",
    "path_value",
    "query_value",
    "remove_dot_segments",
]

_UNRESERVED = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
_PATH_SAFE = _UNRESERVED + "!$&'()*+,;=:@/[]|"
# "[", "]" and "|" are escaped in the parameters of the last segment, which w3lib
# leaves alone once they are safe; in the rest of the path they are not.
_PARAMS_SAFE = _UNRESERVED + "!$&'()*+,;=:@/"
# Escapes that w3lib does not touch in a path: %, /, ; and ? would mean something else.
_PATH_KEPT = "%/;?"


class _Tokens(dict[str, str]):
    """What a character or an escape is written as; KeyError for what only w3lib knows."""

    __slots__ = ()

    def __missing__(self, token: str) -> str:
        # Control characters, "\\" in a path and a "%" without two hex digits are
        # left to w3lib; beyond ASCII it is always the escapes of the UTF-8 bytes.
        # A lone surrogate has none: UnicodeEncodeError is a ValueError.
        if token.isascii():
            raise KeyError(token)
        return "".join([f"%{byte:02X}" for byte in token.encode()])


def _tokens(raw: str, kept: str = "", **written: str) -> _Tokens:
    """Return the table of a component in which the characters *raw* are never escaped.

    *kept* are characters whose escape stays an escape although they may stand raw.
    """
    tokens = _Tokens()
    for byte in range(256):
        char = chr(byte)
        escape = f"%{byte:02X}"
        normal = char if char in raw and char not in kept else escape
        for high in {escape[1], escape[1].lower()}:
            for low in {escape[2], escape[2].lower()}:
                tokens[f"%{high}{low}"] = normal
        if 0x20 <= byte < 0x7F and char not in "%\\":
            tokens[char] = char if char in raw else escape
    tokens.update(written)
    return tokens


_PATH = _tokens(_PATH_SAFE, _PATH_KEPT)
_PARAMS = _tokens(_PARAMS_SAFE, "!$&'()*+,;=:@/")
_QUERY = _tokens(_UNRESERVED + "*")
_QUERY.update({" ": "+", "%20": "+", "\\": "%5C", "%": "%25"})

_PATH_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/|\[\]]")
_PARAMS_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,;=:@/]")
_QUERY_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~*+=&;]")

# A query in normal form, but for the order of its pieces. The loops are unrolled (no nested
# repetition), so a long query that does not match costs no more than one that does.
_CHAR = r"[A-Za-z0-9\-._~*+]*"
_ESCAPE = r"%(?:[0189A-F][0-9A-F]|2[1-9BCF]|3[ACDEF]|40|5[BCDE]|60|7[BCDF])"
_TEXT = rf"{_CHAR}(?:{_ESCAPE}{_CHAR})*"
_PIECE = rf"{_TEXT}={_TEXT}"
is_normal_query = re.compile(rf"{_PIECE}(?:&{_PIECE})*\Z").match
# With ";": every part must have a plain name. ("%5B" and "%5D" are brackets.)
_NAME = r"[A-Za-z0-9_.\-]*(?:%5[BD][A-Za-z0-9_.\-]*)*"
_PART = rf"(?!=){_NAME}={_TEXT}"
is_normal_groups = re.compile(rf"{_PART}(?:[;&]{_PART})*\Z").match
_IS_PART = re.compile(rf"(?!=){_NAME}=").match


def mended_query(query: str) -> str:
    """Return *query* in normal form, but for the order of its pieces.

    Raises KeyError or ValueError for control characters and lone surrogates.
    """
    # What is most often written raw; a substitution by expression costs ten times as much.
    if ":" in query:
        query = query.replace(":", "%3A")
    if "/" in query:
        query = query.replace("/", "%2F")
    if "," in query:
        query = query.replace(",", "%2C")
    if ";" not in query and "%3B" not in query and is_normal_query(query):
        return query
    query = _QUERY_TOKEN.sub(lambda match: _QUERY[match[0]], query)
    if ";" not in query and "%3B" not in query and is_normal_query(query):
        return query
    return "&".join([_mended_piece(piece) for piece in query.split("&") if piece])


def _mended_piece(piece: str) -> str:
    if ";" in piece or "%3B" in piece:
        # w3lib writes "C=N;O=D" and "C=N%3BO%3DD" alike: so must we, and the first
        # is the form in which both names are seen.
        parts = piece.replace("%3B", ";").replace("%3D", "=").split(";")
        if all(map(_IS_PART, parts)):
            return ";".join([_one_equals_sign(part) for part in parts])
    return _one_equals_sign(piece.replace(";", "%3B"))


def _one_equals_sign(piece: str) -> str:
    name, _, value = piece.partition("=")
    return f"{name}={value.replace('=', '%3D')}"


def normal_path(path: str) -> str:
    """Return *path* (starting with ``/``) in normal form, its dot segments resolved.

    >>> normal_path("/%7euser/a/../%e4;id=%7e")
    '/~user/%E4;id=~'

    Raises KeyError or ValueError for what only w3lib can mend.
    """
    semicolon = path.find(";", path.rfind("/"))
    params = ""
    if semicolon >= 0:
        params = normal_params(path[semicolon + 1 :])
        params = ";" + params if params else ""  # w3lib: "/a;" is "/a"
        path = path[:semicolon]
    path = _PATH_TOKEN.sub(lambda match: _PATH[match[0]], path)
    return remove_dot_segments(path) + params


def normal_params(params: str) -> str:
    """Return the matrix parameters of the last segment in normal form.

    >>> normal_params("x=%2f%41[")
    'x=%2FA%5B'
    """
    return _PARAMS_TOKEN.sub(lambda match: _PARAMS[match[0]], params)


def remove_dot_segments(path: str) -> str:
    """Return *path*, which starts with ``/``, without ``.`` and ``..`` (RFC 3986, 5.2.4).

    >>> remove_dot_segments("/a/./b/../c/..")
    '/a/'
    """
    if "/." not in path:
        return path
    *segments, last = path[1:].split("/")
    output: list[str] = []
    for segment in segments:
        if segment == "..":
            del output[-1:]
        elif segment != ".":
            output.append(segment)
    if last == "..":
        del output[-1:]
    output.append("" if last in {".", ".."} else last)
    return "/" + "/".join(output)


_VALUE_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~*+]", re.DOTALL)
_SEGMENT_TOKEN = re.compile(r"%[0-9A-Fa-f]{2}|[^A-Za-z0-9\-._~!$&'()*+,=:@|\[\]]", re.DOTALL)


def _value_text(tokens: _Tokens, text: str) -> str:
    if len(text) == 1 and not text.isprintable():
        return "".join([f"%{byte:02X}" for byte in text.encode(errors="surrogatepass")])
    if len(text) == 1 and text in "%/;?#\\":
        return f"%{ord(text):02X}"
    return tokens[text]


def query_value(text: str) -> str:
    """Return *text* as it is written in a query in normal form; raw or escaped alike.

    >>> query_value("a b&c"), query_value("a+b%26c"), query_value("é")
    ('a+b%26c', 'a+b%26c', '%C3%A9')
    """
    return _VALUE_TOKEN.sub(lambda match: _value_text(_QUERY, match[0]), text)


def path_value(text: str) -> str:
    """Return *text* as it is written as a segment of a path in normal form.

    >>> path_value("a b/c"), path_value("%7euser:x")
    ('a%20b%2Fc', '~user:x')
    """
    return _SEGMENT_TOKEN.sub(lambda match: _value_text(_PATH, match[0]), text)


def lower_first(value: str) -> str:
    """Return *value* with its first letter, if that is an ASCII one, in lower case.

    >>> lower_first("WikiWord"), lower_first("%C3%89cole")
    ('wikiWord', '%C3%89cole')
    """
    return value[:1].lower() + value[1:] if value[:1].isascii() else value


_LOWERED = re.compile("%[0-9A-Fa-f]{2}|[A-Z]+")


def lower_value(value: str) -> str:
    """Return *value* with its ASCII letters in lower case; escapes stay as they are.

    >>> lower_value("Ab%2FC")
    'ab%2Fc'
    """
    return _LOWERED.sub(lambda match: match[0] if match[0][0] == "%" else match[0].lower(), value)
