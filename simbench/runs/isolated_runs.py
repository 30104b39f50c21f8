"""Scenarios that run in processes of their own: one run, warm-up, and two physics engines compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from simbench.errors import RunError, SimbenchError
from simbench.files.storage import scratch_folder
from simbench.runs.baseline import Check, Expectation, Verdict, baseline_path, compare, read_baseline
from simbench.runs.execution import JobResult, run_isolated
from simbench.runs.log import open_run
from simbench.runs.metric_catalogue import Metric
from simbench.runs.run_directory import read_metrics
from simbench.runs.scenario.loading import load_scenario
from simbench.runs.scenario.scenario_files import find_scenario
from simbench.runs.scenario.schema import Scenario
from simbench.runs.traces.trace_comparison import Divergence, compare_trace
from simbench.runs.traces.trace_file import measure_trace
from simbench.runs.traces.trace_signals import read_samples
from simbench.sim.engine import usual_engine
from simbench.system.progress import OnProgress

_BRIEF = ("simulation.settle_s=0.05", "simulation.hold_s=0.05")
# Scenarios that together need every kernel of a run, and overrides that make them short.
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
# Metrics that are always shown, where a run has them; beside those of the equipment's ways.
_MAIN = (
    "fell",
    "tracking.rms_rad",
    "hands.rms_m",
    "hands.max_m",
    "zmp.min_margin_m",
    "zmp.inside_fraction",
    "feet.slip_m",
    "feet.turn_rad",
    "torque.rms_nm",
    "torque.saturated_fraction",
    "contact.peak_force_n",
    "grip.max_force_n",
    "push.survived_ns",
)
_WAYS = ("_travel_m", ".travel_m", "_turn_rad", ".cut_depth_m", ".max_m", ".max_rad")
_IGNORED = "engine"


def run_once(
    scenario: Scenario, folder: Path, cache: bool = True
) -> tuple[dict[str, Metric], tuple[Check, ...]]:
    """Run a scenario.

    `folder`: run directory to make; `cache`: whether the plan may come from the cache. Returns `metrics`
    {name: float, bool, str or None}: metrics as in `metrics.json`: None where a number is not finite;
    `checks`: outcome of the scenario's checks.
    """
    # Imported here, in the process with one thread: its imports read the number of threads.
    from simbench.runs.pipeline import run_scenario

    checks = run_scenario(scenario, folder, cache=cache, on_progress=False).checks
    return read_metrics(folder), checks


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


@dataclass(frozen=True)
class EngineComparison:
    """A scenario in two engines."""

    scenario: str  # Name of the scenario.
    checks: tuple[tuple[Check, ...], ...]  # Outcome of the scenario's checks in each engine.
    errors: tuple[str, ...]  # Error that ended the run in each engine, in one line; empty if none did.
    # Every metric of the second engine compared with the first one's; empty if one did not run.
    verdicts: tuple[Verdict, ...] = ()
    # of each signal the channel that leaves the first engine's tolerance first, the earliest first.
    divergences: tuple[Divergence, ...] = ()
    signals: int = 0  # Number of signals that were compared.

    @property
    def passed(self) -> bool:
        """Whether both ran to their end and all checks hold."""
        return not any(self.errors) and all(check.passed for checks in self.checks for check in checks)

    @property
    def main(self) -> tuple[Verdict, ...]:
        """The metrics that say most: tracking, balance, hands, the ways of the equipment, forces, torques."""
        names = {name: place for place, name in enumerate(_MAIN)}
        checked = {check.name for checks in self.checks for check in checks}
        shown = [
            verdict
            for verdict in self.verdicts
            if verdict.name in names or verdict.name in checked or verdict.name.endswith(_WAYS)
        ]
        return tuple(sorted(shown, key=lambda each: (names.get(each.name, len(names)), each.name)))


def compare_engines(
    names: Sequence[str],
    overrides: Sequence[str],
    folder: Path,
    *,
    engines: tuple[str, str],
    jobs: int,
    on_progress: Callable[[str, int, int], None],
) -> list[EngineComparison]:
    """Run scenarios in two physics engines and compare what comes of them.

    `names`: names or paths of the scenarios; `overrides`: overrides of every scenario, as for
    `load_scenario`; `folder`: run directories `<scenario>-<engine>` are made in it; `engines`: names of the
    engines; `jobs`: maximum number of runs at a time; `on_progress`: callback that receives the progress.
    Raises SimbenchError if a scenario is malformed, or two have the same name.
    """
    work: list[tuple[Scenario, Path, bool]] = []
    for name in names:
        for engine in engines:
            scenario = load_scenario(name, [*overrides, f"simulation.engine={engine}"])
            work.append((scenario, folder / f"{scenario.name}-{engine}", True))
    folders = [run[1] for run in work]
    if len(set(folders)) < len(folders):
        raise RunError("two of the scenarios have the same name; a comparison needs names of their own")
    done: dict[int, JobResult] = {}
    on_progress("runs", 0, len(work))
    with closing(run_isolated(run_once, work, jobs)) as finished:
        for index, result in finished:
            done[index] = result
            on_progress("runs", len(done), len(work))
    compared = []
    for number, name in enumerate(names):
        title, pair = work[2 * number][0].name, (done[2 * number], done[2 * number + 1])
        checks, errors = (
            tuple(() if run.error else run.value[1] for run in pair),
            tuple(run.error for run in pair),
        )
        if any(errors):
            compared.append(EngineComparison(title, checks, errors))
            continue
        metrics, other_metrics = (run.value[0] for run in pair)
        # The metrics of the first one, with the tolerances of its baseline where it has one.
        baseline = read_baseline(baseline_path(find_scenario(name), title, engines[0])) or {}
        expected = {
            metric: Expectation(value, spread=baseline[metric].spread if metric in baseline else 0.0)
            for metric, value in metrics.items()
            if metric != _IGNORED
        }
        verdicts = tuple(each for each in compare(expected, other_metrics) if each.name != _IGNORED)
        try:
            first, second = (read_samples(open_run(work[2 * number + k][1])) for k in (0, 1))
        except SimbenchError:
            compared.append(EngineComparison(title, checks, errors, verdicts))
            continue
        earliest: dict[str, Divergence] = {}
        for divergence in compare_trace(measure_trace([first], rate=1e6), second):
            earliest.setdefault(divergence.channel.signal, divergence)
        signals = len({each.signal for each in first.channels})
        compared.append(EngineComparison(title, checks, errors, verdicts, tuple(earliest.values()), signals))
    return compared
