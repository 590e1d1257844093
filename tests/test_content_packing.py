"""The stored form of page sketches."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_dedup.content.packing import MANY
from scrapy_dedup.content.sketch import Sketch, sketch_of_texts


def test_many_words_in_a_block() -> None:
    for number in (1, 2, MANY - 1, MANY, MANY + 1, 70_000):
        sketch = sketch_of_texts(["word " * number, "end"])
        assert sketch.words == number + 1
        assert sketch.weights == (min(number, MANY), 1)
        assert Sketch.from_bytes(sketch.to_bytes()) == sketch


@pytest.mark.parametrize(
    ("data", "said"),
    [
        *(
            (data, "page sketch")
            for data in (b"", b"\0", b"\1" + bytes(40), b"\2", b"\2" + bytes(31), b"\2" + bytes(32) + b"\xff")
        ),
        (b"\3", "format 3: this version reads format 2"),
    ],
    ids=range(7),
)
def test_no_sketch(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        Sketch.from_bytes(data)


@settings(deadline=None)
@given(st.integers(min_value=0))
def test_a_cut_sketch(cut: int) -> None:
    data = sketch_of_texts([f"text number {i}" for i in range(40)]).to_bytes()
    with pytest.raises(ValueError, match="page sketch"):
        Sketch.from_bytes(data[: 12 * (cut % (len(data) // 12))])


@settings(deadline=None)
@given(st.binary())
def test_any_bytes(data: bytes) -> None:
    try:
        sketch = Sketch.from_bytes(b"\2" + data)
    except ValueError:
        return
    assert sketch.bag
