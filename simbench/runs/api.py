"""The run of a scenario as one call."""

from __future__ import annotations

from pathlib import Path

from typing_extensions import Unpack

from simbench.runs.pipeline import run_scenario
from simbench.runs.plugins import GivenPlugins
from simbench.runs.result import RunResult
from simbench.runs.run_directory import DirectoryTaken, unused_run_path
from simbench.runs.scenario.loading import load_scenario, override_scenario
from simbench.runs.scenario.schema import Scenario
from simbench.runs.scenario.yaml_source import Overrides
from simbench.system.progress import Progress


def run(
    scenario: str | Path | Scenario,
    overrides: Overrides = (),
    *,
    out: str | Path | None = None,
    video: bool = False,
    cache: bool = True,
    on_progress: Progress = None,
    **given: Unpack[GivenPlugins],
) -> RunResult:
    """Retarget, simulate and measure a scenario.

    Parameters
    ----------
    scenario : str, Path or Scenario
        Name (`simbench list scenarios`), path of a YAML file, or what `load_scenario` returned.
    overrides : mapping of str to object, or sequence of str
        Values to set: `{"control.stiffness_scale": 2}`, `{"control": {"stiffness_scale": 2}}`, or texts
        `control.stiffness_scale=2` as after `--set`.
    out : str or Path, optional
        Run directory to make; by default `runs/SCENARIO-TIME`.
    video : bool
        Whether video.mp4 is rendered at once; the result's `video` does it later.
    cache : bool
        Whether the plan of the motion may come from the cache of plans; the run is the same, bit for bit.
    on_progress : callable (stage, done, total), bool or None
        Callback that receives the progress of each stage; or whether progress is shown on the standard error,
        None for in a terminal or a notebook only.
    **given : control_law, balancer, retargeter
        Functions or sections of yours in the place of those that the scenario names: see `run_scenario`.

    Returns
    -------
    RunResult
        Metrics, checks, and the log, plots, video and report when they are asked for.

    Raises
    ------
    SimbenchError
        For bad input; nothing half-written stays.
    """
    resolved = (
        override_scenario(scenario, overrides)
        if isinstance(scenario, Scenario)
        else load_scenario(scenario, overrides)
    )
    while True:
        folder = unused_run_path(resolved.name) if out is None else Path(out)
        try:
            return run_scenario(resolved, folder, video=video, cache=cache, on_progress=on_progress, **given)
        except DirectoryTaken:
            # Another process chose the same name in the same second.
            if out is not None:
                raise
