"""The names of the methods, and of parameters whose meaning is known, apart from the code that learns: settings are checked without it."""

JUDGE = "judge"
METHOD_NAMES = (JUDGE, "entropy", "equivalence", "pattern-tree")
"""What may decide: the judge, or a published method alone."""

IRRELEVANT = ("sessionid", "jsessionid", "phpsessid", "utm_*", "gclid", "fbclid", "msclkid")
"""Names of parameters that are generally irrelevant: the one that the document gives, and session ids and tracking
parameters whose names are unmistakable."""
