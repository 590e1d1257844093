"""Bodies without their content encodings: gzip and deflate, and Brotli and Zstandard by the packages that Scrapy has them from."""

import zlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

MOST_BYTES: Final = 1 << 28
"""Of a body, decompressed."""
_PIECE: Final = 1 << 12
#: Encoding -> packages that can read it, and the class that they have for it.
_DECODERS: Final = {
    "br": (("brotli", "brotlicffi"), "Decompressor"),
    "zstd": (("zstandard",), "ZstdDecompressor"),
}


class PageError(ValueError):
    """A response that cannot be read; the message says why."""


def decompressed(body: bytes, encodings: Sequence[str]) -> bytes:
    """Return a body without its content encodings. Raises PageError.

    >>> decompressed(zlib.compress(b"page"), ["deflate"])
    b'page'
    """
    names = [name.strip().lower() for value in encodings for name in value.split(",")]
    for name in reversed([name for name in names if name not in ("", "identity")]):
        if name not in _READ:
            raise PageError(f"its Content-Encoding is {name}: only {', '.join(_READ)} can be read")
        if body:
            body = _READ[name](body, name)
    return body


def _inflated(body: bytes, name: str) -> bytes:
    forms = (zlib.MAX_WBITS, -zlib.MAX_WBITS) if name == "deflate" else (zlib.MAX_WBITS | 16,)
    problem = ""
    for bits in forms:
        stream = zlib.decompressobj(bits)
        try:
            found = stream.decompress(body, MOST_BYTES)
        except zlib.error as error:
            problem = str(error)
            continue
        return _whole(found, is_whole=stream.eof)
    raise PageError(f"its body is no {name} ({problem})")


def _unbrotlied(body: bytes, name: str) -> bytes:
    module = _decoder(name)
    stream = module.Decompressor()
    found = _in_pieces(body, stream.process, module.error, name)
    return _whole(found, is_whole=stream.is_finished())


def _unzstandarded(body: bytes, name: str) -> bytes:
    module = _decoder(name)
    stream = module.ZstdDecompressor().decompressobj()
    found = _in_pieces(body, stream.decompress, module.ZstdError, name)
    return _whole(found, is_whole=stream.eof)


def _in_pieces(body: bytes, decompress: Callable[[bytes], bytes], wrong: type[Exception], name: str) -> bytes:
    """Return what *decompress* makes of a body; a small one may be packed of a very large one."""
    found, size = [], 0
    try:
        for start in range(0, len(body), _PIECE):
            found.append(decompress(body[start : start + _PIECE]))
            size += len(found[-1])
            if size >= MOST_BYTES:
                break
    except wrong as error:
        raise PageError(f"its body is no {name} ({error})") from None
    return b"".join(found)


def _whole(found: bytes, *, is_whole: bool) -> bytes:
    if len(found) >= MOST_BYTES:
        raise PageError("its body is too large")
    if not is_whole:
        raise PageError("its body is cut off")
    return found


def _decoder(name: str) -> Any:
    """Return the module that reads an encoding. Raises PageError where none is installed."""
    from importlib import import_module

    packages, made = _DECODERS[name]
    for package in packages:
        try:
            module = import_module(package)
        except ImportError:
            continue
        if hasattr(module, made):
            return module
    raise PageError(f"its Content-Encoding is {name}, which needs {packages[0]}: pip install {packages[0]}")


_READ: Final[Mapping[str, Callable[[bytes, str], bytes]]] = {
    "gzip": _inflated,
    "x-gzip": _inflated,
    "deflate": _inflated,
    "br": _unbrotlied,
    "zstd": _unzstandarded,
}
