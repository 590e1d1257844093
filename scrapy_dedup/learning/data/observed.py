"""Observations, site by site, as learning takes them."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace

from ...content.sketch import Sketch
from ...observation import Observation
from ...store.schema import signed_hash
from ...urls import normal_form, site_of_url

Progress = Callable[[str, int, int], None]
"""Takes what is being done, the number of steps done, and of all steps."""

MAX_SKETCHES = 200
"""Pages per site that are looked at for those that are nearly alike."""


def observations_by_site(
    observations: Iterable[Observation],
    groups: Mapping[str, Sequence[str]] | None,
    progress: Progress | None,
) -> tuple[dict[str, list[Observation]], dict[str, dict[str, Sketch]]]:
    """Return the observations of each site, and of some pages of each the sketch by a URL in normal form.

    Sketches are by far the largest part of observations: those of the first pages are kept.
    """
    by_site: dict[str, list[Observation]] = {}
    sketches: dict[str, dict[str, Sketch]] = {}
    known: dict[str, set[str]] = {}
    for number, observation in enumerate(observations):
        if progress and number % 1000 == 0:
            progress("reading observations", number, 0)
        site = site_of_url(observation.url, groups=groups)
        if not site:
            continue
        if observation.sketch is not None:
            pages, bags = sketches.setdefault(site, {}), known.setdefault(site, set())
            if len(pages) < MAX_SKETCHES and observation.sketch.bag not in bags:
                bags.add(observation.sketch.bag)
                pages[normal_form(observation.url)] = observation.sketch
            observation = replace(observation, sketch=None)
        by_site.setdefault(site, []).append(observation)
    for seen in by_site.values():  # as a store yields them, in whatever order the responses came
        seen.sort(key=lambda each: (signed_hash(each.url), each.url, each.time or 0.0))
    return by_site, sketches
