"""URLs that do something when they are fetched: what they are called.

The one list of such names. It is long on purpose, since a page that is not asked for once more costs
nothing, and one click on "delete" may cost much.
"""

import re
from itertools import pairwise
from typing import Final
from urllib.parse import unquote_plus

ACTING: Final = frozenset(
    """
    accept activate add apply approve archive assign attach authorize autologin ban bid block buy cancel
    checkin checkout claim clear clone close confirm connect create deactivate deauthorize decline del delete
    deny destroy detach disable disallow disconnect dislike dismiss donate downvote drop edit empty enable
    erase execute favorite favourite fav flag flush follow forget hide import impersonate insert install
    invite join kick kill leave lock logoff login logout mark merge modify move mute oauth optin optout patch
    pay pin poll posting publish purchase purge put rate react rebuild redeem register reject release remove
    rename reopen reply report request reserve reset restart restore resubmit revert revoke rm rollback run
    save send share shutdown signin signoff signout signup spam start stop submit subscribe sudo suspend
    swap switch tip toggle transfer trash truncate unassign unban unblock undelete undo unfollow unflag
    uninstall unlike unlock unmark unpin unpublish unregister unset unsubscribe unvote unwatch update upload
    upvote validate verify vote watch wipe wishlist withdraw write
    """.split()
)
"""Words that stand alone, or beside others, in what acts: ``action=delete``, ``/cart/add``, ``do=log-out``."""

BEGINNINGS: Final = ("addto", "add2", "delet", "logout", "remov", "unsubscrib", "voteup", "votedown")
"""Beginnings of words that are written together: ``addtocart``."""

_WORDS: Final = re.compile(r"[A-Z]?[a-z0-9]+|[A-Z0-9]+(?![a-z])")


def acts(url: str) -> bool:
    """Return whether a name in the path or the query of *url* says that something is done there.

    >>> acts("http://a.example/cart?action=AddToCart&id=7"), acts("http://a.example/user/log-out")
    (True, True)
    >>> acts("http://a.example/item?id=7&sort=address")
    False
    """
    rest = unquote_plus(url.partition("://")[2].partition("#")[0])
    words = [word.lower() for word in _WORDS.findall(rest.partition("/")[2])]
    pairs = [one + other for one, other in pairwise(words)]
    return any(word in ACTING or word.startswith(BEGINNINGS) for word in (*words, *pairs))
