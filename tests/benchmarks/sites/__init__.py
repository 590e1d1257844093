"""Made-up sites whose truth is known: which URLs lead to one page, and which parts of a page last.

A site is a number of endpoints. Each endpoint shows one way in which URLs of one page differ (a
phenomenon, D1 to D30) or in which a learner may be misled (a trap, T1 to T30), and answers for any
URL which page it is. Two URLs are duplicates if, and only if, their page keys are equal.
"""
