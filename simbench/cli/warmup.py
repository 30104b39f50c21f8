"""The command line's `simbench warmup`: parse, call, print."""

import os
import time
from typing import Annotated

import typer

from simbench.cli.completion import complete_scenario


def warmup(
    scenarios: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="SCENARIO",
            help="Names or paths of YAML files; every kind of run if none.",
            autocompletion=complete_scenario,
        ),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="Runs at a time, by default one a core.")
    ] = None,
) -> None:
    """Compile ahead what runs need, by short runs whose results are not kept."""
    from simbench.runs.scenario.scenario_files import read_scenario

    # A wrong name is found before what plans and simulates is imported.
    for name in scenarios or ():
        read_scenario(name)
    from simbench.cli.console import make_console, progress_bars
    from simbench.runs.isolated_runs import choose_runs, warm_up

    begin, chosen = time.monotonic(), choose_runs(scenarios or ())
    with progress_bars(make_console(stderr=True)) as on_progress:
        warm_up(chosen, jobs or len(os.sched_getaffinity(0)), on_progress)
    print(f"ready  {len(chosen)} runs in {time.monotonic() - begin:.0f} s; their machine code is kept")
