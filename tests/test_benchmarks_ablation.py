"""The ablation benchmark leaves out steps of learning that are there."""

from importlib import import_module
from typing import Any

import pytest

from tests.benchmarks.ablation import LEARNING, STEPS, without


def functions(step: str) -> list[Any]:
    """Return what stands where the functions of a step are defined."""
    paths = [path.rsplit(".", 1) for path, _ in STEPS[step]]
    return [getattr(import_module(f"{LEARNING}.{module}"), name) for module, name in paths]


@pytest.mark.parametrize("step", STEPS)
def test_a_step_is_left_out_for_as_long_as_asked(step: str) -> None:
    there = functions(step)
    assert there
    with without(step):
        assert not any(one is other for one, other in zip(there, functions(step), strict=True))
    assert functions(step) == there
