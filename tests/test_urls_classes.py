"""Classes of values: the tightest that covers them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_dedup.urls import CLASS_NAMES, PLACEHOLDER, ValueClass, class_of

texts = st.one_of(st.text(), st.text("0123456789abcdefABCXYZ-_.+%2Bé", max_size=12))


@given(st.lists(st.one_of(st.none(), texts)))
def test_a_class_covers_what_it_was_made_of(values: list[str | None]) -> None:
    found = class_of(values)
    assert all(map(found.matches, values))


@given(st.lists(texts, min_size=1))
def test_no_tighter_class_does(values: list[str]) -> None:
    found = class_of(values)
    for name in CLASS_NAMES[: CLASS_NAMES.index(found.name)]:
        assert not all(map(ValueClass(name, found.min_len, found.max_len).matches, values))


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([], "empty"),
        (["", None], "empty"),
        (["1", "23"], "int1-2"),
        (["1", ""], "int0-1"),
        (["2024-05-06", "2024-05"], "date7-10"),
        (["123e4567-e89b-12d3-a456-426614174000"], "uuid36"),
        (["%7B123e4567-e89b-12d3-a456-426614174000%7D"], "uuid42"),
        (["d41d8cd98f00b204e9800998ecf8427e"], "hex32"),
        (["d41d8cd98f00b204e9800998ecf8427e", "zz"], "alnum2-32"),
        (["red-shoes", "v1.0_a"], "slug6-9"),
        (["a%2Bb%3D%3D"], "b6411"),
        (["a%20b"], "any5"),
        ([PLACEHOLDER, "1"], "int1"),
    ],
)
def test_classes(values: list[str | None], name: str) -> None:
    assert str(class_of(values)) == name


def test_matching() -> None:
    assert ValueClass("int", 1, 3).matches(PLACEHOLDER)
    assert not ValueClass("int", 1, 3).matches("")
    assert not ValueClass("int", 1, 3).matches(None)
    assert ValueClass("empty", 0, 0).matches(None)
    assert not ValueClass("empty", 0, 9).matches("a")
    assert not ValueClass("int", 1, 3).matches("1\n")
    assert ValueClass("any").matches("\n")


@pytest.mark.parametrize("bad", [("hx", 0, 1), ("hex", 3, 2), ("hex", -1, 2)])
def test_classes_that_are_none(bad: tuple[str, int, int]) -> None:
    with pytest.raises(ValueError, match="class"):
        ValueClass(*bad)
