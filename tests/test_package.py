"""The package as a whole: what it exports, which room knows which, and that its documents are right."""

import ast
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

import scrapy_dedup
from scrapy_dedup.rules.reading import read_rules

ROOT = Path(__file__).resolve().parent.parent
PACKAGE = ROOT / "scrapy_dedup"
MODULES = sorted(PACKAGE.rglob("*.py"))

#: Room -> the rooms that it may import from; chance and observation are modules at the root.
KNOWS = {
    "chance": set(),
    "files": set(),
    "urls": set(),
    "content": {"urls"},
    "observation": {"content"},
    "masks": {"chance", "files", "urls", "content", "observation"},
    "rules": {"files", "urls", "content", "masks"},
    "store": {"urls", "content", "observation"},
    "learning": {"chance", "files", "urls", "content", "observation", "masks", "rules", "store"},
    "crawl": {"files", "urls", "content", "observation", "masks", "rules", "store", "learning"},
    "commands": {"files", "urls", "content", "observation", "masks", "rules", "store", "learning", "crawl"},
}

MASKS = PACKAGE / "masks"
#: Rooms of masks, from the bottom up; "" is masks itself: the model, the files, and how they are applied.
MASK_LEVELS = ("seed", "", "fields", "learning")

LEARNING = PACKAGE / "learning"
#: Rooms and modules of learning, from the bottom up: each knows those of the levels below. What is not named tells the pipeline.
LEVELS = (
    {"config", "deadline", "names", "wording"},
    {"evidence"},
    {"data"},
    {"proposals"},
    {"search", "decision", "aliases"},
    {"methods", "lifetime"},
    {"opinions"},
    {"learners", "asking"},
)


def room_of(module: Path) -> str:
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports_of(module: Path) -> set[str]:
    """The rooms and top-level packages that a module imports, wherever the import stands."""
    found = set()
    depth = len(module.relative_to(PACKAGE).parts)
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and not node.level:
            found.add((node.module or "").partition(".")[0])
        elif isinstance(node, ast.ImportFrom) and node.level == depth:
            names = [node.module] if node.module else [alias.name for alias in node.names]
            found |= {"." + name.partition(".")[0] for name in names}
    return found


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_rooms_know_only_those_below(module):
    room = room_of(module)
    if room == "__init__":
        return
    imported = imports_of(module)
    assert {name[1:] for name in imported if name.startswith(".")} <= KNOWS[room] | {room}
    if room not in ("crawl", "commands"):
        assert "scrapy" not in imported
        assert "twisted" not in imported


def modules_known_by(module: Path) -> set[Path]:
    """The modules and packages of the package that a module imports from, wherever the import stands."""
    found = set()
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = module.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in (alias.name for alias in node.names):
                candidates = (base / f"{name}.py", base / name / "__init__.py", base / "__init__.py")
                found.add(next((path for path in candidates if path.exists()), base.with_suffix(".py")))
    return found


def level_of(module: Path) -> int:
    room = module.relative_to(LEARNING).parts[0].removesuffix(".py")
    return next((number for number, rooms in enumerate(LEVELS) if room in rooms), len(LEVELS))


def room_of_learning(module: Path) -> str:
    """The room that a module of learning stands in; the pipeline and what all know are a room each."""
    parts = module.relative_to(LEARNING).parts
    return parts[0] if len(parts) > 1 else f"level {level_of(module)}"


@pytest.mark.parametrize("module", sorted(LEARNING.rglob("*.py")), ids=lambda module: str(module.relative_to(LEARNING)))
def test_rooms_of_learning_know_only_those_below(module):
    known = {other for other in modules_known_by(module) if other.is_relative_to(LEARNING)}
    others = {other for other in known if room_of_learning(other) != room_of_learning(module)}
    assert {str(other.relative_to(LEARNING)) for other in others if level_of(other) >= level_of(module)} == set()


def test_rooms_of_learning_are_named():
    rooms = {path.parent.name for path in LEARNING.glob("*/__init__.py")}
    assert rooms <= set().union(*LEVELS)


def mask_room_of(module: Path) -> str:
    parts = module.relative_to(MASKS).parts
    return parts[0] if len(parts) > 1 else ""


@pytest.mark.parametrize("module", sorted(MASKS.rglob("*.py")), ids=lambda module: str(module.relative_to(MASKS)))
def test_rooms_of_masks_know_only_those_below(module):
    level = MASK_LEVELS.index(mask_room_of(module))
    known = {other for other in modules_known_by(module) if other.is_relative_to(MASKS)}
    above = {other for other in known if MASK_LEVELS.index(mask_room_of(other)) > level}
    assert {str(other.relative_to(MASKS)) for other in above} == set()


@pytest.mark.parametrize(
    ("room", "below", "above"),
    [(LEARNING, "config.py", "learn.py"), (MASKS, "slots.py", "learning/learn.py")],
    ids=["learning", "masks"],
)
def test_modules_of_a_room_import_each_other_in_no_circle(room, below, above):
    graph = {module: modules_known_by(module) for module in room.rglob("*.py")}
    order = list(TopologicalSorter(graph).static_order())
    assert order.index(room / below) < order.index(room / above)


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(PACKAGE)))
def test_modules_are_small(module):
    assert len(module.read_text(encoding="utf-8").splitlines()) <= 400


def test_public_names():
    assert sorted(scrapy_dedup.__all__) == [
        "Addon",
        "Mask",
        "Observation",
        "RuleBook",
        "learn_mask",
        "learn_rules",
        "strip_transient",
    ]
    assert {*scrapy_dedup.__all__} <= {*dir(scrapy_dedup)}
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = scrapy_dedup.nothing


def test_functions_do_not_import_scrapy():
    probe = (
        "import sys; from scrapy_dedup import Observation, RuleBook, learn_rules\n"
        "learn_rules([Observation('http://a.test/?b=1', 'x')]).canonical_key('http://a.test/')\n"
        "print(sorted({name.partition('.')[0] for name in sys.modules} & {'scrapy', 'twisted'}))"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_rule_files_of_the_documentation_are_right():
    text = (ROOT / "docs" / "usage" / "rule-files.rst").read_text(encoding="utf-8")
    blocks = re.findall(r"\.\. code-block:: toml\n\n((?:    .*\n|\n)+)", text)
    assert len(blocks) == 2
    whole, deep = (re.sub(r"^    ", "", block, flags=re.MULTILINE) for block in blocks)
    head, _, rules = whole.partition("[[rule]]")
    for content in (whole, f"{head}\n{deep}\n[[rule]]{rules}"):
        found, faults = read_rules(content, Path("shop.example.toml"))
        assert not faults
        assert found is not None
        assert [str(rule.status) for rule in found.rules] == ["manual", "active"]
