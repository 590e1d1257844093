"""Rule packs as ``scrapy learn-rules --pack`` makes them: from what is recorded of several sites."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from .terminal.console import print_json
from .terminal.problems import Mistake

if TYPE_CHECKING:
    from ..crawl.settings.dedup_settings import DedupSettings
    from ..packs.model import Pack
    from .inputs.observation_sources import Sources


def make_pack(
    settings: "DedupSettings",
    name: str,
    sites: list[str],
    sources: "Sources | None" = None,
    *,
    dry_run: bool = False,
    json: bool = False,
) -> None:
    """Learn the sites, make a pack of them, show it, and write it unless *dry_run*. Raises Nothing, Mistake."""
    from ..crawl.settings.setting_paths import project_folder
    from ..files.locked import locked, write
    from ..packs.located import STARTER, load_packs, place_of_new
    from ..packs.model import Pack
    from ..packs.pack_files import load_pack, pack_text

    path = place_of_new(name, project_folder())
    base = load_pack(path) if path.exists() else Pack(path.stem)
    (starter,) = load_packs({STARTER: "prior"}, project_folder())
    pack = _packed(settings, replace(base, name=path.stem), starter, sites, sources)
    _print(pack, json=json)
    if dry_run:
        if not json:
            print("Nothing was written (--dry-run).")
        return
    with locked(path):
        write(path, pack_text(pack))
    if not json:
        print(f"The pack is {path}. Use it with DEDUP_PACKS = [{_named(path, project_folder())!r}].")


def _packed(
    settings: "DedupSettings", base: "Pack", starter: "Pack", names: list[str], sources: "Sources | None"
) -> "Pack":
    from ..learning.alternation import learn_rules_and_masks
    from ..learning.learning_options import LearningOptions
    from ..learning.packing import LEAST_SITES, LOADS, Teacher, pack_of
    from ..learning.phrases import counted
    from ..masks.loading import load_masks
    from .inputs.observation_sources import evidence_in_sources, evidence_in_store
    from .terminal.progress import progress

    known = settings.load_rules()
    with evidence_in_sources(settings, names, sources) if sources else evidence_in_store(settings, names) as evidence:
        sites = evidence.named()
        if len(sites) < LEAST_SITES:
            raise Mistake(
                f"a pack is made of {LEAST_SITES} sites or more, and this is of {counted(len(sites), 'site')} "
                f"({', '.join(sites)}): what one site shows may be its own"
            )
        with progress(f"learning from {sources or 'the store'}") as report:
            options = LearningOptions(
                max_loss=settings.max_loss, site_groups=settings.site_groups, names=settings.names, progress=report
            )
            both = learn_rules_and_masks(evidence, options, known=known, masks=load_masks(settings.rule_directories))

        sizes = evidence.sizes()
        loaded = 0

        def load(site: str) -> Teacher:
            nonlocal loaded
            show(f"comparing {site}", loaded, LOADS * sum(sizes.values()))
            loaded += sizes.get(site, 0)
            mask = both.masks.get(site)
            observations = list(evidence.observations(site, versions=mask is not None))
            rules = both.learned.book.for_site(site) or known.for_site(site)
            return Teacher.of(site, observations, rules, mask)

        with progress("making the pack") as show:
            return pack_of(base.name, sites, load, base, starter.platforms)


def _print(pack: "Pack", *, json: bool) -> None:
    """Print what the pack says, and on how many sites that was seen."""
    from ..learning.phrases import counted
    from ..rules.wording import condition_of, operations_of

    for rule in pack.rules:
        if json:
            print_json(
                {"type": "pack rule", "pack": pack.name, "platform": rule.platform, "template": rule.template}
                | {"match": condition_of(rule.match) if rule.match else "", "ops": operations_of(rule.ops)}
                | {"sites": rule.sites, "against": rule.against, "source": list(rule.source)}
            )
            continue
        if not (rule.sites or rule.against):
            continue
        where = ", ".join(filter(None, (rule.template, condition_of(rule.match) if rule.match else ""))) or "everywhere"
        said = f"{counted(rule.sites, 'site')} for it, {rule.against} against it" + (
            ", documented" if rule.source else ""
        )
        print(f"{rule.platform or 'any site'}: {operations_of(rule.ops)}, {where}: {said}")
    if not json:
        seen = sum(bool(rule.sites or rule.against) for rule in pack.rules)
        print(
            f"{counted(len(pack.rules), 'rule')} of {counted(len(pack.platforms), 'platform')}, {seen} of them seen on these sites."
        )


def _named(path: Path, folder: Path) -> str:
    """Return the name by which a project names the pack of a file."""
    if path.parent == folder / "packs":
        return path.stem
    return str(path.relative_to(folder)) if path.is_relative_to(folder) else str(path)
