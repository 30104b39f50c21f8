"""Compile ahead what runs need: short runs of every kind, whose machine code is kept."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from simbench.errors import RunError
from simbench.files.storage import scratch_folder
from simbench.runs.execution.local import run_isolated
from simbench.runs.regression import run_once
from simbench.runs.scenario.loading import Scenario, load_scenario
from simbench.sim.engines import usual_engine
from simbench.system.progress import OnProgress

_BRIEF = ("simulation.settle_s=0.05", "simulation.hold_s=0.05")
KINDS: dict[str, tuple[str, ...]] = {
    # Whole body on equipment.
    "drawer": ("motion.task.repetitions=1", *_BRIEF),
    # Free motion.
    "dance": ("motion.end_s=0.4", "simulation.lead_in_s=0.6", *_BRIEF),
    # Steps.
    "mahru_walk": ("stepping.commands=[{march: 2}]", *_BRIEF),
    # Recovery from a push.
    "push": (*_BRIEF, "push.start_s=0.1", "push.interval_s=1"),
    # Weights of criteria.
    "drawer_by_weights": ("motion.task.repetitions=1", *_BRIEF),
    # An arm on a fixed base.
    "puma560_drawer": ("motion.task.repetitions=1", *_BRIEF),
}
"""Scenarios that together need every kernel of a run, and overrides that make them short."""


def choose_runs(names: Sequence[str]) -> list[Scenario]:
    """Choose the runs that compile what scenarios need.

    `names`: names or paths of scenarios; those of every kind if empty. Returns the scenarios, as short as
    they can be. Raises ScenarioError if a scenario is not valid.
    """
    # Those of every kind are in Bullet unless only MuJoCo is there; what is named keeps its engine.
    engine = [] if names else [f"simulation.engine={usual_engine()}"]
    return [load_scenario(name, [*KINDS.get(name, ()), *engine]) for name in names or KINDS]


def warm_up(scenarios: Sequence[Scenario], jobs: int, on_progress: OnProgress) -> None:
    """Run scenarios and keep nothing but the machine code.

    The first run is made alone: the others share most of what it compiles. `scenarios`: result of
    `choose_runs`; `jobs`: number of runs at a time; `on_progress`: called when a run ends.
    """
    done = 0
    on_progress("warm up", done, len(scenarios))
    with scratch_folder() as folder:
        for part in (scenarios[:1], scenarios[1:]):
            work = [(each, Path(folder) / f"{done + k}", False) for k, each in enumerate(part)]
            with closing(run_isolated(run_once, work, jobs)) as finished:
                for number, result in finished:
                    if result.error:
                        raise RunError(f"{part[number].name}: {result.error}")
                    done += 1
                    on_progress("warm up", done, len(scenarios))
