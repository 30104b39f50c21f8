"""Test whether `simbench check` detects faults, and reports nothing else.

python scripts/tools/check_catches.py [SCENARIO ...] [--repeats N] [--jobs N]

Checks the scenarios (by default all that have a baseline) as they are; N times with the robot displaced by
1e-12 m and 1e-12 rad, like the rounding of another machine; and in copies of the code with one deliberate
fault each: a fault must make a metric of some scenario worse or a signal leave its envelope, and not only
prevent a run from starting. The table says what metrics alone detect, and what traces do: the signal that
diverges first, when, and by how many of its envelopes. A fault that changes nothing, because what it swaps is
equal, must not be detected. Exit status 1 if a check of intact code fails, or a fault is not detected.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simbench.cli.console import progress_bars
from simbench.errors import SimbenchError
from simbench.runs.regression import Case, find_cases, perturb_scenario, require_baselines

ROOT = Path(__file__).parents[2]
FOLDERS = ("simbench", "robots", "scenarios", "marker_maps")
_OTHER_DRAWS = 100
"""Seed of the perturbations; they differ from those from which a baseline's spread is measured."""
_SHOWN = 3
_ERROR = "failed: "
"""Beginning of the lines in which `simbench check` reports a run that ended without metrics."""


@dataclass(frozen=True)
class Fault:
    """A fault in one file: its description, the texts in the file that are replaced, where it shows.

    `scenarios` are those that it can affect: of these, the ones that are checked anyway are run.
    `changes_nothing` marks a fault by which nothing may change.
    """

    name: str
    file: str
    changes: tuple[tuple[str, str], ...]
    scenarios: tuple[str, ...] = ("drawer",)
    changes_nothing: bool = False


FAULTS = (
    Fault(
        "gain of ROMEO's shoulder pitch halved",
        "robots/romeo/robot.yaml",
        (("  LShoulderPitch: [300, 11]", "  LShoulderPitch: [150, 11]"),),
    ),
    Fault(
        "mass of ROMEO's torso +20 %",
        "robots/romeo/romeo.urdf",
        (('<mass value="9.9216" />', '<mass value="11.90592" />'),),
    ),
    Fault(
        "friction of the floor 0.2",
        "simbench/options.py",
        (("floor_friction: Annotated[float, Field(ge=0.0, le=100.0)] = 0.8", "floor_friction: float = 0.2"),),
        ("mahru_walk",),
    ),
    Fault(
        "imitation's weights of joints and hands swapped",
        "simbench/retargeting/imitation/imitation.py",
        (
            ("    joint: float = 2.0", "    joint: float = 20.0"),
            ("    hand: float = 20.0", "    hand: float = 2.0"),
        ),
    ),
    Fault(
        "sign in the COG Jacobian flipped",
        "simbench/balance/embedded_motion.py",
        (
            (
                "rows[i, k] += cog_jacobian[i, column] * motion[column, k]",
                "rows[i, k] -= cog_jacobian[i, column] * motion[column, k]",
            ),
        ),
    ),
    Fault(
        "stiffness of the grip halved",
        "simbench/options.py",
        (("    stiffness_n_m: Gain = 2000.0", "    stiffness_n_m: Gain = 1000.0"),),
    ),
    Fault(
        "time constant of the ZMP's filter times 3",
        "simbench/balance/foot_sensing.py",
        (("math.pi * FORCE_BANDWIDTH * timestep", "math.pi * FORCE_BANDWIDTH / 3.0 * timestep"),),
        ("romeo_wave", "mahru_walk"),
    ),
    Fault(
        "log one sample late",
        "simbench/runs/log_builder.py",
        (
            (
                "sampled = {name: recorder[name][used] for name",
                "sampled = {name: recorder[name][[0, *range(recorder.count - 1)]] for name",
            ),
        ),
        ("drawer", "puma560_sweep"),
    ),
    Fault(
        "actor 2 % taller",
        "simbench/motion/actors/people.py",
        (("height=1.70, mass=70.0", "height=1.734, mass=70.0"),),
        ("drawer", "romeo_wave"),
    ),
    Fault(
        "torque limit of ROMEO's left elbow times 0.7",
        "robots/romeo/romeo.urdf",
        (
            (
                'effort="7.404" />\n  </joint>\n  <joint name="LElbowYaw"',
                'effort="5.1828" />\n  </joint>\n  <joint name="LElbowYaw"',
            ),
        ),
    ),
    Fault(
        "gains of ROMEO's left and right knee swapped",
        "simbench/robot/robot.py",
        (
            (
                'rows = read_joint_rows(description.gains, mirror, joint_names, f"{where}: gains")',
                'rows = read_joint_rows(description.gains, mirror, joint_names, f"{where}: gains")\n'
                "        if 'LKneePitch' in rows:\n"
                "            left, right = rows['LKneePitch'], rows['RKneePitch']\n"
                "            rows = {**rows, 'LKneePitch': right, 'RKneePitch': left}",
            ),
        ),
        changes_nothing=True,
    ),
    Fault(
        "gains of ROMEO's knees and hip yaws swapped",
        "robots/romeo/robot.yaml",
        (
            ("  LKneePitch: [2500, 25]", "  LKneePitch: [1500, 20]"),
            ("  LHipYaw: [1500, 20]", "  LHipYaw: [2500, 25]"),
        ),
        ("romeo_wave",),
    ),
    Fault(
        "mass of ROMEO's torso +1.5 %",
        "robots/romeo/romeo.urdf",
        (('<mass value="9.9216" />', '<mass value="10.070424" />'),),
    ),
    Fault(
        "friction of the floor -2 %",
        "simbench/options.py",
        (("le=100.0)] = 0.8", "le=100.0)] = 0.784"),),
        ("mahru_walk", "romeo_wave"),
    ),
    Fault(
        "gain of ROMEO's shoulder pitch +2 %",
        "robots/romeo/robot.yaml",
        (("  LShoulderPitch: [300, 11]", "  LShoulderPitch: [306, 11]"),),
    ),
    Fault(
        "time step of the engine +1 %",
        "simbench/sim/bullet/__init__.py",
        (("fixedTimeStep=timestep,", "fixedTimeStep=1.01 * timestep,"),),
        ("drawer", "puma560_sweep"),
    ),
    Fault(
        "control one sample late",
        "simbench/sim/loop.py",
        (("control(state, demand[step], loads)", "control(state, demand[max(step - 1, 0)], loads)"),),
        ("drawer", "puma560_sweep"),
    ),
)


@dataclass(frozen=True)
class Trial:
    """A check to run, of code with a fault if there is one."""

    name: str
    arguments: tuple[str, ...]
    fault: Fault | None = None


@dataclass(frozen=True)
class Said:
    """Outcome of a check: exit status, (scenario, metric or error) for each failure, first divergences."""

    status: int
    failures: tuple[tuple[str, str], ...]
    divergences: tuple[tuple[str, str], ...] = ()

    @property
    def metrics(self) -> tuple[tuple[str, str], ...]:
        """Metrics that became worse, without errors."""
        return tuple(failure for failure in self.failures if not failure[1].startswith(_ERROR))

    @property
    def detects(self) -> bool:
        """Whether the check names a metric that became worse or a signal that diverged; an error is none."""
        return self.status == 1 and bool(self.metrics or self.divergences)


def broken_copy(folder: Path, fault: Fault) -> Path:
    """Copy the code with its compiled kernels, and insert a fault."""
    for name in FOLDERS:
        shutil.copytree(ROOT / name, folder / name)
    path = folder / fault.file
    text = path.read_text(encoding="utf-8")
    for before, after in fault.changes:
        if text.count(before) != 1:
            sys.exit(f"{fault.file}: has {text.count(before)} times, not once: {before}")
        text = text.replace(before, after)
    path.write_text(text, encoding="utf-8")
    return folder


def run_check(root: Path, arguments: Sequence[str]) -> Said:
    """Run `simbench check` with the code in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(root)}
    where = "import simbench; print(simbench.__file__)"
    with tempfile.TemporaryDirectory() as elsewhere:

        def python(*command: str) -> subprocess.CompletedProcess[str]:
            return subprocess.run(
                [sys.executable, *command],
                cwd=elsewhere,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )

        imported = Path(python("-c", where).stdout.strip())
        if not imported.is_relative_to(root):
            sys.exit(f"{imported}: is what Python imports, not {root}")
        done = python("-m", "simbench", "check", *arguments, "--no-dossier")
    if done.returncode not in (0, 1):
        return Said(done.returncode, ((" ".join(arguments), done.stderr.strip()),))
    failures, divergences = [], []
    for line in done.stdout.splitlines()[1:]:
        scenario, *cells = re.split(r"\s{2,}", line.strip())
        if cells and re.match(rf"worse|changed|missing in the run|check failed|{_ERROR}", cells[-1]):
            failures.append((scenario, cells[0]))
        elif first := re.fullmatch(r"(\S+): first divergence: (.*)", line.strip()):
            divergences.append((first[1], first[2]))
    return Said(done.returncode, tuple(failures), tuple(divergences))


def add_rows(table: Table, name: str, said: Said) -> None:
    """Add a row for each scenario that failed, or one row if all passed."""
    first = dict(said.divergences)
    scenarios = list(dict.fromkeys([*(scenario for scenario, _ in said.failures), *first]))
    if not scenarios:
        table.add_row(name, str(said.status), "", "all hold" if said.status == 0 else "", "")
    for number, scenario in enumerate(scenarios):
        metrics = [metric for other, metric in said.failures if other == scenario]
        more = f", {len(metrics) - _SHOWN} more" if len(metrics) > _SHOWN else ""
        head = (name, str(said.status)) if number == 0 else ("", "")
        shown = ", ".join(metrics[:_SHOWN]) + more
        table.add_row(*head, scenario, shown or "nothing", first.get(scenario, "nothing"))


def make_trial(trial: Trial) -> Said:
    """Run a check with this code, or with a copy in which a fault was inserted."""
    if trial.fault is None:
        return run_check(ROOT, trial.arguments)
    with tempfile.TemporaryDirectory() as folder:
        return run_check(broken_copy(Path(folder), trial.fault), trial.arguments)


def as_demanded(trial: Trial, said: Said) -> bool:
    """Return whether a fault is detected, or one that changes nothing is not."""
    if trial.fault is not None and trial.fault.changes_nothing:
        return said.status == 0
    return said.detects


def elsewhere(case: Case, number: int) -> tuple[str, ...]:
    """Make the overrides that displace a robot and its recording slightly."""
    perturbed = perturb_scenario(case.scenario, _OTHER_DRAWS + number)
    x, y = perturbed.robot.position_m
    values = {
        "robot.position_m": f"[{x!r}, {y!r}]",
        "robot.heading_rad": repr(perturbed.robot.heading_rad),
        "variation.rounding_seed": str(perturbed.variation.rounding_seed),
    }
    return tuple(word for key, value in values.items() for word in ("--set", f"{key}={value}"))


def main() -> int:
    """Print the table of all checks; return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("scenarios", nargs="*", metavar="SCENARIO")
    parser.add_argument("--repeats", type=int, default=10, metavar="N")
    parser.add_argument("--jobs", type=int, default=2, metavar="N", help="runs at a time")
    given = parser.parse_args()
    if given.repeats < 0 or given.jobs < 1:
        parser.error("--repeats must be at least 0, --jobs at least 1")
    # The checks run in another folder.
    named = [str(Path(name).resolve()) if Path(name).is_file() else name for name in given.scenarios]
    try:
        cases = [case for case in find_cases(named) if named or case.baseline is not None]
        require_baselines(cases)
    except SimbenchError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    names = named or [case.scenario.name for case in cases]
    every = (*names, "--jobs", "1")
    as_it_is = Trial("as it is", every)
    moved = [
        Trial(f"elsewhere by 1e-12, {number} of {given.repeats}", (name, *elsewhere(case, number)))
        for number in range(1, given.repeats + 1)
        for name, case in zip(names, cases, strict=True)
    ]
    broken = []
    for fault in FAULTS:
        affected = [name for name in names if name in fault.scenarios] or names
        broken.append(Trial(fault.name, (*affected, "--jobs", "1"), fault))
    trials = [as_it_is, *moved, *broken]
    with progress_bars(Console(stderr=True)) as on_progress, ThreadPoolExecutor(given.jobs) as threads:
        waiting = [threads.submit(make_trial, trial) for trial in trials]
        try:
            for done, _ in enumerate(as_completed(waiting), 1):
                on_progress("checks", done, len(waiting))
        finally:
            threads.shutdown(cancel_futures=True)
    said = dict(zip(trials, (trial.result() for trial in waiting), strict=True))
    table = Table("what", "exit", "scenario", "metrics", "traces: first divergence", box=None, pad_edge=False)
    add_rows(table, as_it_is.name, said[as_it_is])
    drifted = [trial for trial in moved if said[trial].status != 0]
    for trial in drifted:
        add_rows(table, trial.name, said[trial])
    table.add_row("elsewhere by 1e-12", "", "", f"{len(moved) - len(drifted)} of {len(moved)} runs hold", "")
    for trial in broken:
        add_rows(table, trial.name, said[trial])
        if not as_demanded(trial, said[trial]):
            table.add_row("", "", "", "not caught: nothing is named", "")
    console = Console()
    if not console.is_terminal:
        console.width = 260
    console.print(table)
    caught = all(as_demanded(trial, said[trial]) for trial in broken)
    for kind, found in (
        ("metrics", [trial for trial in broken if said[trial].metrics]),
        ("traces", [trial for trial in broken if said[trial].divergences]),
    ):
        print(
            f"caught by {kind}: {len(found)} of {sum(not fault.changes_nothing for fault in FAULTS)} faults"
        )
    return 0 if said[as_it_is].status == 0 and not drifted and caught else 1


if __name__ == "__main__":
    sys.exit(main())
