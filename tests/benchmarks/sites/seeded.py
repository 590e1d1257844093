"""Everything made up comes from here: the same seed and names give the same words, numbers, choices."""

from hashlib import blake2b
from random import Random

SYLLABLES = [a + b for a in "bcdfglmnprstv" for b in "aeiou"]


def digest(*parts: object, size: int = 16) -> str:
    """Hexadecimal digits made of *parts*, *size* bytes of them."""
    text = "\x1f".join([str(part) for part in parts])
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=size).hexdigest()


def number_of(*parts: object) -> int:
    """A number of 64 bits made of *parts*."""
    return int(digest(*parts, size=8), 16)


def share_of(*parts: object) -> float:
    """A number from 0 to below 1 made of *parts*."""
    return number_of(*parts) / 2**64


def rng_of(*parts: object) -> Random:
    """A source of random numbers that begins at *parts*."""
    return Random(number_of(*parts))


def word(rng: Random, most: int = 4) -> str:
    """A pronounceable word of two syllables or more."""
    return "".join([rng.choice(SYLLABLES) for _ in range(rng.randint(2, most))])


def slug(*parts: object, words: int = 3) -> str:
    """Words with hyphens between them, made of *parts*."""
    rng = rng_of("slug", *parts)
    return "-".join([word(rng) for _ in range(words)])


def hex_token(rng: Random, length: int = 32) -> str:
    """Hexadecimal digits, as of a session id."""
    return f"{rng.getrandbits(4 * length):0{length}x}"


def epoch_ms(rng: Random) -> str:
    """Milliseconds since 1970, of some moment in a year."""
    return str(1_700_000_000_000 + rng.randrange(31_536_000_000))
