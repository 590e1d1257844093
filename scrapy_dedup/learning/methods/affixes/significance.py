"""Whether an affix occurs more often than chance explains: a binomial tail, given that it occurs.

Source: url-parameter-relevance, equations (19) to (23). All is computed in logarithms: the
probability of a long affix underflows, and 1 - (1 - p)**N is 0.0 from eight characters on.
"""

from math import erfc, exp, expm1, inf, lgamma, log, log1p, sqrt

_NEGLIGIBLE = 1e-17
_TINY = -700.0
"""Below it exp() is 0."""


def sigma_level(sigmas: float) -> float:
    """Return the significance level of an event of so many sigmas: P(Z > *sigmas*), one-sided.

    >>> [round(sigma_level(sigmas), 5) for sigmas in (1, 2, 3, 4)]
    [0.15866, 0.02275, 0.00135, 3e-05]
    """
    return erfc(sigmas / sqrt(2)) / 2


def log_test_statistic(count: int, strings: int, log_probability: float) -> float:
    """Return log T(M, N, substring) of equation (23).

    T is the probability that an affix of probability exp(*log_probability*) occurs *count* times or
    more among *strings* strings, given that it occurs at least once: 0.0 (certain) for a count of 1,
    since every affix that is looked at occurs.

    >>> round(exp(log_test_statistic(2, 7, log(1 / 26))), 4)
    0.1137

    Raises ValueError for a count that is not from 1 to *strings*.
    """
    if not 1 <= count <= strings:
        raise ValueError(f"an affix cannot occur {count} times at {strings} strings")
    if count == 1 or log_probability >= 0:
        return 0.0
    return min(0.0, _log_tail(count, strings, log_probability) - _log_at_least_once(strings, log_probability))


def _log_at_least_once(strings: int, log_p: float) -> float:
    """Return log(1 - (1 - p)**N)."""
    if log_p < _TINY:
        return log(strings) + log_p
    never = strings * log1p(-exp(log_p))
    return log(-expm1(never))


def _log_tail(count: int, strings: int, log_p: float) -> float:
    """Return log P(at least *count* of *strings*); *count* is 2 or more, p below 1.

    Terms are summed away from the mean, where each is a fraction of the one before, so that they end
    after some multiple of the standard deviation.
    """
    p = exp(log_p)
    odds = p / (1 - p)
    first = _log_exactly(count, strings, log_p)
    if count > strings * p:
        total, term = 1.0, 1.0
        for i in range(count, strings):
            term *= (strings - i) / (i + 1) * odds
            total += term
            if term < _NEGLIGIBLE * total:
                break
        return first + log(total)
    # Fewer than expected: one minus the other side.
    term, total = count / ((strings - count + 1) * odds), 0.0
    for i in range(count - 1, -1, -1):
        total += term
        if term < _NEGLIGIBLE * total:
            break
        term *= i / ((strings - i + 1) * odds)
    below = exp(first) * total
    return log1p(-below) if below < 1 else -inf


def _log_exactly(count: int, strings: int, log_p: float) -> float:
    """Return the logarithm of equation (22), the binomial probability."""
    ways = lgamma(strings + 1) - lgamma(count + 1) - lgamma(strings - count + 1)
    never = log1p(-exp(log_p)) if log_p > _TINY else 0.0
    return ways + count * log_p + (strings - count) * never
