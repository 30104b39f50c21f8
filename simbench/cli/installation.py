"""The commands `simbench samples`, `schema`, `cache` and `warmup`: what is installed and kept beside runs."""

import json
import os
import time
from pathlib import Path
from typing import Annotated, Literal

from typer import Option

from simbench.cli.completion import complete_scenario
from simbench.cli.console import make_console, progress_bars
from simbench.cli.shared_options import Jobs, argument, option, output
from simbench.errors import ScenarioError
from simbench.resources import copy_resources, resource_dir


def samples(
    folder: Annotated[Path, output("Where they go; created if it is missing.", "DIR", positional=True)],
    force: Annotated[bool, Option("--force", help="Replace files there that differ.")] = False,
) -> None:
    """Write sample files: recordings, calibration data, an arm's URDF, a scenario; see their README.md."""
    for path in copy_resources("samples", folder, force):
        print(f"sample  {path}")


def schema(
    kind: Annotated[Literal["scenario", "robot"], argument("File that the schema describes.")],
    plugins_of: Annotated[
        Path | None, option("With the keys of the plug-ins that it names.", "FILE.yaml", name="--for")
    ] = None,
) -> None:
    """Print the JSON Schema of a scenario or a robot.yaml, for an editor."""
    if plugins_of is None:
        # Written from the models by scripts/tools/write_schemas.py; a test compares them.
        print((resource_dir("schemas") / f"{kind}.json").read_text(encoding="utf-8"), end="")
        return
    from simbench.runs.explain.schemas import scenario_schema_for
    from simbench.runs.scenario.loading import read_scenario_values

    if kind != "scenario":
        raise ScenarioError("--for: is about a scenario; allowed: simbench schema scenario --for FILE.yaml")
    described = scenario_schema_for(read_scenario_values(plugins_of))
    print(json.dumps(described, indent=1, ensure_ascii=False))


def cache(
    action: Annotated[
        Literal["info", "clear"], argument("Show where plans are kept and how many, or remove them.")
    ] = "info",
) -> None:
    """Show or clear the plans that runs keep on disk, so that runs of the same motion plan once."""
    from simbench.runs.plan_cache import SIZE_VARIABLE, cache_state, clear_cache

    if action == "clear":
        count, size = clear_cache()
        print(f"removed  {count} plans, {size / 1e6:.1f} MB")
        return
    folder, count, size, limit = cache_state()
    print(f"folder  {folder or 'none: the user has no home directory'}")
    print(f"plans   {count}, {size / 1e6:.1f} MB")
    print(f"limit   {limit / 1e6:g} MB; {SIZE_VARIABLE}=0 keeps none")


def warmup(
    scenarios: Annotated[
        list[str] | None,
        argument("Names or paths of YAML files; every kind of run if none.", "SCENARIO", complete_scenario),
    ] = None,
    jobs: Jobs = None,
) -> None:
    """Compile ahead what runs need, by short runs whose results are not kept."""
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what plans and simulates is imported.
    for name in scenarios or ():
        read_scenario(name)
    from simbench.runs.isolated_runs import choose_runs, warm_up

    begin, chosen = time.monotonic(), choose_runs(scenarios or ())
    with progress_bars(make_console(stderr=True)) as on_progress:
        warm_up(chosen, jobs or len(os.sched_getaffinity(0)), on_progress)
    print(f"ready  {len(chosen)} runs in {time.monotonic() - begin:.0f} s; their machine code is kept")
