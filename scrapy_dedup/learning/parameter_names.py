"""Names of parameters whose meaning is known without any evidence, apart from the code that learns."""

IRRELEVANT = ("sessionid", "jsessionid", "phpsessid", "utm_*", "gclid", "fbclid", "msclkid")
"""Names of parameters that are generally irrelevant: the one that the document gives, and session ids and tracking
parameters whose names are unmistakable."""
