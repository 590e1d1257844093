"""The URL templates of a site, and what its rules do with each parameter."""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import unquote, urlsplit

from ..rules.operations import Ignore, IgnoreValue, Keep
from ..rules.table import CompiledRule

if TYPE_CHECKING:
    from ..rules.book import RuleBook

#: Parts of a path that are told apart at one place, if they are no small share of the URLs there; levels that are.
_MOST_PARTS: Final = 12
_SMALL_SHARE: Final = 0.1
_LEVELS: Final = 6
_PARAMETERS: Final = 40
_EXAMPLES: Final = 3
_LONGEST: Final = 60
#: URLs of a template at which it is looked what rules do to a parameter.
_LOOKED_AT: Final = 20
#: What a number, a token, or any of many parts of a path is written as.
_ANY: Final = "*"

_numbers = re.compile("[0-9]+").sub
_is_token = re.compile(r"(?=[^/]*[0-9])(?=[^/]*[A-Za-z])[0-9A-Za-z_\-]{16,}\Z").match


def url_templates(urls: Mapping[str, bool], book: "RuleBook") -> list[dict[str, Any]]:
    """Return the templates of URLs, the one with most URLs first; of each URL it is told whether it was filtered."""
    found, forms = [], []
    for url in urls:
        try:
            parts = urlsplit(url)
        except ValueError:
            continue
        found.append((url, _parameters_in(parts.query)))
        forms.append((f"{parts.scheme}://{parts.netloc}", *_labels_of(parts.path)))
    by_label: defaultdict[str, list[tuple[str, dict[str, str]]]] = defaultdict(list)
    for label, one in zip(_labels(forms), found, strict=True):
        by_label[label].append(one)
    templates = [
        {
            "label": label,
            "urls": len(some),
            # Those that no crawl has fetched.
            "filtered": sum(urls[url] for url, _ in some),
            "parameters": _parameters_of(some, book),
        }
        for label, some in by_label.items()
    ]
    return sorted(templates, key=lambda template: (-template["urls"], template["label"]))


def _labels_of(path: str) -> list[str]:
    """Return the parts of a path, with a star for each number and token in them.

    >>> _labels_of("/item/12/a-title.html"), _labels_of("/"), _labels_of("/v2/0A1B2C3D4E5F60718")
    (['/item', '/*', '/a-title.html'], ['/'], ['/v*', '/*'])
    """
    segments = path.split("/")[1:] or [""]
    if len(segments) > 1 and not segments[-1]:  # the slash at the end
        segments[-2:] = [segments[-2] + "/"]
    names = [segment.partition(";")[0] for segment in segments]
    return ["/" + (_ANY if _is_token(name) else _numbers(_ANY, name)) for name in names]


def _labels(forms: "Sequence[tuple[str, ...]]") -> list[str]:
    """Return URLs in words, from their hosts and the parts of their paths: of many parts at one place the rare ones are a star."""
    made = ["" for _ in forms]
    for level in range(_LEVELS + 1):
        below: defaultdict[str, Counter[str]] = defaultdict(Counter)
        for label, form in zip(made, forms, strict=True):
            if len(form) > level:
                below[label][form[level]] += 1
        for at, form in enumerate(forms):
            if len(form) > level:
                counts = below[made[at]]
                is_rare = len(counts) > _MOST_PARTS and counts[form[level]] < _SMALL_SHARE * counts.total()
                made[at] += "/" + _ANY if is_rare else form[level]
    return [f"{label}/…" if len(form) > _LEVELS + 1 else label for label, form in zip(made, forms, strict=True)]


def _parameters_in(query: str) -> dict[str, str]:
    """Return the parameters of a query, of repeats the first.

    >>> _parameters_in("a=1&b&a=2")
    {'a': '1', 'b': ''}
    """
    found: dict[str, str] = {}
    for part in query.split("&"):
        name, _, value = part.partition("=")
        if name:
            found.setdefault(unquote(name), value)
    return found


def _parameters_of(some: "list[tuple[str, dict[str, str]]]", book: "RuleBook") -> list[dict[str, Any]]:
    values: defaultdict[str, Counter[str]] = defaultdict(Counter)
    having: defaultdict[str, list[str]] = defaultdict(list)
    for url, parameters in some:
        for name, value in parameters.items():
            values[name][value] += 1
            having[name].append(url)
    found = []
    for name in sorted(having, key=lambda name: (-len(having[name]), name))[:_PARAMETERS]:
        does, rules = _done(f"q.{name}", having[name], book)
        examples = [
            value if len(value) <= _LONGEST else value[:_LONGEST] + "…"
            for value, _ in values[name].most_common(_EXAMPLES)
        ]
        found.append(
            {"name": name, "values": len(values[name]), "examples": examples, "does": does, "rules": list(rules)}
        )
    return found


def _done(key: str, urls: Sequence[str], book: "RuleBook") -> tuple[str, tuple[str, ...]]:
    """Return what rules do with a parameter, "ignored", "kept" or "changed", and their ids; "" where none does anything."""
    found: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for url in urls[:: max(1, len(urls) // _LOOKED_AT)][:_LOOKED_AT]:
        changing = {rule for rule, touched, _ in book.canonical(url).changes if touched.partition("[")[0] == key}
        for rule in book.matching(url):
            operation, _ = CompiledRule(rule).operation_on(key) or (None, 0)
            if isinstance(operation, Keep):
                found["kept"][rule.id] = None
            elif rule.id in changing:
                found["ignored" if isinstance(operation, Ignore | IgnoreValue) else "changed"][rule.id] = None
    return next(((word, tuple(found[word])) for word in ("ignored", "changed", "kept") if word in found), ("", ()))
