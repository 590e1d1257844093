import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.content.sketch import Sketch, sketch_of_texts


def test_the_stored_form() -> None:
    data = sketch_of_texts(["one", "two three"]).to_bytes()
    assert data[0] == 1  # version
    assert len(data) == 1 + 16 + 1 + 1 + 2 + 2 * 8 + 4
    assert data[19:21] == bytes((1, 2))  # words per block


def test_many_words_in_a_block() -> None:
    for number in (1, 2, 254, 255, 256, 70_000):
        sketch = sketch_of_texts(["word " * number, "end"])
        assert sketch.words == number + 1
        assert Sketch.from_bytes(sketch.to_bytes()) == sketch


@pytest.mark.parametrize("data", [b"", b"\0", b"\2" + bytes(40), b"\1", b"\1" + bytes(16), b"\1" + bytes(17) + b"\xff"])
def test_no_sketch(data: bytes) -> None:
    with pytest.raises(ValueError, match="page sketch"):
        Sketch.from_bytes(data)


def test_a_later_format_is_named() -> None:
    with pytest.raises(ValueError, match="format 2: this version reads format 1"):
        Sketch.from_bytes(b"\2")


@settings(deadline=None)
@given(st.integers(min_value=0))
def test_a_cut_sketch(cut: int) -> None:
    data = sketch_of_texts([f"text number {i}" for i in range(40)]).to_bytes()
    with pytest.raises(ValueError, match="page sketch"):
        Sketch.from_bytes(data[: cut % len(data)])


@settings(deadline=None)
@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    try:
        sketch = Sketch.from_bytes(b"\1" + data)
    except ValueError:
        return
    assert sketch.bag
