"""Parts that are transient: a matter of the moment, or of the response."""

from .look import BEGIN, HOUR, Fetch, Look, Part, written

__all__ = ["PASSING"]


def clock(look: Look, fetch: Fetch) -> list[str]:
    """The time, in the form of the site."""
    return [look.said(written(fetch.at, look.clock))]


def date(look: Look, fetch: Fetch) -> list[str]:
    """The date of today."""
    return [look.said(written(fetch.at, look.date))]


def weather(look: Look, fetch: Fetch) -> list[str]:
    """The weather where the site is."""
    rng = look.drawn_now(fetch)
    return [look.said(f"{rng.randint(-5, 35)} ° {rng.choice(look.states)}")]


def thought(look: Look, fetch: Fetch) -> list[str]:
    """One of some texts, for a while."""
    return [look.drawn_now(fetch).choice(look.pool)]


def most_read(look: Look, fetch: Fetch) -> list[str]:
    """What is read most on the site, for a while."""
    return look.many(look.drawn_now(fetch), look.pool)


def visitors(look: Look, fetch: Fetch) -> list[str]:
    """How many have visited the site; each request counts."""
    since = look.low * 7 + fetch.request * 3 + int((fetch.at - BEGIN) / 50) + look.drawn(fetch.request).randint(0, 2)
    return [look.counted(since)]


def online(look: Look, fetch: Fetch) -> list[str]:
    """How many are on the site, another number for each response."""
    return [look.counted(look.drawn(fetch.request).randint(look.low, look.high))]


def online_slowly(look: Look, fetch: Fetch) -> list[str]:
    """How many are on the site, which hardly changes within moments."""
    middle = look.drawn("hour", int(fetch.at // HOUR)).uniform(look.low, look.high)
    return [look.counted(int(middle * look.drawn(fetch.request).uniform(0.9, 1.1)))]


def token(look: Look, fetch: Fetch) -> list[str]:
    """Letters and digits, drawn for each response."""
    return [look.said(f"{look.drawn(fetch.request).getrandbits(96):024x}")]


def duration(look: Look, fetch: Fetch) -> list[str]:
    """How long the response took."""
    return [look.said(f"{look.drawn(fetch.request).uniform(0.01, 0.9):.3f} s")]


def advertisement(look: Look, fetch: Fetch) -> list[str]:
    """One of some texts, drawn for each response."""
    return [look.drawn(fetch.request).choice(look.pool)]


def teasers(look: Look, fetch: Fetch) -> list[str]:
    """Some of some texts, drawn for each response."""
    return look.many(look.drawn(fetch.request), look.pool)


def banner(look: Look, fetch: Fetch) -> list[str]:
    """A text that is there or not, drawn for each response."""
    return [look.pool[0]] if look.drawn(fetch.request).random() < 0.4 else []


def notice(look: Look, fetch: Fetch) -> list[str]:
    """One of three texts, drawn for each response."""
    return [look.drawn(fetch.request).choice(look.pool[:3])]


def notice_of_the_hour(look: Look, fetch: Fetch) -> list[str]:
    """One of three texts, or none, for a while."""
    rng = look.drawn_now(fetch)
    return [rng.choice(look.pool[:3])] if rng.random() < 0.6 else []


def viewers(look: Look, fetch: Fetch) -> list[str]:
    """Of a page: as many as these may look at it at once."""
    return [look.said(str(look.drawn(fetch.request).randint(1, 10 + look.low % 50)))]


def time_left(look: Look, fetch: Fetch) -> list[str]:
    """How long it is to a time of day."""
    minutes = int(-fetch.at // 60) % 1440
    return [look.said(f"{minutes // 60} h {minutes % 60} min")]


def viewed_lately(look: Look, fetch: Fetch) -> list[str]:
    """What was asked for before, of the session."""
    return [look.said(str(number)) for number in range(max(0, fetch.request - look.shown), fetch.request)]


PASSING = (
    Part("clock", True, clock, "header footer aside", True),
    Part("date", True, date, "header footer aside", True),
    Part("weather", True, weather, "header footer aside"),
    Part("thought of the day", True, thought, "header footer aside"),
    Part("most read", True, most_read, "header footer aside after"),
    Part("visitors", True, visitors, "header footer aside", True),
    Part("online", True, online, "header footer aside", True),
    Part("online, slowly", True, online_slowly, "header footer aside", True),
    Part("viewers", True, viewers, "article after", False),
    Part("time left", True, time_left, "header article after", False),
    Part("token", True, token),
    Part("duration", True, duration, "header footer aside", True),
    Part("advertisement", True, advertisement),
    Part("teasers", True, teasers),
    Part("banner", True, banner),
    Part("notice", True, notice, "header footer aside after"),
    Part("notice of the hour", True, notice_of_the_hour, "header footer aside"),
    Part("viewed lately", True, viewed_lately, "aside after footer"),
)
