"""Spot checks of a fleet: which worker fetches one is chance, and each knows what those of all have shown.

A request that one worker has chosen stands in the queue of all. So it carries what it is to show, and what it has
shown is told to the others: every worker tries the rules by the same evidence.
"""

import json
from dataclasses import astuple
from typing import TYPE_CHECKING, Any, Final

import attrs
from scrapy.utils.defer import deferred_from_coro

from ...learning.lifetime.refutation import Difference, Noise
from ..support.request_meta import SAMPLE, SAMPLE_OF, is_digest_of
from .choosing import SpotCheck
from .rule_trials import Case

if TYPE_CHECKING:
    from scrapy import Request

    from ..fleet.shared_seen import SharedSeen
    from .choosing import SpotChecks
    from .spot_check_judge import SpotCheckJudge

_BEGUN: Final = "begun"
_JUDGED: Final = "judged"
_CASE: Final = "case"
_UNDECIDED: Final = "undecided"


@attrs.define(eq=False, repr=False)
class FleetChecks:
    """Tells the other workers of spot checks, and hears of theirs."""

    _spot_checks: "SpotChecks"
    _judge: "SpotCheckJudge"
    _seen: "SharedSeen"

    def tell_begun(self, request: "Request", check: SpotCheck) -> None:
        """Tell that *request* goes out as a spot check."""
        request.meta[SAMPLE_OF] = _told(check)
        self._seen.say(json.dumps({_BEGUN: _told(check)}))

    def tell_judged(self, check: SpotCheck, case: Case | None) -> None:
        """Tell what a spot check has shown; *case* if that is another page than it was taken for."""
        told: dict[str, Any] = {_JUDGED: _told(check)}
        if case is not None:
            told[_CASE] = [case.difference.name, case.content, astuple(case.noise), case.elsewhere]
        self._seen.say(json.dumps(told))

    def tell_undecided(self, check: SpotCheck) -> None:
        """Tell that nobody can tell what a spot check has shown."""
        self._seen.say(json.dumps({_UNDECIDED: _told(check)}))

    def hear(self, told: dict[str, Any]) -> None:
        """Take up what another worker has told."""
        if _BEGUN in told:
            self._note_begun(self._check(told[_BEGUN]))
            return
        if _UNDECIDED in told:
            self._judge.count_undecided(self._check(told[_UNDECIDED]))
            return
        check, case = self._check(told[_JUDGED]), None
        if _CASE in told:
            name, content, noise, elsewhere = told[_CASE]
            case = Case(
                check.rules,
                Difference[name],
                content,
                Noise(*noise),
                check.url,
                check.page,
                check.kinds,
                elsewhere=elsewhere,
            )
        deferred_from_coro(self._judge.hear(check, case)).addErrback(lambda _: None)

    def _note_begun(self, check: SpotCheck) -> None:
        """Count a spot check that another worker has chosen: this one need not make one like it."""
        self._spot_checks.number[check.site] += 1
        for rule in check.rules:
            rate = self._spot_checks.rate_of(check.site, rule)
            rate.given()
            rate.kinds.add(check.kinds.get(rule, 0))

    def adopt(self, request: "Request") -> None:
        """Let *request*, which this worker is about to fetch, be a spot check of it, if another worker has chosen it."""
        mark = request.meta.get(SAMPLE)
        if not isinstance(mark, str):
            return
        run, _, key = mark.partition(" ")
        under_way = self._spot_checks.under_way
        if run == self._spot_checks.run and key not in under_way and is_digest_of(key, request):
            under_way[key] = self._check(request.meta[SAMPLE_OF])

    def _check(self, told: list[Any]) -> SpotCheck:
        """Return what was told of a spot check; what it changes has other kinds in each process."""
        url, site, rules, page, at = told
        return SpotCheck(url, site, tuple(rules), page, self._spot_checks.kinds(url, page), at)


def _told(check: SpotCheck) -> list[Any]:
    return [check.url, check.site, list(check.rules), check.page, check.at]
